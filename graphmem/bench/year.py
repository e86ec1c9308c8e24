"""A year of one student: 200 sessions of real talk, and by month what is kept, found, and how long it takes (spec 13).

Sessions of several conversations are told as one student's, evenly over 365 days; each is closed, which consolidates
and compresses, and a drift cycle runs every day that has a session. Questions are asked once all their evidence was
told.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median
from time import perf_counter

import numpy as np

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.datasets import (
    EvidenceQuestion,
    RememberedSource,
    Talk,
    Utterance,
    read_talks,
    share_found,
)
from graphmem.bench.harness import BENCH_INSTITUTION, PASSWORD, own_database
from graphmem.bench.ingest import tracked
from graphmem.errors import InvalidInput
from graphmem.flows import context, students
from graphmem.flows.observation import observe
from graphmem.flows.session_cache import open_memories
from graphmem.jobs.drift import drift_cycle
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import Observation, SourceKind, Who
from graphmem.runtime import open_graphmem, run_fast
from graphmem.settings import Settings

SESSIONS, MONTHS, YEAR = 200, 12, timedelta(days=365)
YEAR_BEGINS = datetime(2025, 1, 6, 16, tzinfo=UTC)
YEAR_PACE = timedelta(seconds=20)
ASKED_A_MONTH = 60
"""Most questions that are asked at the end of a month, drawn by lot."""
FOUND_AT = 10
TOKENS_A_CONTEXT = 1_000
YEAR_SEED = 11


@dataclass(frozen=True)
class YearSession:
    """A session of the year, and when it begins."""

    at: datetime
    turns: tuple[Utterance, ...]


def measure_year(settings: Settings, file: Path | None) -> Figures:
    """By month: memories, edges, evidence recall@10, p50 of a context in ms, MiB of the database.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : JSON lines of talks with questions (LoCoMo)

    Raises
    ------
    InvalidInput    no file, or another format
    """
    if file is None:
        raise InvalidInput("Name a file of LoCoMo: graphmem bench year FILE.")
    talks = read_talks(file)
    with own_database(settings) as own:
        # Closing may take its time here: the year passes by another clock.
        patient = own.model_copy(update={"session_minutes": 600.0, "close_seconds": 120.0, "neo4j_timeout": 120.0})
        return run_fast(_measured(patient, talks))


async def _measured(settings: Settings, talks: Sequence[Talk]) -> Figures:
    async with open_graphmem(settings, say=lambda _: None, background=False) as gm:
        return await year_figures(gm, talks, settings.home)


def year_sessions(talks: Sequence[Talk], sessions: int = SESSIONS) -> list[YearSession]:
    """The sessions of a year: parts of the talks in their order, the talks side by side.

    Examples
    --------
    >>> told = [Utterance(str(i), "Ann", "Hi", YEAR_BEGINS) for i in range(4)]
    >>> [len(each.turns) for each in year_sessions([Talk("a", tuple(told), ())], 2)]
    [2, 2]
    """
    total = sum(len(talk.turns) for talk in talks)
    parts: list[tuple[float, tuple[Utterance, ...]]] = []
    for talk in talks:
        count = max(1, round(sessions * len(talk.turns) / total))
        cuts = np.linspace(0, len(talk.turns), count + 1).round().astype(int)
        own = [tuple(replace(turn, id=f"{talk.id}/{turn.id}") for turn in talk.turns[a:b]) for a, b in pairwise(cuts)]
        parts += [(place / count, turns) for place, turns in enumerate(own)]
    parts.sort(key=lambda part: part[0])
    step = YEAR / len(parts)
    return [YearSession(YEAR_BEGINS + i * step, turns) for i, (_, turns) in enumerate(parts)]


async def year_figures(gm: Graphmem, talks: Sequence[Talk], home: Path, sessions: int = SESSIONS) -> Figures:
    """The figures of one student's year in a running graphmem."""
    clock = [YEAR_BEGINS]
    gm = replace(gm, clock=lambda: clock[0])
    who = Who(BENCH_INSTITUTION, f"year-{perf_counter()}")
    await students.enrol(gm, who, PASSWORD)
    asked = [
        replace(question, gold=tuple(f"{talk.id}/{turn}" for turn in question.gold))
        for talk in talks
        for question in talk.questions
    ]
    told: dict[str, Utterance] = {}
    figures: Figures = {}
    month = 1
    for part in tracked(year_sessions(talks, sessions), "A year"):
        while part.at >= YEAR_BEGINS + month * YEAR / MONTHS:
            figures |= await _of_month(gm, who, asked, told, home, month)
            month += 1
        clock[0] = part.at
        await _held(gm, who, part, clock)
        told |= {turn.id: turn for turn in part.turns}
    figures |= await _of_month(gm, who, asked, told, home, MONTHS)
    counts = [value for key, value in figures.items() if key.startswith("memories@")]
    return figures | {"most_memories": max(counts), "turns": float(len(told))}


async def _held(gm: Graphmem, who: Who, part: YearSession, clock: list[datetime]) -> None:
    """A session: told, formed, closed; then a day's drift cycle."""
    _, session = await students.open_session(gm, who, PASSWORD)
    said = [
        Observation(SourceKind.CHAT, turn.id, turn.text, part.at + i * YEAR_PACE, turn.speaker)
        for i, turn in enumerate(part.turns)
    ]
    clock[0] = part.at + len(said) * YEAR_PACE
    most = gm.settings.page_size
    for start in range(0, len(said), most):
        await observe(gm, who, said[start : start + most])
    await run_jobs(gm, session)
    await close_session(gm, session, wait=True)
    await drift_cycle(gm, who, None)


async def _of_month(
    gm: Graphmem,
    who: Who,
    asked: Sequence[EvidenceQuestion],
    told: dict[str, Utterance],
    home: Path,
    month: int,
) -> Figures:
    """The figures at the end of a month."""
    _, session = await students.open_session(gm, who, PASSWORD)
    held = await open_memories(gm, session)
    can = [question for question in asked if told.keys() >= set(question.gold)]
    drawn = np.random.default_rng((YEAR_SEED, month)).permutation(len(can))[:ASKED_A_MONTH]
    shares, seconds = [], []
    for i in drawn:
        found = await context.recall(gm, session, can[i].text, FOUND_AT)
        sources = [RememberedSource(frozenset(each.memory.source_refs), each.memory.words) for each in found]
        shares.append(share_found(can[i], told, sources))
        start = perf_counter()
        await context.context(gm, session, can[i].text, TOKENS_A_CONTEXT)
        seconds.append(perf_counter() - start)
        await asyncio.sleep(0)
    count, size = float(len(held.index)), await asyncio.to_thread(_database_mib, home)
    await close_session(gm, session, wait=True)
    figures = {f"memories@{month}": count, f"store_mib@{month}": size}
    if shares:
        figures |= {f"recall@{month}": fmean(shares), f"context_ms@{month}": 1000 * median(seconds)}
    return figures


def _database_mib(home: Path) -> float:
    """MiB of the files of the databases, without the logs of transactions."""
    files = (path for path in home.rglob("*") if "databases" in path.parts and path.is_file())
    return sum(path.stat().st_size for path in files) / 2**20
