"""Evidence recall: talks observed, remembered, and asked about (spec 10, Measured by).

A gold turn is found when the recalled memories that name it as their source together hold at least half of its
content words. On a file of MathDial the question is a teacher's description of a misconception, and the session in
which the student had it is to be found: by its best recalled lesson, and in `any_session` by its best memory of
whatever role. On the cases of PrecisionMemBench, beside whose file the beliefs lie, the context shows beliefs, of
which only those named are right. Beside it, in the same run, plain search over the turns (or whole sessions).
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from statistics import fmean, median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.harness import Learner, in_process, learner, show_figures
from graphmem.bench.scores import interval
from graphmem.bench.talks import PLAIN_WORD, UNDATED, Talk, read_rows, read_talks, recorded_turn, share_found
from graphmem.errors import InvalidInput
from graphmem.flows.context import context, recall
from graphmem.model import Matrix, MemoryRole, Observation, Recalled, SourceKind
from graphmem.ports import Embedder
from graphmem.progress import tracked
from graphmem.samples.dialogues import Dialogue, dialogue_turns, load_dialogues
from graphmem.settings import Settings

Ranks = list[int]
"""Places of texts, best first."""
CUTS = (5, 10, 20, 50)
WITHIN = (1, 5)
TOKENS = 1000
METHODS = ("cosine", "bm25")
MILLISECONDS = "question_p50_ms"
KEPT_PERCENT = 30
"""Percent of the turns that are kept by salience."""
DESCRIPTION = "teacher_described_confusion"
BELIEF_FILE = "beliefs.seed.json"
MANY_MEMORIES = 1_000_000
"""Limit of memories, so that nothing is compressed meanwhile."""


Asked = tuple[str | None, dict[str, float]]
"""Category of a question, and by figure the share of its evidence that was found; milliseconds of recall, too."""


def by_words(texts: Sequence[str], question: str) -> Ranks:
    """Rank the texts that share a word with a question, by BM25 of SQLite's FTS5, with Porter's stemmer."""
    words = dict.fromkeys(word.lower() for word in PLAIN_WORD.findall(question))
    with closing(sqlite3.connect(":memory:")) as found:
        found.execute("CREATE VIRTUAL TABLE said USING fts5(text, tokenize='porter unicode61')")
        found.executemany("INSERT INTO said(rowid, text) VALUES (?, ?)", list(enumerate(texts)))
        match = " OR ".join(f'"{word}"' for word in words)
        rows = found.execute("SELECT rowid FROM said WHERE said MATCH ? ORDER BY bm25(said), rowid", (match,))
        return [int(rowid) for (rowid,) in rows]


async def plain_ranks(embedder: Embedder, texts: Sequence[str], vectors: Matrix, question: str) -> dict[str, Ranks]:
    """Rank texts by each plain method, best first."""
    (vector,) = await embedder.embed([question])
    return {"cosine": np.argsort(-(vectors @ vector), kind="stable").tolist(), "bm25": by_words(texts, question)}


def _milliseconds(began: float) -> float:
    return 1000 * (perf_counter() - began)


def measure_recall(settings: Settings, file: Path | None) -> Figures:
    """Measure evidence recall on LoCoMo or BEAM, sessions found on MathDial, or precision on PrecisionMemBench.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : JSON lines, or the cases of PrecisionMemBench; needed, since no such data ships with graphmem

    Raises
    ------
    InvalidInput    no file, or another format
    """
    if file is None:
        raise InvalidInput("Name a file of LoCoMo, BEAM, MathDial or PrecisionMemBench: graphmem bench recall FILE.")
    if file.with_name(BELIEF_FILE).exists() and file.suffix == ".json":
        return in_process(settings, lambda gm: precision_figures(gm, *read_cases(file)))
    if DESCRIPTION in read_rows(file)[0][1]:
        return in_process(settings, lambda gm: misconception_figures(gm, file), memories_limit=MANY_MEMORIES)
    talks = read_talks(file)
    return in_process(settings, lambda gm: recall_figures(gm, talks), memories_limit=MANY_MEMORIES)


async def recall_figures(gm: Graphmem, talks: Sequence[Talk]) -> Figures:
    """Compute the figures of talks: evidence found, and evidence among the most salient turns (spec 6)."""
    asked, kept = list[Asked](), list[float]()
    forming, memories, remembered = 0.0, 0, 0
    for talk in talks:
        start = perf_counter()
        student = await observed(gm, talk)
        forming += _milliseconds(start)
        salience = await _turn_salience(student, talk)
        memories += len(await student.memories())
        remembered += int(np.isfinite(salience).sum())
        of_talk = await _ask_all(student, talk)
        asked += of_talk
        if of_talk:
            gold = {turn_id for question in talk.questions for turn_id in question.gold}
            kept.append(evidence_kept(salience, np.array([turn.ref in gold for turn in talk.turns]), KEPT_PERCENT))
            show_figures({f"{talk.id} recall@10": fmean(shares["recall@10"] for _, shares in of_talk)})
        await student.end()
    if not asked:
        raise InvalidInput("There is no question with evidence in this file.")
    turns = sum(len(talk.turns) for talk in talks)
    return _evidence_figures(asked) | {
        f"kept@{KEPT_PERCENT}": fmean(kept),
        "form_ms": forming / turns,
        "memories_per_turn": memories / turns,
        "turns_remembered": remembered / turns,
        "questions": len(asked),
    }


async def observed(gm: Graphmem, talk: Talk) -> Learner:
    """Return a student of whom a talk was observed turn by turn, with its memories formed."""
    student = await learner(gm, talk.id)
    await student.begin()
    await student.observe(talk.turns)
    return student


async def shown_memories(student: Learner, question: str) -> list[Recalled]:
    """Return the memories of a context of a thousand tokens."""
    return list((await context(student.gm, student.session, question, TOKENS)).memories)


async def _ask_all(student: Learner, talk: Talk) -> list[Asked]:
    turns = {turn.ref: turn for turn in talk.turns}
    lines, embedder = [f"{turn.speaker}: {turn.text}" for turn in talk.turns], student.gm.embedder
    asked, vectors = [], await embedder.embed(lines)
    for question in tracked(talk.questions, f"Asking about {talk.id}"):
        start = perf_counter()
        found = await recall(student.gm, student.session, question.text, max(CUTS))
        shares = {MILLISECONDS: _milliseconds(start)}
        shares |= {f"recall@{k}": share_found(question, turns, found[:k]) for k in CUTS}
        shares["recall_1000_tokens"] = share_found(question, turns, await shown_memories(student, question.text))
        for method, ranks in (await plain_ranks(embedder, lines, vectors, question.text)).items():
            ids = [talk.turns[place].ref for place in ranks[: max(CUTS)]]
            shares |= {f"{method}@{k}": len({*question.gold} & {*ids[:k]}) / len(question.gold) for k in CUTS}
        asked.append((question.category, shares))
    return asked


def _evidence_figures(asked: Sequence[Asked]) -> Figures:
    values = {key: np.array([shares[key] for _, shares in asked]) for key in asked[0][1]}
    at_10 = values["recall@10"]
    figures = {key: float(np.median(own) if key == MILLISECONDS else own.mean()) for key, own in values.items()}
    for category in sorted({category for category, _ in asked if category is not None}):
        figures[f"recall@10_{category}"] = float(at_10[[each == category for each, _ in asked]].mean())
    return figures | interval("recall@10", at_10) | interval("gain@10", at_10 - values["bm25@10"])


async def _turn_salience(student: Learner, talk: Talk) -> NDArray[np.float64]:
    """Return the salience of the most salient memory of each turn; -inf where nothing is remembered of it."""
    scores = dict.fromkeys((turn.ref for turn in talk.turns), -np.inf)
    for memory in await student.memories():
        scores |= {ref: max(scores[ref], memory.salience) for ref in scores.keys() & memory.source_refs}
    return np.array(list(scores.values()))


def evidence_kept(scores: NDArray[np.float64], is_gold: NDArray[np.bool_], share: int) -> float:
    """Compute the share of the gold turns among the best `share` per cent of all turns, of equals the earlier first.

    Parameters
    ----------
    scores : float array of shape (n,); -inf is never kept
    is_gold : bool array of shape (n,), at least one of them true
    share : int, per cent

    Examples
    --------
    >>> evidence_kept(np.array([0.9, 0.1, 0.5, -np.inf]), np.array([True, True, False, False]), share=50)
    0.5
    """
    best = np.argsort(-scores, kind="stable")[: round(len(scores) * share / 100)]
    return float(is_gold[best[np.isfinite(scores[best])]].sum() / is_gold.sum())


# Sessions of misconceptions.


async def misconception_figures(gm: Graphmem, file: Path) -> Figures:
    """Compute the figures of a file of MathDial.

    Raises
    ------
    InvalidInput    a line is not as in MathDial
    """
    ranks: dict[str, list[int]] = {method: [] for method in ("", "any_", *(f"{method}_" for method in METHODS))}
    messages, forming, memories, spent = 0, 0.0, 0, list[float]()
    for name, lessons in _described_lessons(file).items():
        student, start = await learner(gm, name), perf_counter()
        await student.begin()
        messages += await _play_lessons(student, [lesson for lesson, _ in lessons])
        forming += _milliseconds(start)
        memories += len(await student.memories())
        spent += await _find_sessions(student, lessons, ranks)
        await student.end()
        show_figures({"session@1 until here": fmean(rank == 1 for rank in ranks[""])})
    return {
        **{f"{method}session@{k}": fmean(r <= k for r in own) for method, own in ranks.items() for k in WITHIN},
        "mrr": fmean(1 / rank for rank in ranks[""]),
        MILLISECONDS: median(spent),
        "turn_ms": forming / messages,
        "memories_per_turn": memories / messages,
        "questions": len(spent),
    }


def _described_lessons(file: Path) -> dict[str, list[tuple[Dialogue, str]]]:
    """Return the dialogues of each student, with the teacher's description of what was misunderstood."""
    described = {}
    for where, row in read_rows(file):
        if not isinstance(row.get(DESCRIPTION), str) or "dialogue_id" not in row:
            raise InvalidInput(f"{where}: dialogue_id, {DESCRIPTION} and turns are needed, as in MathDial.")
        described[row["dialogue_id"]] = row[DESCRIPTION].strip()
    students: dict[str, list[tuple[Dialogue, str]]] = {}
    for dialogue in load_dialogues(file):
        students.setdefault(dialogue.student, []).append((dialogue, described[dialogue.id]))
    return students


