"""Cost of the integrity hash at 1,000 and 10,000 memories: of each write, of taking in what was written, of verifying.

A write with and without its note is the same write, in turn, on one student of a throwaway database: once as a
statement of its own, once as a transaction of two statements. Everything runs in one process.
"""

from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.harness import BENCH_INSTITUTION, PASSWORD, own_database
from graphmem.bench.ingest import tracked
from graphmem.bench.scale import SENTENCES, Material, made_memories, scale_sentences
from graphmem.errors import SetupError
from graphmem.flows import students
from graphmem.flows.memories import import_memories
from graphmem.model import Session, Who
from graphmem.runtime import open_graphmem, run_fast
from graphmem.settings import Settings
from graphmem.store import integrity, queries
from graphmem.store.graph import Transaction
from graphmem.store.touched import Touched

Write = Callable[[], Awaitable[None]]

GUARDED = (1_000, 10_000)
"""Memories of the students."""
WRITES, VERIFIED, TAKEN, USED, IMPORTED_AT_ONCE = 300, 5, 50, 10, 500
"""Writes of each kind, verifications and takings-in that are timed; memories that a write touches, and an import."""


def measure_integrity(settings: Settings, file: Path | None) -> Figures:
    """Milliseconds of a write with its note and without, of taking in a write, and seconds of verifying a student.

    Parameters
    ----------
    settings : Settings
    file : dialogues whose messages are the memories instead of the shipped ones
    """
    texts = tuple(scale_sentences(file)[:SENTENCES])
    with own_database(settings) as own:
        return run_fast(_guarded(own.model_copy(update={"session_minutes": 600.0}), texts))


async def _guarded(settings: Settings, texts: tuple[str, ...]) -> Figures:
    figures: Figures = {}
    async with open_graphmem(settings, say=lambda _: None, background=False) as gm:
        material = Material(texts, await gm.embedder.embed(texts), ())
        for size in GUARDED:
            who = Who(BENCH_INSTITUTION, f"guarded-{size}")
            await students.enrol(gm, who, PASSWORD)
            _, session = await students.open_session(gm, who, PASSWORD)
            made = made_memories(session, material, size)
            for first in tracked(range(0, size, IMPORTED_AT_ONCE), f"Storing {size} memories"):
                await import_memories(gm.graph, session, made[first : first + IMPORTED_AT_ONCE], gm.clock())
            began = perf_counter()
            await integrity.take_in(gm.graph, session, gm.clock())
            figures[f"take_in_import_s@{size}"] = perf_counter() - began
            ids = [each.memory.id for each in made[:USED]]
            figures |= {f"{name}@{size}": value for name, value in (await _of_guarded(gm, session, ids)).items()}
    return figures


async def _of_guarded(gm: Graphmem, session: Session, ids: list[str]) -> Figures:
    figures: Figures = {}
    for name, (noted, bare) in _writes(gm, session, ids).items():
        with_note, without = await _in_turn(noted, bare)
        figures |= {f"{name}_ms": with_note, f"{name}_more_ms": with_note - without}
        figures[f"{name}_ratio"] = with_note / without
        # What was written without a note would be named.
        await noted()
        last = noted
    await integrity.take_in(gm.graph, session, gm.clock())
    figures["take_in_ms"] = 1000 * await _taken_in(gm, session, last)
    seconds = []
    for _ in range(VERIFIED):
        began = perf_counter()
        found = await integrity.verify(gm.graph, session, gm.clock())
        seconds.append(perf_counter() - began)
        if found is None or not found.intact:
            raise SetupError(f"The student of the benchmark is not as it was written: {found}.")
    return figures | {"verify_s": median(seconds)}


def _writes(gm: Graphmem, session: Session, ids: list[str]) -> dict[str, tuple[Write, Write]]:
    """Two writes of some memories, each with its note and without."""
    numbers, graph, plain = count(), gm.graph, queries.load()["memory/rewrite"]
    who = {"institution": session.institution, "student_id": session.student_id}

    def details() -> list[dict[str, object]]:
        return [{"id": each, "properties": {"details": f"details {next(numbers)}".encode() * 8}} for each in ids]

    async def statement() -> None:
        await graph.run("memory/rewrite", session, memories=details(), jobs=[])

    async def bare_statement() -> None:
        await graph.execute(plain.text, {queries.GIVEN: who | {"memories": details(), "jobs": []}}, reads=False)

    async def begin(tx: Transaction) -> dict[str, Any]:
        begun = {"job_id": None, "lease": None, "known": None, "memories": True, "turns": False, "now": gm.clock()}
        (row,) = await tx.run("changes/begin", **begun)
        changed = [{"id": each, "properties": {"confidence": next(numbers) % 100 / 100}} for each in ids]
        return {"memories": changed, "written": row["written"]}

    async def change(tx: Transaction) -> bool:
        await tx.write("changes/update_memories", **await begin(tx))
        return True

    async def bare_change(tx: Transaction) -> bool:
        await tx.run("changes/update_memories", **await begin(tx))
        tx.touched = Touched()
        return True

    async def transaction() -> None:
        await graph.transact(session, change)

    async def bare_transaction() -> None:
        await graph.transact(session, bare_change)

    return {"statement": (statement, bare_statement), "transaction": (transaction, bare_transaction)}


async def _taken_in(gm: Graphmem, session: Session, write: Write) -> float:
    """Seconds of taking in one write."""
    seconds = []
    for _ in range(TAKEN):
        await write()
        began = perf_counter()
        await integrity.take_in(gm.graph, session, gm.clock())
        seconds.append(perf_counter() - began)
    return median(seconds)


async def _in_turn(noted: Write, bare: Write) -> tuple[float, float]:
    """Milliseconds of a write as it is, and of the same write without its note."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(WRITES):
        for write, own in zip((noted, bare), seconds, strict=True):
            began = perf_counter()
            await write()
            own.append(perf_counter() - began)
    return 1000 * median(seconds[0]), 1000 * median(seconds[1])
