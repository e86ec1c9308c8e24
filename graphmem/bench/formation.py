"""Memory formation on real tutoring dialogues: cost, and shares that are consolidated by load (spec 6, 7).

On a file with reference memories (`gold`, `nothing`) also how many of these are held: a reference statement is held
when a memory of the same turn has half of its content words, or lies at a cosine of 0.6 or more with the same numbers
and negation. It is ended when a memory of its turn, one that holds it where there is one, is closed by the turn that
ends it. A question is answered when the context holds at least half of its statements.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.harness import Learner, in_process, latencies, learner, show_figures
from graphmem.bench.scores import shares
from graphmem.bench.talks import held_out, is_held_out, read_rows, recorded_turn
from graphmem.flows.consolidation import consolidate
from graphmem.flows.context import context
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.jobs.runner import run_jobs
from graphmem.model import OF_A_SITTING, Memory
from graphmem.progress import tracked
from graphmem.samples import sample_dialogues
from graphmem.samples.dialogues import Dialogue, dialogue_turns, load_dialogues
from graphmem.settings import Settings
from graphmem.text.doc import Doc

ACTIVITY = (0.5, 2.0, 5.0, 10.0, 60.0)
"""Messages of the student a minute; sessions take turns in how busy they are."""
SESSION_DIALOGUES = 12
"""Dialogues of one student in one session, so that busy times last long enough to be busy."""
HELD_COSINE, HELD_WORDS = 0.6, 0.5
PAUSE = timedelta(minutes=1)
"""Time between two turns of a dialogue with reference memories."""
BUDGET = 2_000
"""Tokens of the context from which a tutor's question is answered."""
FORMED_SHARES = {
    "memories_per_message": ("memories", "messages"),
    **{f"consolidated@{rate:g}": (f"kept@{rate:g}", f"messages@{rate:g}") for rate in ACTIVITY},
    **{f"thoughts_consolidated@{rate:g}": (f"kept@{rate:g}", f"thoughts@{rate:g}") for rate in ACTIVITY},
}
GOLD_SHARES = {
    "gold_held": ("held", "gold"),
    "nothing_kept": ("kept", "nothing"),
    "same_reinforced": ("reinforced", "same"),
    "ends_closed": ("closed", "ends"),
    "questions_answered": ("answered", "questions"),
    "memories_per_gold": ("memories", "gold"),
}
"""Each share of reference memories with its counters."""


def measure_formation(settings: Settings, file: Path | None) -> Figures:
    """Put dialogues through `handle_turn` and form memories after each turn, without a language model.

    Parameters
    ----------
    settings : Settings
    file : Path or None      dialogues as for `graphmem replay`, also with reference memories; None: the samples

    Returns
    -------
    `memories_per_message`, milliseconds of forming; by messages a minute the shares of messages and of
    thoughts that are consolidated; of reference memories the shares of `GOLD_SHARES`, of all students and of held-out
    ones (`test_`)
    """
    dialogues = sample_dialogues() if file is None else load_dialogues(file)

    async def formed(opened: Graphmem) -> Figures:
        counts, seconds, gold = Counter[str](), list[float](), Figures()
        async with held_out(opened, dialogues) as gm:
            if file is not None and "gold" in read_rows(file)[0][1]:
                gold = show_figures(await gold_figures(gm, file))
            rates = cycle(ACTIVITY)
            for name, held in tracked(_dialogues_by_student(dialogues).items(), "Forming"):
                student, begun = await learner(gm, name), gm.clock()
                for day, first in enumerate(range(0, len(held), SESSION_DIALOGUES)):
                    student.now = begun + timedelta(days=day)
                    together = held[first : first + SESSION_DIALOGUES]
                    counts += await _play_session(student, together, next(rates), seconds)
                await student.begin()
                counts["memories"] += len(await student.memories())
                await student.end()
        figures = {"messages": counts["messages"]} | shares(counts, FORMED_SHARES)
        return gold | figures | latencies(seconds, "form_")

    # Hashing passwords is not measured here, and most dialogues have a student of their own.
    return in_process(settings, formed, model="offline", argon2_ops=1, argon2_mib=8)