async def _play_lessons(student: Learner, lessons: Sequence[Dialogue]) -> int:
    """Handle every message of every lesson, a lesson a day; return how many there were."""
    for day, lesson in enumerate(tracked(lessons, f"Sessions of {student.who.student_id}")):
        for place, turn in enumerate(dialogue_turns(lesson)):
            at = UNDATED + timedelta(days=day, seconds=30 * place)
            await student.say(replace(recorded_turn(lesson, place, turn, at), task=None))
    return sum(len(dialogue_turns(lesson)) for lesson in lessons)


async def _find_sessions(
    student: Learner, lessons: Sequence[tuple[Dialogue, str]], ranks: dict[str, list[int]]
) -> list[float]:
    """Add the rank of each description's session by each method, from 1; return the milliseconds of each recall."""
    texts = [" ".join(said.text for said in dialogue.messages) for dialogue, _ in lessons]
    took, vectors, ids = [], await student.gm.embedder.embed(texts), [dialogue.id for dialogue, _ in lessons]
    asked = [(place, description) for place, (_, description) in enumerate(lessons) if description]
    for place, description in tracked(asked, f"Misconceptions of {student.who.student_id}"):
        start = perf_counter()
        every, of_lessons = [
            await recall(student.gm, student.session, description, max(CUTS), None, roles)
            for roles in ((), (MemoryRole.LESSON,))
        ]
        took.append(_milliseconds(start))
        found = {"": _by_session(of_lessons, ids), "any_": _by_session(every, ids)}
        plain = await plain_ranks(student.gm.embedder, texts, vectors, description)
        found |= {f"{method}_": ranking for method, ranking in plain.items()}
        for method, ranking in found.items():
            # A session that a method does not find at all is as good as last.
            ranks[method].append(ranking.index(place) + 1 if place in ranking else len(lessons))
    return took


