"""A world of 100,000 concepts: its import, its names in a text, and what it costs a turn (spec 11, Measured by).

Everything runs in this process on a database of the benchmark's own: seconds of the import beside the memory it took,
then the same turns and contexts without a world, with one of which nothing is known, and with 5,000 known concepts.
"""

import asyncio
import resource
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter

from wordfreq import top_n_list

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.harness import BENCH_INSTITUTION, PASSWORD, messages, own_database
from graphmem.errors import InvalidInput
from graphmem.flows import students
from graphmem.flows.context import context, recall
from graphmem.flows.fog import fog_of
from graphmem.flows.overlay import reveal
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.flows.world import import_world
from graphmem.flows.world_plan import WorldDraft
from graphmem.jobs.runner import run_jobs
from graphmem.model import Concept, Session, Who, WorldEdge, WorldEdgeType
from graphmem.runtime import open_graphmem
from graphmem.settings import Settings

CONCEPTS, EDGES_EACH, KNOWN = 100_000, 3, 5_000
TURNS, ASKED = 60, 60
WORLD_SEED = 0


def measure_world(settings: Settings, file: Path | None) -> Figures:
    """Import, recognition and the cost of a turn with 100,000 concepts.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : None; the world is made by lot

    Returns
    -------
    `import_s`, `import_mib` (of this process), `again_s`; `open_s` (the names are read and made ready to be found);
    `recognise_us` a message; `turn_p50_ms`, `recall_p50_ms` and `context_p50_ms` without a world, with one (`_world`)
    and with 5,000 known concepts (`_known`)

    Raises
    ------
    InvalidInput    a file was given
    """
    if file is not None:
        raise InvalidInput("bench world takes no file: its world is made by lot.")
    with own_database(settings) as own:
        return asyncio.run(_measured(own))


def made_world(concepts: int) -> WorldDraft:
    """A world of names of one to three words, each concept with edges to some before it."""
    chance = Random(WORLD_SEED)
    words = [word for word in top_n_list("en", 60_000, wordlist="large") if word.isalpha() and len(word) > 3]
    names: dict[str, None] = {}
    while len(names) < concepts:
        names[" ".join(chance.sample(words, chance.choice((1, 2, 2, 3))))] = None
    nodes = [Concept(f"c{i}", name, (" ".join(chance.sample(words, 2)),)) for i, name in enumerate(names)]
    kinds = list(WorldEdgeType)
    edges = [
        WorldEdge(f"e{i}-{k}", f"c{chance.randrange(i)}", f"c{i}", kinds[k % len(kinds)])
        for i in range(1, concepts)
        for k in range(EDGES_EACH)
    ]
    return WorldDraft([("made", each) for each in nodes], [("made", each) for each in edges])


async def _measured(settings: Settings) -> Figures:
    async with open_graphmem(settings) as gm:
        who = Who(BENCH_INSTITUTION, "ann")
        await students.enrol(gm, who, PASSWORD)
        _, session = await students.open_session(gm, who, PASSWORD)
        talk = messages(None)[: TURNS + ASKED]
        figures = await _costs(gm, session, talk, "")
        draft = await asyncio.to_thread(made_world, CONCEPTS)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        figures["import_s"] = await _seconds(lambda: import_world(gm, BENCH_INSTITUTION, draft))
        figures["import_mib"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        figures["again_s"] = await _seconds(lambda: import_world(gm, BENCH_INSTITUTION, draft))
        figures["open_s"] = await _seconds(lambda: fog_of(gm, session))
        names = (await fog_of(gm, session)).world.names
        start = perf_counter()
        for text in talk:
            names.find(text)
        figures["recognise_us"] = (perf_counter() - start) / len(talk) * 1e6
        figures |= await _costs(gm, session, talk, "_world")
        for first in range(0, KNOWN, gm.settings.page_size):
            await reveal(gm, session, [f"c{i}" for i in range(first, min(KNOWN, first + gm.settings.page_size))])
        return figures | await _costs(gm, session, talk, "_known")


async def _costs(gm: Graphmem, session: Session, talk: list[str], suffix: str) -> Figures:
    """Medians of turns, recalls and contexts, in ms; the memories of the turns are formed between them."""
    at = gm.clock() - timedelta(hours=1)
    said, asked = talk[:TURNS], talk[TURNS:]
    turns = [
        await _seconds(lambda i=i, text=text: handle_turn(gm, session, Incoming(f"t{suffix}-{i}", text, at)))  # type: ignore[misc]
        for i, text in enumerate(said)
    ]
    await run_jobs(gm, session)
    recalls = [await _seconds(lambda text=text: recall(gm, session, text)) for text in asked]  # type: ignore[misc]
    contexts = [await _seconds(lambda text=text: context(gm, session, text)) for text in asked]  # type: ignore[misc]
    found = {"turn": turns, "recall": recalls, "context": contexts}
    return {f"{name}_p50_ms{suffix}": median(seconds) * 1e3 for name, seconds in found.items()}


async def _seconds(work: Callable[[], Awaitable[object]]) -> float:
    start = perf_counter()
    await work()
    return perf_counter() - start
