"""Latency of a context at 1,000, 10,000 and 100,000 memories, and made memories for other benchmarks.

Memories are made of real sentences: a few thousand are embedded; the others are two of these each, with the sum of
both vectors, a little disturbed. Everything runs in one process on a throwaway database.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from pathlib import Path
from time import perf_counter

import numpy as np

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.harness import in_process, latencies, learner, show_figures
from graphmem.bench.talks import read_rows
from graphmem.errors import InvalidInput
from graphmem.flows import context
from graphmem.flows.context import tentative_memory
from graphmem.flows.session_cache import open_memories
from graphmem.maths.features import SEGMENT_GAP
from graphmem.model import Domain, EdgeType, Matrix, Observation, Session, SourceKind, Vector
from graphmem.offline.exemplars import read_situations
from graphmem.progress import tracked
from graphmem.sealing import keyed_hash
from graphmem.settings import Settings
from graphmem.store.changes import Changes, New, NewEdge, Origin, Span, write
from graphmem.store.graph import Graph
from graphmem.store.memories import LoadedMemory
from graphmem.text.doc import Doc, query_words

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


@dataclass(frozen=True)
class Material:
    """Real sentences with their embeddings, and the questions that are asked, which are none of them."""

    texts: tuple[str, ...]
    vectors: Matrix
    questions: tuple[str, ...]


def measure_scale(settings: Settings, file: Path | None) -> Figures:
    """Measure p50 and p95 of a context, loading times, and the exponent of growth.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : dialogues whose messages are the sentences instead of the shipped ones
    """
    texts = scale_sentences(file)
    return in_process(settings, lambda gm: scale_figures(gm, texts, SIZES))


async def scale_figures(
    gm: Graphmem, sentences: Sequence[str], sizes: Sequence[int], asked: int = QUESTIONS_ASKED
) -> Figures:
    """Compute the figures of one student of each size; the first `asked` sentences are the questions."""
    worded = [sentence for sentence in sentences if query_words(Doc(sentence))]
    questions, texts = tuple(worded[:asked]), tuple(worded[asked : asked + SENTENCES])
    if not texts:
        raise InvalidInput(f"More than {asked} different sentences are needed.")
    material = Material(texts, await gm.embedder.embed(texts), questions)
    figures: Figures = {}
    for size in sizes:
        figures |= show_figures(await _of_size(gm, material, size))
    if len(sizes) > 1:
        p50s = [figures[f"p50_ms@{size}"] for size in sizes]
        figures["exponent"] = float(np.polyfit(np.log(sizes), np.log(p50s), 1)[0])
    return figures


async def _of_size(gm: Graphmem, material: Material, size: int) -> Figures:
    session = await (await learner(gm, f"student-{size}-{perf_counter()}")).begin()
    start = perf_counter()
    await import_memories(gm.graph, session, made_memories(session, material, size), datetime.now(UTC))
    stored = perf_counter()
    await open_memories(gm, session)
    loaded, seconds = perf_counter(), []
    for question in tracked(material.questions, f"Asking {size} memories"):
        start_question = perf_counter()
        await context.context(gm, session, question, SCALE_BUDGET, None)
        seconds.append(perf_counter() - start_question)
        # Lets the progress and whatever waits in the background have its turn outside the measured time.
        await asyncio.sleep(0)
    counted = seconds[SCALE_WARM_UP:] or seconds
    times = {f"load_s@{size}": loaded - stored, f"import_s@{size}": stored - start}
    return latencies(counted, suffix=f"@{size}") | times


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


def varied(material: Material, size: int) -> tuple[list[str], Matrix]:
    """Make as many different texts as wanted: the sentences, then two of them each; with vectors of length 1.

    Returns
    -------
    texts : list of str, of length `size`
    vectors : float32 array of shape (size, dimension)
    """
    chance, own = np.random.default_rng(SCALE_SEED), len(material.texts)
    pairs = dict.fromkeys((int(i), int(j)) for i, j in chance.integers(0, own, (2 * size, 2)))
    chosen = list(islice(pairs, max(0, size - own)))
    if own + len(chosen) < size:
        raise InvalidInput(f"{own} sentences are too few for {size} memories: name a larger file.")
    texts = [*material.texts[:size], *(f"{material.texts[i]} {material.texts[j]}" for i, j in chosen)]
    mixed = material.vectors[[i for i, _ in chosen]] + material.vectors[[j for _, j in chosen]]
    mixed += chance.normal(0.0, NOISE, mixed.shape)
    vectors = np.concatenate([material.vectors[:size], mixed])
    unit: Matrix = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return texts, unit


def made_memories(session: Session, material: Material, size: int) -> list[LoadedMemory]:
    """Make memories of a student, a hundred a day."""
    texts, vectors = varied(material, size)
    return [
        _bench_memory(session, i, text, vector) for i, (text, vector) in enumerate(zip(texts, vectors, strict=True))
    ]


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
