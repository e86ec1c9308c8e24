"""Finding the session in which a student had a misconception, by a teacher's description of it (MathDial).

Every message of a student's sessions goes through `handleTurn`, with what the teacher said. A session ranks by its
best recalled lesson, and in `any_session` by the best memory of whatever role. The plain baselines search the whole
text of each session, the teacher's part included.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Any

from graphmem.bench import Figures
from graphmem.bench.baselines import METHODS, Embed, Plain, embedding
from graphmem.bench.datasets import read_rows
from graphmem.bench.harness import Talker
from graphmem.bench.ingest import await_formed, count_ingested, fresh_student, tracked
from graphmem.errors import InvalidInput
from graphmem.samples.dialogues import Dialogue, dialogue_turns, load_dialogues
from graphmem.settings import Settings

KEYS = frozenset({"dialogue_id", "teacher_described_confusion", "turns"})
MISCONCEPTION_FIRST_DAY = datetime(2024, 1, 8, 9, 0, tzinfo=UTC)
MISCONCEPTION_TURN_GAP = timedelta(seconds=30)
MISCONCEPTION_LIMIT = 50
WITHIN = (1, 5)
MISCONCEPTION_TURN = """
mutation Turn($student: ID!, $turn: ID!, $text: String!, $at: DateTime!, $reply: String, $opener: String) {
  handleTurn(studentId: $student, turnId: $turn, text: $text, at: $at, reply: $reply, opener: $opener) { turnId }
}"""
MISCONCEPTION_RECALL = """
query Recall($student: ID!, $question: String!, $limit: Int!) {
  student(id: $student) {
    lessons: recall(query: $question, limit: $limit, roles: [LESSON]) { weight sourceRefs }
    all: recall(query: $question, limit: $limit) { weight sourceRefs }
  }
}"""


@dataclass(frozen=True)
class Sitting:
    """A tutoring session, and how the teacher described what the student had wrong."""

    dialogue: Dialogue
    description: str

    @property
    def text(self) -> str:
        """All that was said."""
        return " ".join(said.text for said in self.dialogue.messages)


@dataclass(frozen=True)
class Searched:
    """One description: the rank of its session by each method, from 1, and how long recall took."""

    ranks: dict[str, int]
    seconds: float


def is_one(row: Mapping[str, Any]) -> bool:
    """True if a line of a file is a dialogue of MathDial."""
    return row.keys() >= KEYS


def misconception_figures(settings: Settings, port: int, file: Path) -> Figures:
    """The figures of a file on a served API.

    Raises
    ------
    InvalidInput    a line is not as in MathDial
    """
    searched: list[Searched] = []
    messages, seconds, memories = 0, 0.0, 0
    with embedding(settings) as embed:
        for student, sittings in _by_student(file).items():
            talker = fresh_student(settings, port, student)
            start = perf_counter()
            messages += _told(talker, sittings)
            await_formed(talker)
            seconds += perf_counter() - start
            memories += count_ingested(talker)
            searched += _searched(talker, sittings, embed)
            talker.caller.close()
    ranks = {method: [s.ranks[method] for s in searched] for method in ("recall", "any", *METHODS)}
    plain = {f"{m}_session@{k}": _within(ranks[m], k) for k in WITHIN for m in ("any", *METHODS)}
    return {
        **{f"session@{k}": _within(ranks["recall"], k) for k in WITHIN},
        "mrr": fmean(1 / rank for rank in ranks["recall"]),
        **plain,
        "question_p50_ms": 1000 * median(s.seconds for s in searched),
        "turn_ms": 1000 * seconds / messages,
        "memories_per_turn": memories / messages,
        "questions": len(searched),
    }


def _by_student(file: Path) -> dict[str, list[Sitting]]:
    descriptions = {}
    for where, row in read_rows(file):
        if not is_one(row) or not isinstance(row["teacher_described_confusion"], str):
            raise InvalidInput(f"{where}: {', '.join(sorted(KEYS))} are needed, as in MathDial.")
        descriptions[row["dialogue_id"]] = row["teacher_described_confusion"].strip()
    students: dict[str, list[Sitting]] = {}
    for dialogue in load_dialogues(file):
        students.setdefault(dialogue.student, []).append(Sitting(dialogue, descriptions[dialogue.id]))
    return students


def _told(talker: Talker, sittings: Sequence[Sitting]) -> int:
    """Every message of every session, a session a day; how many there were."""
    told = 0
    for day, sitting in enumerate(tracked(sittings, f"Sessions of {talker.student}")):
        for number, turn in enumerate(dialogue_turns(sitting.dialogue)):
            at = MISCONCEPTION_FIRST_DAY + timedelta(days=day) + number * MISCONCEPTION_TURN_GAP
            talker.caller.call(
                MISCONCEPTION_TURN,
                student=talker.student,
                turn=f"{sitting.dialogue.id}#{number}",
                text=turn.text,
                at=at.isoformat(),
                reply=turn.reply,
                opener=turn.before if number == 0 else None,
            )
            told += 1
    return told


def _searched(talker: Talker, sittings: Sequence[Sitting], embed: Embed) -> list[Searched]:
    texts = tuple(sitting.text for sitting in sittings)
    plain, ids = Plain(texts, embed(texts)), [sitting.dialogue.id for sitting in sittings]
    # The server hangs up on who is silent for so long.
    talker.caller.close()
    asked = [(place, sitting.description) for place, sitting in enumerate(sittings) if sitting.description]
    searched = []
    for place, description in tracked(asked, f"Misconceptions of {talker.student}"):
        start = perf_counter()
        found = talker.caller.call(
            MISCONCEPTION_RECALL, student=talker.student, question=description, limit=MISCONCEPTION_LIMIT
        )
        seconds = perf_counter() - start
        (vector,) = embed([description])
        rankings = plain.ranks(description, vector) | {
            "recall": _by_session(found["lessons"], ids),
            "any": _by_session(found["all"], ids),
        }
        # What a method does not find at all is as good as last.
        ranks = {m: r.index(place) + 1 if place in r else len(sittings) for m, r in rankings.items()}
        searched.append(Searched(ranks, seconds))
    return searched


def _by_session(found: Sequence[Mapping[str, Any]], ids: Sequence[str]) -> list[int]:
    """Places of the sessions that recalled memories came from, by each one's best memory."""
    scores: dict[str, float] = {}
    for item in found:
        for session in {ref.partition("#")[0] for ref in item["sourceRefs"]}:
            scores[session] = max(scores.get(session, 0.0), item["weight"])
    return [place for place in sorted(range(len(ids)), key=lambda p: -scores.get(ids[p], 0.0)) if ids[place] in scores]


def _within(ranks: Sequence[int], k: int) -> float:
    return fmean(rank <= k for rank in ranks)
