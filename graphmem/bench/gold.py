"""Reference memories: dialogues with the statements worth remembering, played through the service (spec 7).

A reference statement is held when a memory of the same turn has half of its content words, or lies at a cosine of 0.6
or more with the same numbers and negation. It is ended when a memory of its turn, one that holds it where there is
one, is closed by the turn that ends it. A question is answered when the context holds at least half of its statements.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.datasets import read_rows
from graphmem.bench.harness import BENCH_INSTITUTION, PASSWORD
from graphmem.bench.held_out import is_held_out
from graphmem.flows import students
from graphmem.flows.context import context
from graphmem.flows.session_cache import open_memories
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import OF_A_SITTING, Memory, Session, Who
from graphmem.text.doc import Doc

HELD_COSINE, HELD_WORDS = 0.6, 0.5
PAUSE = timedelta(minutes=1)
"""Time between two turns of a dialogue."""
BUDGET = 2_000
"""Tokens of the context that a tutor's question is answered from."""


@dataclass
class GoldCounts:
    """Counts of a run: what was looked for, and what was found of it."""

    gold: int = 0
    held: int = 0
    nothing: int = 0
    kept: int = 0
    same: int = 0
    reinforced: int = 0
    ends: int = 0
    closed: int = 0
    questions: int = 0
    answered: int = 0
    memories: int = 0
    lines: list[str] = field(default_factory=list)


def is_gold(file: Path | None) -> bool:
    """True if a file holds dialogues with reference memories."""
    return file is not None and any("gold" in row and "nothing" in row for _, row in read_rows(file)[:1])


async def gold_figures(gm: Graphmem, file: Path, lines: list[str] | None = None) -> Figures:
    """Play dialogues with reference memories through the service and compare.

    Parameters
    ----------
    gm : Graphmem, whose bank has none of these dialogues
    file : JSON lines: `dialogue_id, student, date, task, turns, gold, nothing, questions`
    lines : takes every memory beside the statements of its turn, to be read by people

    Returns
    -------
    Figures of all students, and with `test_` before them of those that no model was trained on
    """
    rows = [row for _, row in read_rows(file)]
    everybody: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        everybody.setdefault(row["student"], []).append(row)
    every, held_out = GoldCounts(), GoldCounts()
    for name, dialogues in everybody.items():
        counts = await _student(gm, name, sorted(dialogues, key=lambda row: row["date"]))
        _add(every, counts)
        if is_held_out(name):
            _add(held_out, counts)
    if lines is not None:
        lines += every.lines
    return _shares(every, "") | (_shares(held_out, "test_") if held_out.gold else {})


def _add(total: GoldCounts, more: GoldCounts) -> None:
    for name, value in vars(more).items():
        setattr(total, name, getattr(total, name) + value)


def _shares(counts: GoldCounts, prefix: str) -> Figures:
    shares = {
        "gold_held": (counts.held, counts.gold),
        "nothing_kept": (counts.kept, counts.nothing),
        "same_reinforced": (counts.reinforced, counts.same),
        "ends_closed": (counts.closed, counts.ends),
        "questions_answered": (counts.answered, counts.questions),
        "memories_per_gold": (counts.memories, counts.gold),
    }
    return {f"{prefix}{name}": part / max(1, whole) for name, (part, whole) in shares.items()} | {
        f"{prefix}gold": float(counts.gold)
    }


@dataclass
class _Clock:
    now: datetime

    def __call__(self) -> datetime:
        return self.now


async def _student(gm: Graphmem, name: str, dialogues: Sequence[dict[str, Any]]) -> GoldCounts:
    who = Who(BENCH_INSTITUTION, f"gold-{name}")
    await students.enrol(gm, who, PASSWORD, name)
    counts, statements = GoldCounts(), {g["id"]: g for row in dialogues for g in row["gold"]}
    turn_of = {g["id"]: f"{row['dialogue_id']}#{g['turn']}" for row in dialogues for g in row["gold"]}
    clock = _Clock(gm.clock())
    told = replace(gm, clock=clock)
    session = None
    for row in dialogues:
        # Sessions expire by the real time: one goes on over all dialogues, each on its day.
        at = datetime.fromisoformat(row["date"]).replace(hour=15, tzinfo=UTC)
        clock.now = at
        if session is not None:
            await close_session(told, session, wait=True)
        _, session = await students.open_session(told, who, PASSWORD)
        await _play(told, clock, session, row)
        await _judge(told, session, row, statements, turn_of, counts)
    if session is None:
        return counts
    for row in dialogues:
        for asked in row.get("questions") or ():
            await _ask(told, session, asked, statements, counts)
    index = (await open_memories(told, session)).index
    counts.memories += len(index)
    await close_session(told, session, wait=True)
    return counts


