"""Latency of handleTurn beside its floor (a read, a durable one-node write, an embedding), and of a context.

A turn and its floor are taken in turns in one run, so that load on the machine slows both. Memories are made of real
sentences: a few thousand are embedded; the others are two of these each, with the sum of both vectors, disturbed.
"""

import asyncio
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count, islice, pairwise
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter, sleep

import numpy as np

from graphmem import sealing
from graphmem.app import Graphmem, server_secret
from graphmem.bench import Figures, harness
from graphmem.bench.talks import read_rows
from graphmem.errors import InvalidInput
from graphmem.flows import context
from graphmem.flows.context import tentative_memory
from graphmem.flows.session_cache import open_memories
from graphmem.maths.importance import SEGMENT_GAP
from graphmem.model import Domain, EdgeType, Matrix, Observation, Session, SourceKind, Vector
from graphmem.offline.exemplars import read_situations
from graphmem.ports import Embedder
from graphmem.progress import print_line, spoken, tracked
from graphmem.runtime import neo4j_access
from graphmem.sealing import keyed_hash
from graphmem.settings import Settings
from graphmem.store.changes import Changes, New, NewEdge, Origin, Span, write
from graphmem.store.graph import Graph, open_driver
from graphmem.store.integrity import take_in
from graphmem.store.memories import LoadedMemory
from graphmem.text.doc import Doc, query_words
from graphmem.text.embedder import make_embedder

SIZES = (1_000, 10_000, 100_000)
SENTENCES = 3_000
"""Most sentences that are embedded."""
QUESTIONS_ASKED = 150
SCALE_WARM_UP = 20
SCALE_BUDGET = 2_000
A_DAY = 100
"""Memories a day, twenty seconds apart."""
SCALE_FIRST_DAY = datetime(2020, 1, 6, 9, 0, tzinfo=UTC)
NOISE = 0.02
"""Deviation of each of a vector's numbers."""
SCALE_SEED = 5
IMPORT_BATCH = 500


STUDENT_MEMORIES = 1_000
"""Memories each student has before the first turn."""
TURN_WARM_UP = 30
TURNS = 120
JOBS_LOOK_SECONDS = 0.02
"""Seconds between two looks whether a turn's jobs are done."""
TURNS_AT_ONCE = 800
CROWDS = (16, 64)
FURTHER_MEMORIES = 200
"""Memories of each student beyond the first crowd: a thousand take five seconds to store."""
TURN_SEED = 7


def measure_scale(settings: Settings, file: Path | None) -> Figures:
    """Measure p50 and p95 of a context, loading times, and the exponent of growth.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : dialogues whose messages are the sentences instead of the shipped ones
    """
    texts = scale_sentences(file)
    return harness.in_process(settings, lambda gm: scale_figures(gm, texts, SIZES))


async def scale_figures(
    gm: Graphmem, sentences: Sequence[str], sizes: Sequence[int], asked: int = QUESTIONS_ASKED
) -> Figures:
    """Compute the figures of one student of each size; the first `asked` sentences are the questions."""
    worded = [sentence for sentence in sentences if query_words(Doc(sentence))]
    questions, texts = worded[:asked], worded[asked : asked + SENTENCES]
    if not texts:
        raise InvalidInput(f"More than {asked} different sentences are needed.")
    vectors, figures = await gm.embedder.embed(texts), Figures()
    for size in sizes:
        session = await (await harness.learner(gm, f"student-{size}-{perf_counter()}")).begin()
        figures |= harness.show_figures(
            await _of_size(gm, session, made_memories(session, texts, vectors, size), questions)
        )
    if len(sizes) > 1:
        p50s = [figures[f"p50_ms@{size}"] for size in sizes]
        figures["exponent"] = float(np.polyfit(np.log(sizes), np.log(p50s), 1)[0])
    return figures


async def _of_size(gm: Graphmem, session: Session, made: Sequence[LoadedMemory], questions: Sequence[str]) -> Figures:
    start, size = perf_counter(), len(made)
    await import_memories(gm.graph, session, made, datetime.now(UTC))
    stored = perf_counter()
    await open_memories(gm, session)
    loaded, seconds = perf_counter(), []
    for question in tracked(questions, f"Asking {size} memories"):
        start_question = perf_counter()
        await context.context(gm, session, question, SCALE_BUDGET, None)
        seconds.append(perf_counter() - start_question)
        # Lets the progress and whatever waits in the background have its turn outside the measured time.
        await asyncio.sleep(0)
    counted = seconds[SCALE_WARM_UP:] or seconds
    times = {f"load_s@{size}": loaded - stored, f"import_s@{size}": stored - start}
    return harness.latencies(counted, suffix=f"@{size}") | times


async def import_memories(graph: Graph, session: Session, held: Sequence[LoadedMemory], now: datetime) -> int:
    """Store many memories in batches; storing them again changes nothing.

    Each gets a source of the system, with its source ref, and follows the one before it (`PRECEDES`), where that was
    less than an hour earlier.

    Parameters
    ----------
    graph : Graph
    session : Session, with which they are sealed
    held : memories with content, vector and source ref, oldest first
    now : datetime

    Returns
    -------
    int, how many of them the student now has; none where there is no such student

    Raises
    ------
    InvalidInput    one has no vector
    Conflict        a memory of another id has the same `content_hash`; batches before that one are stored
    Unavailable     Neo4j does not answer
    """
    stored = 0
    for first in tracked(range(0, len(held), IMPORT_BATCH), f"Storing {len(held)} memories"):
        batch = held[first : first + IMPORT_BATCH]
        followed = [
            NewEdge(a.memory.id, b.memory.id, EdgeType.PRECEDES, 1.0)
            for a, b in pairwise(held[max(0, first - 1) : first + IMPORT_BATCH])
            if (b.memory.timestamp - a.memory.timestamp).total_seconds() < SEGMENT_GAP
        ]
        changes = Changes(None, "import", (*map(_imported, batch), *followed))
        stored += len(batch) if await write(graph, session, changes, now) is not None else 0
    return stored


