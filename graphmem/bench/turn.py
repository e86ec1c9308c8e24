"""handleTurn over HTTP beside its floor: one read round trip + one durable one-node write + one embedding.

Both are taken in turns in one run, so that load on the machine slows both.
"""

import asyncio
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter, sleep

from graphmem import sealing
from graphmem.app import server_secret
from graphmem.bench import Figures
from graphmem.bench.harness import Talker, enrolled, latencies, messages, own_database, served, show_figures
from graphmem.bench.scale import Material, import_memories, made_memories, scale_sentences
from graphmem.ports import Embedder
from graphmem.progress import print_line, spoken, tracked
from graphmem.runtime import neo4j_access
from graphmem.settings import Settings
from graphmem.store.graph import Graph, open_driver
from graphmem.store.integrity import take_in
from graphmem.text.embedder import make_embedder

STUDENT_MEMORIES = 1_000
"""Memories each student has before the first turn."""
TURN_WARM_UP = 100
TURNS = 300
JOBS_LOOK_SECONDS = 0.02
"""Seconds between two looks whether a turn's jobs are done."""
TURNS_AT_ONCE = 2_000
CROWDS = (16, 64)
TURN_SEED = 7


def measure_turn(settings: Settings, file: Path | None) -> Figures:
    """Measure one, 16 and 64 students at once, each with a thousand memories.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : dialogues whose student messages are said instead of the shipped ones
    """
    texts = messages(file)
    random.Random(TURN_SEED).shuffle(texts)
    figures: Figures = {}
    with (
        own_database(settings) as own,
        floor_of(own) as floor,
        served(own, GRAPHMEM_SESSION_MINUTES="600") as port,
    ):
        said = scale_sentences(file)[:STUDENT_MEMORIES]
        talkers = enrolled(own, port, [f"student-{i}" for i in range(max(CROWDS))])
        floor.store_before(own, talkers, said)
        for name, pauses in (("", True), ("hasty_", False)):
            figures |= show_figures(_one_student(floor, talkers[0], texts, name, pauses=pauses))
        for crowd in CROWDS:
            figures |= show_figures(_at_once(talkers[:crowd], texts))
    return figures


def _one_student(floor: "Floor", talker: Talker, texts: list[str], name: str, *, pauses: bool) -> Figures:
    """Measure one student: a turn and its floor one after the other: with pauses while jobs are done, or without."""
    turns, floors = [], []
    for i in tracked(range(TURN_WARM_UP + TURNS), "One student"):
        text = texts[i % len(texts)]
        floors.append(floor.seconds(text))
        start = perf_counter()
        talker.say(f"{name}alone-{i}", text)
        turns.append(perf_counter() - start)
        while pauses and talker.waiting_jobs():
            sleep(JOBS_LOOK_SECONDS)
    counted, under = turns[TURN_WARM_UP:], floors[TURN_WARM_UP:]
    return {
        f"{name}ratio_p50": median(counted) / median(under),
        **latencies(counted, name),
        f"{name}floor_p50_ms": 1000 * median(under),
    }


def _at_once(talkers: list[Talker], texts: list[str]) -> Figures:
    """Many students: all begin at once, then each says the next thing as soon as the last was answered."""
    numbers, crowd = count(), len(talkers)

    def begin(talker: Talker) -> float:
        talker.close()
        start = perf_counter()
        talker.say(f"begin-{crowd}", texts[0])
        seconds = perf_counter() - start
        # The API hangs up on connections that wait for the other students.
        talker.close()
        return seconds

    def talk(talker: Talker) -> list[float]:
        seconds = []
        while (i := next(numbers)) < TURNS_AT_ONCE:
            say.doing(f"{crowd} students: {i} of {TURNS_AT_ONCE} turns", began)
            start = perf_counter()
            talker.say(f"crowd-{crowd}-{i}", texts[i % len(texts)])
            seconds.append(perf_counter() - start)
        return seconds

    with ThreadPoolExecutor(crowd) as threads, spoken(print_line, f"{crowd} students begin") as say:
        # Students whose memories are not cached yet wait until these are read.
        first = list(threads.map(begin, talkers))
        start, began = perf_counter(), monotonic()
        seconds = [s for spent in threads.map(talk, talkers) for s in spent]
        elapsed = perf_counter() - start
    return {
        f"begin_p50_ms_{crowd}": 1000 * median(first),
        f"begin_max_ms_{crowd}": 1000 * max(first),
        f"turns_per_s_{crowd}": len(seconds) / elapsed,
        **latencies(seconds, suffix=f"_{crowd}"),
    }


@dataclass(frozen=True)
class Floor:
    """Latency floor measurement, with the same driver and embedder that graphmem uses."""

    runner: asyncio.Runner
    graph: Graph
    embedder: Embedder

    def seconds(self, text: str) -> float:
        """Time one read round trip, one durable one-node write and one embedding, one after the other."""

        async def once() -> float:
            start = perf_counter()
            await self.graph.run("graph/get_probe")
            await self.graph.run("graph/create_probe", at=datetime.now(UTC))
            await self.embedder.embed([text])
            return perf_counter() - start

        return self.runner.run(once())

    def store_before(self, settings: Settings, talkers: Sequence[Talker], said: Sequence[str]) -> None:
        """Store a thousand memories of each student, as an import brings them, in the integrity hash from the start."""

        async def store() -> None:
            material = Material(tuple(said), await self.embedder.embed(said), ())
            for talker in tracked(talkers, "Students"):
                session = sealing.opened_token(server_secret(settings), talker.session, datetime.now(UTC))
                made, now = made_memories(session, material, STUDENT_MEMORIES), datetime.now(UTC)
                await import_memories(self.graph, session, made, now)
                await take_in(self.graph, session, now)

        self.runner.run(store())


@contextmanager
def floor_of(settings: Settings) -> Iterator[Floor]:
    """Open a floor measurement on the database of some settings."""
    import uvloop

    uri, user, password = neo4j_access(settings, print_line)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        timeout = settings.neo4j_timeout
        graph = Graph(open_driver(uri, user, password, timeout), timeout, (server_secret(settings),))
        embedder = make_embedder(settings)
        try:
            yield Floor(runner, graph, embedder)
        finally:
            runner.run(embedder.aclose())
            runner.run(graph.aclose())
