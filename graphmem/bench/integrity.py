"""Cost of the integrity hash at 1,000 and 10,000 memories: of a write, of taking its note in, of verifying.

A write with and without its note is the same transaction of two statements, in turn, on one student of a throwaway
database. Everything runs in one process.
"""

from collections.abc import Awaitable
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.harness import in_process, learner, show_figures
from graphmem.bench.turn import SENTENCES, import_memories, made_memories, scale_sentences
from graphmem.errors import SetupError
from graphmem.model import Session
from graphmem.progress import tracked
from graphmem.settings import Settings
from graphmem.store import integrity
from graphmem.store.graph import Touched, Transaction

GUARDED = (1_000, 10_000)
"""Memories of the students."""
WRITES, VERIFIED, TAKEN, USED = 300, 5, 50, 10
"""Writes with a note and without, verifications and takings-in that are timed; memories that a write touches."""


def measure_integrity(settings: Settings, file: Path | None) -> Figures:
    """Measure milliseconds of a write with its note and without, of taking in a write, and seconds of verifying.

    Parameters
    ----------
    settings : Settings
    file : dialogues whose messages are the memories instead of the shipped ones
    """
    texts = scale_sentences(file)[:SENTENCES]

    async def guarded(gm: Graphmem) -> Figures:
        vectors, figures = await gm.embedder.embed(texts), Figures()
        for size in GUARDED:
            session = await (await learner(gm, f"guarded-{size}")).begin()
            made = made_memories(session, texts, vectors, size)
            await import_memories(gm.graph, session, made, gm.clock())
            taken = await _seconds(integrity.take_in(gm.graph, session, gm.clock()))
            found = await _of_guarded(gm, session, [each.memory.id for each in made[:USED]])
            figures |= show_figures({f"{key}@{size}": v for key, v in ({"take_in_import_s": taken} | found).items()})
        return figures

    return in_process(settings, guarded)


async def _seconds(work: Awaitable[object]) -> float:
    start = perf_counter()
    await work
    return perf_counter() - start


async def _of_guarded(gm: Graphmem, session: Session, ids: list[str]) -> Figures:
    noted, bare, taken, numbers = list[float](), list[float](), list[float](), count()

    async def write(*, note: bool) -> None:
        async def change(tx: Transaction) -> bool:
            begun = {"job_id": None, "lease": None, "known": None, "turns": False, "now": gm.clock()}
            (row,) = await tx.run("changes/begin", **begun)
            values = [{"confidence": next(numbers) % 100 / 100, "written": row["written"]} for _ in ids]
            rows = [{"id": each, "properties": own} for each, own in zip(ids, values, strict=True)]
            await tx.run("changes/set:Memory", rows=rows)
            tx.touched = tx.touched if note else Touched()
            return True

        await gm.graph.transact(session, change)

    for _ in tracked(range(WRITES), "Writing"):
        noted.append(await _seconds(write(note=True)))
        bare.append(await _seconds(write(note=False)))
    for _ in tracked(range(TAKEN), "Taking in"):
        # Verifying would name elements written without a note.
        await write(note=True)
        taken.append(await _seconds(integrity.take_in(gm.graph, session, gm.clock())))
    verified = [await _seconds(_verify(gm, session)) for _ in tracked(range(VERIFIED), "Verifying")]
    return {
        "write_ms": 1000 * median(noted),
        "write_more_ms": 1000 * (median(noted) - median(bare)),
        "write_ratio": median(noted) / median(bare),
        "take_in_ms": 1000 * median(taken),
        "verify_s": median(verified),
    }


async def _verify(gm: Graphmem, session: Session) -> None:
    found = await integrity.verify(gm.graph, session, gm.clock())
    if found is None or not found.intact:
        raise SetupError(f"The student of the benchmark is not as it was written: {found}.")