async def _play(gm: Graphmem, clock: _Clock, session: Session, row: dict[str, Any]) -> None:
    turns = row["turns"]
    replied = False
    for i, turn in enumerate(turns):
        if turn["speaker"] != "student":
            continue
        after = turns[i + 1] if i + 1 < len(turns) and turns[i + 1]["speaker"] != "student" else None
        before = turns[i - 1] if i and turns[i - 1]["speaker"] != "student" and not replied else None
        clock.now += PAUSE
        incoming = Incoming(
            f"{row['dialogue_id']}#{i}",
            turn["text"],
            clock.now,
            None if after is None else after["text"],
            task=row.get("task") or None,
            opener=None if before is None else before["text"],
        )
        replied = after is not None
        await handle_turn(gm, session, incoming)
        await run_jobs(gm, session)


async def _judge(
    gm: Graphmem,
    session: Session,
    row: dict[str, Any],
    statements: dict[str, dict[str, Any]],
    turn_of: dict[str, str],
    counts: GoldCounts,
) -> None:
    gm.cache.drop_memories(session)
    index = (await open_memories(gm, session)).index
    # Episodes and lessons are kept of every matter and exercise: they are no statements of a turn.
    known = [m for m in index.latest(len(index)) if m.role not in OF_A_SITTING]
    for i in row["nothing"]:
        formed = _of_turn(known, f"{row['dialogue_id']}#{i}")
        counts.nothing += 1
        counts.kept += bool(formed)
        counts.lines += [f"JUNK {row['turns'][i]['text'][:160]} => {m.content}" for m in formed]
    for gold in row["gold"]:
        formed = _of_turn(known, turn_of[gold["id"]])
        holding = await _holding(gm, gold["statement"], formed)
        counts.gold += 1
        counts.held += bool(holding)
        counts.lines.append(f"{'HELD' if holding else 'LOST'} {gold['statement']} => {[m.content for m in formed]}")
        if gold["same_as"] in statements:
            counts.same += 1
            earlier = turn_of[gold["same_as"]]
            counts.reinforced += any(m.reinforcement_count and earlier in m.source_refs for m in formed)
        if gold["ends"] in statements:
            counts.ends += 1
            ended = _of_turn(known, turn_of[gold["ends"]])
            said = await _holding(gm, statements[gold["ends"]]["statement"], ended) or ended
            closed = any(m.invalid_at is not None for m in said)
            counts.closed += closed
            counts.lines.append(f"{'ENDED' if closed else 'OPEN'} {statements[gold['ends']]['statement']}")


def _of_turn(known: Sequence[Memory], ref: str) -> list[Memory]:
    return [memory for memory in known if ref in memory.source_refs]


async def _ask(
    gm: Graphmem,
    session: Session,
    asked: dict[str, Any],
    statements: dict[str, dict[str, Any]],
    counts: GoldCounts,
) -> None:
    found = await context(gm, session, asked["q"], BUDGET)
    shown = [recalled.memory.content or "" for recalled in found.memories]
    shown += [*(entry.content or "" for entry in found.ledger), *(fact.text for fact in found.facts)]
    wanted = [statements[each]["statement"] for each in asked["gold"] if each in statements]
    held = [any(await _each_holds(gm, each, shown)) for each in wanted]
    counts.questions += 1
    counts.answered += sum(held) >= len(held) / 2
    counts.lines.append(f"{'ANSWERED' if sum(held) >= len(held) / 2 else 'UNANSWERED'} {asked['q']}")


async def _holding(gm: Graphmem, statement: str, memories: Sequence[Memory]) -> list[Memory]:
    """The memories that hold a statement."""
    held = await _each_holds(gm, statement, [memory.content or "" for memory in memories])
    return [memory for memory, holds in zip(memories, held, strict=True) if holds]


async def _each_holds(gm: Graphmem, statement: str, texts: Sequence[str]) -> list[bool]:
    """Of each text whether it holds a statement."""
    if not texts:
        return []
    vectors = await gm.embedder.embed([statement, *texts])
    cosines = np.asarray(vectors[1:] @ vectors[0])
    return [_holds(Doc(text), Doc(statement), float(cosine)) for text, cosine in zip(texts, cosines, strict=True)]


def _holds(memory: Doc, statement: Doc, cosine: float) -> bool:
    wanted, said = frozenset(_content(statement)), frozenset(_content(memory))
    if wanted and len(wanted & said) >= HELD_WORDS * len(wanted):
        return True
    equal = sorted(memory.numbers) == sorted(statement.numbers) and memory.negates == statement.negates
    return cosine >= HELD_COSINE and equal


def _content(doc: Doc) -> Iterator[str]:
    """The stems of content words, and the numbers."""
    yield from doc.stems
    yield from map(str, doc.numbers)