def _by_session(found: Sequence[Recalled], ids: Sequence[str]) -> Ranks:
    """Return places of the sessions that recalled memories came from, by each one's best memory."""
    scores: dict[str, float] = {}
    for each in found:
        for session in {ref.partition("#")[0] for ref in each.memory.source_refs}:
            scores[session] = max(scores.get(session, 0.0), each.weight)
    return [place for place in sorted(range(len(ids)), key=lambda p: -scores.get(ids[p], 0.0)) if ids[place] in scores]


# Precision.


def read_cases(file: Path) -> tuple[dict[str, str], list[tuple[str, set[str]]]]:
    """Read the beliefs of PrecisionMemBench by their ids, and the cases that name some: question and right beliefs.

    Raises
    ------
    InvalidInput    another format
    """
    try:
        beliefs = {each["_id"]: each["content"] for each in json.loads(file.with_name(BELIEF_FILE).read_text("utf-8"))}
        rows = [(each["query"], each["expect"].get("relevantBeliefs", {})) for each in json.loads(file.read_text())]
        cases = [(query, set(right.get("shouldOnlyInclude") or ())) for query, right in rows]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"{file} and {BELIEF_FILE} are not as in PrecisionMemBench: {error!r}.") from error
    return beliefs, [(query, wanted) for query, wanted in cases if query and wanted]


async def precision_figures(gm: Graphmem, beliefs: Mapping[str, str], cases: Sequence[tuple[str, set[str]]]) -> Figures:
    """Compute mean precision and recall of the beliefs that a context shows; each was observed as said."""
    student = await learner(gm, "precision")
    await student.begin()
    await student.observe([Observation(SourceKind.CHAT, ref, text, gm.clock()) for ref, text in beliefs.items()])
    precision, recalled = list[float](), list[float]()
    for query, wanted in tracked(cases, "Asking"):
        found = {ref for each in await shown_memories(student, query) for ref in each.memory.source_refs}
        precision.append(len(found & wanted) / max(1, len(found)))
        recalled.append(len(found & wanted) / len(wanted))
    await student.end()
    return {"precision": fmean(precision), "recall": fmean(recalled), "cases": len(precision)}
