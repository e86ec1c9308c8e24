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
from graphmem.bench.harness import in_process, learner, show_figures
from graphmem.bench.scale import SENTENCES, Material, made_memories, scale_sentences, store_made
from graphmem.errors import SetupError
from graphmem.model import Session
from graphmem.settings import Settings
from graphmem.store import integrity, queries
from graphmem.store.graph import Touched, Transaction

Write = Callable[[], Awaitable[None]]

GUARDED = (1_000, 10_000)
"""Memories of the students."""
WRITES, VERIFIED, TAKEN, USED = 300, 5, 50, 10
"""Writes of each kind, verifications and takings-in that are timed; memories that a write touches."""


def measure_integrity(settings: Settings, file: Path | None) -> Figures:
    """Measure milliseconds of a write with its note and without, of taking in a write, and seconds of verifying.

    Parameters
    ----------
    settings : Settings
    file : dialogues whose messages are the memories instead of the shipped ones
    """
    texts = tuple(scale_sentences(file)[:SENTENCES])

    async def guarded(gm: Graphmem) -> Figures:
        material, figures = Material(texts, await gm.embedder.embed(texts), ()), Figures()
        for size in GUARDED:
            session = await (await learner(gm, f"guarded-{size}")).begin()
            made = made_memories(session, material, size)
            await store_made(gm.graph, session, made)
            taken = await _seconds(lambda own=session: integrity.take_in(gm.graph, own, gm.clock()))  # type: ignore[misc]
            found = await _of_guarded(gm, session, [each.memory.id for each in made[:USED]])
            figures |= show_figures({f"{key}@{size}": v for key, v in ({"take_in_import_s": taken} | found).items()})
        return figures

    return in_process(settings, guarded)


async def _seconds(work: Callable[[], Awaitable[object]]) -> float:
    start = perf_counter()
    await work()
    return perf_counter() - start


async def _of_guarded(gm: Graphmem, session: Session, ids: list[str]) -> Figures:
    figures: Figures = {}
    for name, writes in _writes(gm, session, ids).items():
        timed: tuple[list[float], list[float]] = ([], [])
        for _ in range(WRITES):
            for write, own in zip(writes, timed, strict=True):
                own.append(await _seconds(write))
        noted, bare = (1000 * median(own) for own in timed)
        figures |= {f"{name}_ms": noted, f"{name}_more_ms": noted - bare, f"{name}_ratio": noted / bare}
        # Verifying would name what was written without a note.
        await writes[0]()
    await integrity.take_in(gm.graph, session, gm.clock())
    taken = []
    for _ in range(TAKEN):
        await writes[0]()
        taken.append(await _seconds(lambda: integrity.take_in(gm.graph, session, gm.clock())))

    async def verify() -> None:
        found = await integrity.verify(gm.graph, session, gm.clock())
        if found is None or not found.intact:
            raise SetupError(f"The student of the benchmark is not as it was written: {found}.")

    verified = [await _seconds(verify) for _ in range(VERIFIED)]
    return figures | {"take_in_ms": 1000 * median(taken), "verify_s": median(verified)}


def _writes(gm: Graphmem, session: Session, ids: list[str]) -> dict[str, tuple[Write, Write]]:
    """Return two writes of some memories, each with its note and without."""
    numbers, graph, plain = count(), gm.graph, queries.load()["memory/rewrite"]
    who = {"institution": session.institution, "student_id": session.student_id}

    def details() -> list[dict[str, object]]:
        return [{"id": each, "properties": {"details": f"details {next(numbers)}".encode() * 8}} for each in ids]

    async def statement() -> None:
        await graph.run("memory/rewrite", session, memories=details(), jobs=[])

    async def bare_statement() -> None:
        await graph.execute(plain.text, {queries.GIVEN: who | {"memories": details(), "jobs": []}}, reads=False)

    async def begin(tx: Transaction) -> list[dict[str, Any]]:
        begun = {"job_id": None, "lease": None, "known": None, "memories": True, "turns": False, "now": gm.clock()}
        (row,) = await tx.run("changes/begin", **begun)
        values = [{"confidence": next(numbers) % 100 / 100, "written": row["written"]} for _ in ids]
        return [{"id": each, "properties": own} for each, own in zip(ids, values, strict=True)]

    async def change(tx: Transaction) -> bool:
        await tx.run("changes/set:Memory", rows=await begin(tx))
        return True

    async def bare_change(tx: Transaction) -> bool:
        await tx.run("changes/set:Memory", rows=await begin(tx))
        tx.touched = Touched()
        return True

    async def transaction() -> None:
        await graph.transact(session, change)

    async def bare_transaction() -> None:
        await graph.transact(session, bare_change)

    return {"statement": (statement, bare_statement), "transaction": (transaction, bare_transaction)}