def _imported(held: LoadedMemory) -> New:
    memory = held.memory
    if held.vector is None:
        raise InvalidInput(f"{memory.id} has no vector: embed it first.")
    origin = Origin(SourceKind.SYSTEM, memory.source_refs[0], f"source-{memory.id}", memory.timestamp)
    return New(memory, held.vector, Span(0, len(memory.content or "")), origin)


def made_memories(session: Session, said: Sequence[str], vectors: Matrix, size: int) -> list[LoadedMemory]:
    """Make memories of a student, a hundred a day: the sentences, then two of them each, with vectors of length 1."""
    chance, own = np.random.default_rng(SCALE_SEED), len(said)
    pairs = dict.fromkeys((int(i), int(j)) for i, j in chance.integers(0, own, (2 * size, 2)))
    chosen = list(islice(pairs, max(0, size - own)))
    if own + len(chosen) < size:
        raise InvalidInput(f"{own} sentences are too few for {size} memories: name a larger file.")
    texts = [*said[:size], *(f"{said[i]} {said[j]}" for i, j in chosen)]
    mixed = vectors[[i for i, _ in chosen]] + vectors[[j for _, j in chosen]]
    mixed += chance.normal(0.0, NOISE, mixed.shape)
    both = np.concatenate([vectors[:size], mixed])
    unit: Matrix = (both / np.linalg.norm(both, axis=1, keepdims=True)).astype(np.float32)
    return [_bench_memory(session, i, *each) for i, each in enumerate(zip(texts, unit, strict=True))]


def scale_sentences(file: Path | None) -> list[str]:
    """Return different sentences in an order that mixes their speakers, the same each time."""
    if file is None:
        said = {text for s in read_situations() for text in (s.asked, s.before, s.answer)}
    else:
        said = {turn["text"] for _, row in read_rows(file) for turn in row.get("turns", ()) if "text" in turn}
    texts = sorted(text for text in said if text.strip())
    np.random.default_rng(SCALE_SEED).shuffle(texts)
    return texts


def _bench_memory(session: Session, number: int, text: str, vector: Vector) -> LoadedMemory:
    at = SCALE_FIRST_DAY + timedelta(days=number // A_DAY, seconds=20 * (number % A_DAY))
    said = Observation(SourceKind.SYSTEM, f"bench-{number}", text, at)
    memory = replace(
        tentative_memory(f"memory-bench-{number}", said),
        domain=Domain.SCHOOL,
        before=None,
        salience=0.5,
        confidence=0.7,
        snr=300,
        passes=1,
        importance=0.5,
        content_hash=keyed_hash(session.keys, "content", f"bench {number}"),
        consolidated=True,
    )
    return LoadedMemory(memory, vector)


def measure_turn(settings: Settings, file: Path | None) -> Figures:
    """Measure one, 16 and 64 students at once, each with a thousand memories.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : dialogues whose student messages are said instead of the shipped ones
    """
    texts = harness.messages(file)
    random.Random(TURN_SEED).shuffle(texts)
    figures: Figures = {}
    with (
        harness.own_database(settings) as own,
        floor_of(own) as floor,
        harness.served(own, GRAPHMEM_SESSION_MINUTES="600") as port,
    ):
        said = scale_sentences(file)[:STUDENT_MEMORIES]
        talkers = harness.enrolled(own, port, [f"student-{i}" for i in range(max(CROWDS))])
        floor.store_before(own, talkers, said)
        for name, pauses in (("", True), ("hasty_", False)):
            figures |= harness.show_figures(_one_student(floor, talkers[0], texts, name, pauses=pauses))
        for crowd in CROWDS:
            figures |= harness.show_figures(_at_once(talkers[:crowd], texts))
    return figures


def _one_student(floor: "Floor", talker: harness.Talker, texts: list[str], name: str, *, pauses: bool) -> Figures:
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
        **harness.latencies(counted, name),
        f"{name}floor_p50_ms": 1000 * median(under),
    }


def _at_once(talkers: list[harness.Talker], texts: list[str]) -> Figures:
    """Many students: all begin at once, then each says the next thing as soon as the last was answered."""
    numbers, crowd = count(), len(talkers)

    def begin(talker: harness.Talker) -> float:
        talker.close()
        start = perf_counter()
        talker.say(f"begin-{crowd}", texts[0])
        seconds = perf_counter() - start
        # The API hangs up on connections that wait for the other students.
        talker.close()
        return seconds

    def talk(talker: harness.Talker) -> list[float]:
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
        **harness.latencies(seconds, suffix=f"_{crowd}"),
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

    def store_before(self, settings: Settings, talkers: Sequence[harness.Talker], said: Sequence[str]) -> None:
        """Store memories of each student, as an import brings them, in the integrity hash from the start."""

        async def store() -> None:
            vectors = await self.embedder.embed(said)
            for i, talker in enumerate(tracked(talkers, "Students")):
                session = sealing.opened_token(server_secret(settings), talker.session, datetime.now(UTC))
                count = STUDENT_MEMORIES if i < CROWDS[0] else FURTHER_MEMORIES
                made, now = made_memories(session, said, vectors, count), datetime.now(UTC)
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
