"""Compressions that are killed: the graph is afterwards as before or as after, never in between (spec 13).

The command `graphmem compress` runs as a process of its own and gets SIGKILL at a moment drawn by lot.
"""

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from typing import Any
from uuid import uuid4

import numpy as np

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.harness import BENCH_INSTITUTION, PASSWORD, environment, own_database
from graphmem.bench.ingest import tracked
from graphmem.bench.scale import Material, made_memories, scale_sentences
from graphmem.bench.statements import statement
from graphmem.errors import SetupError
from graphmem.flows import students
from graphmem.flows.memories import import_memories
from graphmem.model import Who
from graphmem.runtime import open_graphmem, run_fast
from graphmem.settings import Settings

KILLS = 20
KILLED_MEMORIES = 400
LEFT = 150
CRASH_SEED = 3
PATIENCE = 120.0
"""Seconds that a call to the database may take."""
STARTING_SHARE = 0.5
"""Share of a run in which the process still starts, before which it is not killed."""


def measure_crash(settings: Settings, file: Path | None) -> Figures:
    """Compressions that were killed, by what they left.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : dialogues whose messages are the memories instead of the shipped ones

    Returns
    -------
    `kills`, `as_before`, `as_after`, `neither` (wanted 0), `ended` (done before the kill), `compressed_at_last`: those
    that a second run compressed
    """
    with own_database(settings) as own:
        # What waits for the database is no crash.
        return run_fast(_crashed(own.model_copy(update={"neo4j_timeout": PATIENCE}), scale_sentences(file)))


async def _crashed(settings: Settings, texts: Sequence[str]) -> Figures:
    async with open_graphmem(settings, say=lambda _: None, background=False) as gm:
        return await crash_figures(gm, settings, texts)


async def crash_figures(
    gm: Graphmem, settings: Settings, texts: Sequence[str], kills: int = KILLS, memories: int = KILLED_MEMORIES
) -> Figures:
    """The figures of some kills in a running graphmem; each of a fresh student."""
    some = tuple(texts[:memories])
    material = Material(some, await gm.embedder.embed(some), ())
    left = max(1, len(some) * LEFT // KILLED_MEMORIES)
    who = await _student(gm, material)
    before, start = await _snapshot(gm, who), perf_counter()
    await asyncio.to_thread(_started(settings, who, left).wait)
    whole = perf_counter() - start
    if await _left(gm, who, before, left) != "as_after":
        raise SetupError("`graphmem compress` does not compress here: run `graphmem doctor`.")
    chance = np.random.default_rng(CRASH_SEED)
    figures = dict.fromkeys(("as_before", "as_after", "neither", "ended", "compressed_at_last"), 0.0)
    for _ in tracked(range(kills), "Killing compressions"):
        who = await _student(gm, material)
        before = await _snapshot(gm, who)
        process = _started(settings, who, left)
        await asyncio.sleep(whole * float(chance.uniform(STARTING_SHARE, 1.0)))
        figures["ended"] += process.poll() is not None
        process.kill()
        await asyncio.to_thread(process.wait)
        # The server rolls back what a client that is gone had begun.
        await asyncio.sleep(1.0)
        figures[await _left(gm, who, before, left)] += 1
        await asyncio.to_thread(_started(settings, who, left).wait)
        figures["compressed_at_last"] += await _left(gm, who, before, left) == "as_after"
    return {"kills": float(kills), **figures}


async def _student(gm: Graphmem, material: Material) -> Who:
    who = Who(BENCH_INSTITUTION, f"crash-{uuid4().hex[:8]}")
    await students.enrol(gm, who, PASSWORD)
    _, session = await students.open_session(gm, who, PASSWORD)
    made = made_memories(session, material, len(material.texts))
    await import_memories(gm.graph, session, made, gm.clock() - timedelta(days=1))
    return who


def _started(settings: Settings, who: Who, left: int) -> "subprocess.Popen[bytes]":
    """The command that compresses, as a process."""
    own = ("--institution", who.institution, "--password-stdin", "--to", str(left))
    process = subprocess.Popen(
        [sys.executable, "-m", "graphmem", "compress", who.student_id, *own],
        env=environment(settings, GRAPHMEM_NEO4J_TIMEOUT=str(PATIENCE)),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None  # it is a pipe
    process.stdin.write(f"{PASSWORD}\n".encode())
    process.stdin.close()
    return process


async def _snapshot(gm: Graphmem, who: Who) -> list[dict[str, Any]]:
    """Memories, their sources and edges, but for what a session and a use change."""
    own = {"institution": who.institution, "student_id": who.student_id}
    return await gm.graph.execute(statement("crash_snapshot"), own, reads=True)


async def _left(gm: Graphmem, who: Who, before: list[dict[str, Any]], left: int) -> str:
    now = await _snapshot(gm, who)
    if now == before:
        return "as_before"
    records = [row for row in now if row["kind"] == "Compression"]
    memories = [row for row in now if row["kind"] == "Memory"]
    refs = {ref for row in memories for ref in row["refs"]}
    whole = refs == {ref for row in before for ref in row["refs"]}
    return "as_after" if len(records) == 1 and len(memories) == left == records[0]["nodes"] and whole else "neither"
