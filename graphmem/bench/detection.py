"""Benchmark of noticing contradictions: what it costs a turn, and what a drift cycle takes (spec 12, Measured by).

Everything runs in one process on a throwaway database. The classifier of the first part never answers.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TypeVar

import numpy as np

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.harness import BENCH_INSTITUTION, PASSWORD, own_database
from graphmem.bench.ingest import tracked
from graphmem.bench.scale import COPIES_PER_STATEMENT, SIZES, Material, made_memories, scale_sentences
from graphmem.flows import students
from graphmem.flows.detection import detected
from graphmem.flows.memories import import_memories
from graphmem.flows.reconciliation import reconcile
from graphmem.flows.session_cache import open_memories
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.jobs.runner import run_jobs
from graphmem.model import Answer, Author, Classify, Message, MindQuestion, Session, Who
from graphmem.ports import Mind, OnToken
from graphmem.runtime import open_graphmem, run_fast
from graphmem.settings import Settings
from graphmem.text.doc import Doc

T = TypeVar("T")

KNOWN, CONTRADICTING = "I drive a Honda.", "I drive a Toyota."
DETECTION_TURNS = 100
"""Turns of each kind; a tenth more to warm up."""
CYCLES = 10
"""Drift cycles of each size."""


class SilentClassifier:
    """A mind that never says how two statements stand to each other, and answers the rest as another one does."""

    is_model = True
    failing: str | None = None

    def __init__(self, behind: Mind) -> None:
        self.name = behind.name
        self._behind = behind

    async def ask(self, question: MindQuestion[T], on_token: OnToken | None = None) -> Answer[T]:
        """See `Mind.ask`."""
        if isinstance(question, Classify):
            await asyncio.Event().wait()
        return await self._behind.ask(question, on_token)

    async def aclose(self) -> None:
        """Release nothing: the mind behind belongs to its maker."""


def measure_detection(settings: Settings, file: Path | None) -> Figures:
    """Added latency of turns with and without a candidate, and seconds of a drift cycle at several sizes.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : dialogues whose messages are the memories instead of the shipped ones
    """
    texts = scale_sentences(file)
    with own_database(settings) as own:
        return run_fast(_measured(own.model_copy(update={"session_minutes": 600.0}), texts, SIZES))


async def _measured(settings: Settings, sentences: Sequence[str], sizes: Sequence[int]) -> Figures:
    async with open_graphmem(settings, say=lambda _: None, background=False) as gm:
        return await detection_figures(gm, sentences, sizes)


async def detection_figures(
    gm: Graphmem, sentences: Sequence[str], sizes: Sequence[int], turns: int = DETECTION_TURNS
) -> Figures:
    """The figures, with memories made of sentences; the turns are those of the smallest student."""
    said, material_texts = tuple(sentences[:turns]), tuple(sentences[turns : turns + max(1_000, min(sizes))])
    material = Material(material_texts, await gm.embedder.embed(material_texts), ())
    figures: Figures = {}
    for size in sizes:
        session = await _student(gm, material, size)
        if size == min(sizes):
            figures |= await _turns(gm, session, said)
        figures |= await _cycles(gm, session, size)
    return figures


async def _student(gm: Graphmem, material: Material, size: int) -> Session:
    who = Who(BENCH_INSTITUTION, f"student-{size}-{perf_counter()}")
    await students.enrol(gm, who, PASSWORD, None)
    _, session = await students.open_session(gm, who, PASSWORD)
    made = made_memories(session, material, size)
    for first in tracked(range(0, size, COPIES_PER_STATEMENT), f"Storing {size} memories"):
        await import_memories(gm.graph, session, made[max(0, first - 1) : first + COPIES_PER_STATEMENT], gm.clock())
    await open_memories(gm, session)
    return session


async def _turns(gm: Graphmem, session: Session, said: Sequence[str]) -> Figures:
    """Turns with and without a candidate in turn, so that what slows the machine slows both."""
    await handle_turn(gm, session, Incoming("known", KNOWN, gm.clock()))
    await run_jobs(gm, session)
    silent = replace(gm, mind=SilentClassifier(gm.mind))
    with_one, without, looks = [], [], []
    for i, text in enumerate(tracked(said, "Turns")):
        with_one.append(await _turn_seconds(silent, session, f"with-{i}", CONTRADICTING))
        without.append(await _turn_seconds(silent, session, f"without-{i}", text))
        looks.append(await _look_seconds(silent, session, text, gm.clock()))
    counted = len(said) // 11
    with_one, without, looks = with_one[counted:], without[counted:], looks[counted:]
    return {
        "with_candidate_p50_ms": 1000 * median(with_one),
        "with_candidate_p99_ms": 1000 * float(np.percentile(with_one, 99)),
        "without_candidate_p50_ms": 1000 * median(without),
        "without_candidate_p99_ms": 1000 * float(np.percentile(without, 99)),
        "added_with_candidate_p99_ms": 1000 * float(np.percentile(with_one, 99) - median(without)),
        "looked_for_p50_ms": 1000 * median(looks),
        "looked_for_p99_ms": 1000 * float(np.percentile(looks, 99)),
    }


async def _turn_seconds(gm: Graphmem, session: Session, turn_id: str, text: str) -> float:
    start = perf_counter()
    await handle_turn(gm, session, Incoming(turn_id, text, gm.clock()))
    return perf_counter() - start


async def _look_seconds(gm: Graphmem, session: Session, text: str, at: datetime) -> float:
    """Seconds of detection alone, which in a turn runs beside the search."""
    (reading,), vectors = await gm.read([text])
    message = Message(Author.STUDENT, text, at, vectors[0], Doc(text))
    start = perf_counter()
    await detected(gm, session, message, reading, 1)
    return perf_counter() - start


async def _cycles(gm: Graphmem, session: Session, size: int) -> Figures:
    seconds = []
    for _ in tracked(range(CYCLES), f"Drift cycles of {size} memories"):
        start = perf_counter()
        await reconcile(gm, session, by_hand=True)
        seconds.append(perf_counter() - start)
    return {f"cycle_p50_ms@{size}": 1000 * median(seconds), f"cycle_max_ms@{size}": 1000 * max(seconds)}