def _dialogues_by_student(dialogues: Sequence[Dialogue]) -> dict[str, list[Dialogue]]:
    """Return the dialogues of each student; of students who were met once, a session's worth counts as one's."""
    students: dict[str, list[Dialogue]] = defaultdict(list)
    # Bridge has a line for each expert who judged a dialogue.
    for dialogue in {dialogue.id: dialogue for dialogue in dialogues}.values():
        students[dialogue.student].append(dialogue)
    once = [held[0] for held in students.values() if len(held) == 1]
    starts = range(0, len(once), SESSION_DIALOGUES)
    together = {f"met-once-{i}": once[i : i + SESSION_DIALOGUES] for i in starts}
    return {name: held for name, held in students.items() if len(held) > 1} | together


async def _play_session(
    student: Learner, dialogues: Sequence[Dialogue], rate: float, seconds: list[float]
) -> Counter[str]:
    """Play a session; return counts, also by the messages a minute, and add the seconds that forming took."""
    await student.begin()
    messages = 0
    for dialogue in dialogues:
        for place, turn in enumerate(dialogue_turns(dialogue)):
            student.now += timedelta(minutes=1 / rate)
            await handle_turn(student.gm, student.session, recorded_turn(dialogue, place, turn, student.now))
            messages += 1
            began = perf_counter()
            if await run_jobs(student.gm, student.session):
                seconds.append(perf_counter() - began)
    considered, kept = await consolidate(student.gm, student.who)
    by_rate = {f"messages@{rate:g}": messages, f"thoughts@{rate:g}": considered, f"kept@{rate:g}": kept}
    return Counter({"messages": messages, **by_rate})


# Reference memories.


@dataclass
class Gold:
    """One student's dialogues with reference memories, and counts of expected and found ones."""

    student: Learner
    statements: dict[str, dict[str, Any]]
    turn_of: dict[str, str]
    counts: Counter[str] = field(default_factory=Counter)

    async def play(self, row: dict[str, Any]) -> None:
        """Put a dialogue through the service, on its day; other speakers' messages are replies or openings."""
        # Sessions expire by the real time: one goes on over the whole day.
        self.student.now = datetime.fromisoformat(row["date"]).replace(hour=15, tzinfo=UTC)
        await self.student.begin()
        turns, replied = row["turns"], False
        for i, turn in enumerate(turns):
            if turn["speaker"] != "student":
                continue
            after = turns[i + 1]["text"] if i + 1 < len(turns) and turns[i + 1]["speaker"] != "student" else None
            before = turns[i - 1]["text"] if i and turns[i - 1]["speaker"] != "student" and not replied else None
            self.student.now += PAUSE
            at, task = self.student.now, row.get("task") or None
            turn_id, replied = f"{row['dialogue_id']}#{i}", after is not None
            await self.student.say(Incoming(turn_id, turn["text"], at, after, task=task, opener=before))

    async def judge(self, row: dict[str, Any]) -> None:
        """Count which of a dialogue's reference memories are held, reinforced and ended, and what is kept of none."""
        gm, session, counts = self.student.gm, self.student.session, self.counts
        gm.cache.drop_memories(session)
        # Episodes and lessons are kept of every matter and exercise: they are no statements of a turn.
        known = [m for m in await self.student.memories() if m.role not in OF_A_SITTING]
        for i in row["nothing"]:
            counts["nothing"] += 1
            counts["kept"] += bool(_of_turn(known, f"{row['dialogue_id']}#{i}"))
        for gold in row["gold"]:
            formed = _of_turn(known, self.turn_of[gold["id"]])
            counts["gold"] += 1
            counts["held"] += bool(await holding(gm, gold["statement"], formed))
            if gold["same_as"] in self.statements:
                counts["same"] += 1
                earlier = self.turn_of[gold["same_as"]]
                counts["reinforced"] += any(m.reinforcement_count and earlier in m.source_refs for m in formed)
            if gold["ends"] in self.statements:
                counts["ends"] += 1
                ended = _of_turn(known, self.turn_of[gold["ends"]])
                said = await holding(gm, self.statements[gold["ends"]]["statement"], ended) or ended
                counts["closed"] += any(m.invalid_at is not None for m in said)

    async def ask(self, asked: dict[str, Any]) -> None:
        """Ask a tutor's question, and count whether the context holds half of the statements that answer it."""
        found = await context(self.student.gm, self.student.session, asked["q"], BUDGET)
        lines = [recalled.memory.content or "" for recalled in found.memories]
        lines += [*(entry.content or "" for entry in found.ledger), *(fact.text for fact in found.facts)]
        wanted = [self.statements[each]["statement"] for each in asked["gold"] if each in self.statements]
        held = [any(await holds(self.student.gm, each, lines)) for each in wanted]
        self.counts["questions"] += 1
        self.counts["answered"] += sum(held) >= len(held) / 2


async def gold_figures(gm: Graphmem, file: Path) -> Figures:
    """Play dialogues with reference memories through the service and compare.

    Parameters
    ----------
    gm : Graphmem, whose bank has none of these dialogues
    file : JSON lines: `dialogue_id, student, date, task, turns, gold, nothing, questions`

    Returns
    -------
    Figures of all students, and with `test_` before them of those that no model was trained on
    """
    by_student: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for _, row in read_rows(file):
        by_student[row["student"]].append(row)
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for name, rows in tracked(by_student.items(), "Reference memories"):
        counts = await _gold_of(gm, name, sorted(rows, key=lambda row: row["date"]))
        for prefix in ("", "test_") if is_held_out(name) else ("",):
            counted[prefix] += counts
    figures = {f"{prefix}{key}": v for prefix, own in counted.items() for key, v in shares(own, GOLD_SHARES).items()}
    return figures | {f"{prefix}gold": float(own["gold"]) for prefix, own in counted.items()}


async def _gold_of(gm: Graphmem, name: str, rows: Sequence[dict[str, Any]]) -> Counter[str]:
    statements = {g["id"]: g for row in rows for g in row["gold"]}
    turn_of = {g["id"]: f"{row['dialogue_id']}#{g['turn']}" for row in rows for g in row["gold"]}
    student = Gold(await learner(gm, f"gold-{name}", called=name), statements, turn_of)
    for row in rows:
        await student.play(row)
        await student.judge(row)
    for row in rows:
        for asked in row.get("questions") or ():
            await student.ask(asked)
    student.counts["memories"] += len(await student.student.memories())
    await student.student.end()
    return student.counts


def _of_turn(known: Sequence[Memory], ref: str) -> list[Memory]:
    return [memory for memory in known if ref in memory.source_refs]


async def holding(gm: Graphmem, statement: str, known: Sequence[Memory]) -> list[Memory]:
    """Return the memories that hold a statement."""
    found = await holds(gm, statement, [memory.content or "" for memory in known])
    return [memory for memory, yes in zip(known, found, strict=True) if yes]


async def holds(gm: Graphmem, statement: str, texts: Sequence[str]) -> list[bool]:
    """Return for each text whether it holds a statement."""
    vectors = await gm.embedder.embed([statement, *texts])
    cosines = np.asarray(vectors[1:] @ vectors[0])
    return [_says_so(Doc(text), Doc(statement), float(cosine)) for text, cosine in zip(texts, cosines, strict=True)]


def _says_so(memory: Doc, statement: Doc, cosine: float) -> bool:
    wanted, said = ({*doc.stems, *map(str, doc.numbers)} for doc in (statement, memory))
    if wanted and len(wanted & said) >= HELD_WORDS * len(wanted):
        return True
    equal = sorted(memory.numbers) == sorted(statement.numbers) and memory.negates == statement.negates
    return cosine >= HELD_COSINE and equal
