"""Latency of a context at 1,000, 10,000 and 100,000 memories, and of the same search by Neo4j's own indexes.

Memories are made of real sentences: a few thousand are embedded; the others are two of these each, with the sum of
both vectors, a little disturbed. Everything runs in one process on a throwaway database.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.datasets import read_rows
from graphmem.bench.harness import BENCH_INSTITUTION, PASSWORD, own_database
from graphmem.bench.ingest import tracked
from graphmem.bench.statements import statement
from graphmem.errors import InvalidInput
from graphmem.flows import context, students
from graphmem.flows.memories import import_memories
from graphmem.flows.session_cache import open_memories
from graphmem.model import (
    Domain,
    Matrix,
    Memory,
    MemoryKind,
    Modality,
    Reliability,
    Session,
    SourceKind,
    Vector,
    Who,
)
from graphmem.offline.exemplars import read_situations
from graphmem.runtime import open_graphmem, run_fast
from graphmem.sealing import keyed_hash
from graphmem.search.query import SearchQuery
from graphmem.settings import Settings
from graphmem.store.memories import LoadedMemory
from graphmem.text.doc import Doc
from graphmem.text.query_parser import query_words

SIZES = (1_000, 10_000, 100_000)
IN_NEO4J = 10_000
"""Most memories that are copied into indexes of Neo4j."""
SENTENCES = 3_000
"""Most sentences that are embedded."""
QUESTIONS_ASKED = 150
SCALE_WARM_UP = 20
SCALE_BUDGET = 2_000
SERVER_CANDIDATES = 60
A_DAY = 100
"""Memories a day, twenty seconds apart."""
SCALE_FIRST_DAY = datetime(2020, 1, 6, 9, 0, tzinfo=UTC)
NOISE = 0.02
"""Deviation of each of a vector's numbers."""
SCALE_SEED = 5
COPIES_PER_STATEMENT = 500
WAIT = 330.0
"""Seconds for statements of which nobody waits for the answer."""


@dataclass(frozen=True)
class Material:
    """Real sentences with their embeddings, and the questions that are asked, which are none of them."""

    texts: tuple[str, ...]
    vectors: Matrix
    questions: tuple[str, ...]


def measure_scale(settings: Settings, file: Path | None) -> Figures:
    """p50 and p95 of a context, loading times, the exponent of growth, and Neo4j's own search beside it.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : dialogues whose messages are the sentences instead of the shipped ones
    """
    texts = scale_sentences(file)
    with own_database(settings) as own:
        return run_fast(_measured(own.model_copy(update={"session_minutes": 600.0}), texts, SIZES))


async def _measured(settings: Settings, sentences: Sequence[str], sizes: Sequence[int]) -> Figures:
    async with open_graphmem(settings, say=lambda _: None, background=False) as gm:
        return await scale_figures(gm, sentences, sizes)


async def scale_figures(
    gm: Graphmem, sentences: Sequence[str], sizes: Sequence[int], asked: int = QUESTIONS_ASKED
) -> Figures:
    """The figures of one student of each size, one after the other; the first `asked` sentences are the questions."""
    worded = [sentence for sentence in sentences if query_words(Doc(sentence))]
    questions, texts = tuple(worded[:asked]), tuple(worded[asked : asked + SENTENCES])
    if not texts:
        raise InvalidInput(f"More than {asked} different sentences are needed.")
    material = Material(texts, await gm.embedder.embed(texts), questions)
    figures: Figures = {}
    for size in sizes:
        figures |= await _of_size(gm, material, size)
    if len(sizes) > 1:
        p50s = [figures[f"p50_ms@{size}"] for size in sizes]
        figures["exponent"] = float(np.polyfit(np.log(sizes), np.log(p50s), 1)[0])
    for size in sizes:
        if size <= IN_NEO4J:
            figures |= await _in_neo4j(gm, material, size)
    return figures


async def _of_size(gm: Graphmem, material: Material, size: int) -> Figures:
    who = Who(BENCH_INSTITUTION, f"student-{size}-{perf_counter()}")
    await students.enrol(gm, who, PASSWORD, None)
    _, session = await students.open_session(gm, who, PASSWORD)
    made = made_memories(session, material, size)
    start = perf_counter()
    for first in tracked(range(0, size, COPIES_PER_STATEMENT), f"Storing {size} memories"):
        # One more than a batch, so that each follows the last of the batch before; that one is known already.
        await import_memories(gm.graph, session, made[max(0, first - 1) : first + COPIES_PER_STATEMENT], gm.clock())
    stored = perf_counter()
    held = await open_memories(gm, session)
    loaded = perf_counter()

    async def contexts(question: str) -> None:
        await context.context(gm, session, question, SCALE_BUDGET, None)

    async def search(question: str) -> None:
        (vector,) = await gm.embedder.embed([question])
        held.index.search(SearchQuery(vector, query_words(Doc(question)), gm.clock(), limit=SERVER_CANDIDATES))

    return {
        **await _timed("", size, contexts, material.questions),
        **await _timed("search_", size, search, material.questions),
        f"load_s@{size}": loaded - stored,
        f"import_s@{size}": stored - start,
    }


async def _in_neo4j(gm: Graphmem, material: Material, size: int) -> Figures:
    """The same question put to Neo4j's indexes: embedded, searched by meaning and words, fused by rank."""
    for name in ("create_vector_index", "create_text_index"):
        options = {"dimension": gm.embedder.dimension} if name == "create_vector_index" else {}
        await gm.graph.execute(statement(name), options, reads=False, seconds=WAIT)
    (there,) = await gm.graph.execute(statement("copies_count"), {}, reads=True)
    texts, vectors = varied(material, size)
    copies = [
        {"id": f"copy-{i}", "content": texts[i], "embedding": vectors[i].tolist()} for i in range(there["copies"], size)
    ]
    for first in tracked(range(0, len(copies), COPIES_PER_STATEMENT), f"Copying {size} memories"):
        part = {"copies": copies[first : first + COPIES_PER_STATEMENT]}
        await gm.graph.execute(statement("copies_create"), part, reads=False, seconds=WAIT)
    await gm.graph.execute(statement("indexes_await"), {}, reads=True, seconds=WAIT)

    async def search(question: str) -> None:
        (vector,) = await gm.embedder.embed([question])
        words = " ".join(query_words(Doc(question)))
        params = {"vector": vector.tolist(), "words": words, "limit": SERVER_CANDIDATES}
        await gm.graph.execute(statement("copies_find"), params, reads=True)

    return await _timed("neo4j_", size, search, material.questions)


async def _timed(name: str, size: int, ask: Callable[[str], Awaitable[None]], questions: Sequence[str]) -> Figures:
    """p50 and p95 of an answer, the first few left out."""
    seconds = []
    for question in tracked(questions, f"Asking {size} memories"):
        start = perf_counter()
        await ask(question)
        seconds.append(perf_counter() - start)
        # Lets the progress and whatever waits in the background have its turn outside the measured time.
        await asyncio.sleep(0)
    counted = seconds[SCALE_WARM_UP:] if len(seconds) > SCALE_WARM_UP else seconds
    return {
        f"{name}p50_ms@{size}": 1000 * median(counted),
        f"{name}p95_ms@{size}": 1000 * float(np.percentile(counted, 95)),
    }


def varied(material: Material, size: int) -> tuple[list[str], Matrix]:
    """As many different texts as wanted: the sentences, then two of them each; with vectors of length 1.

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
    firsts, seconds = [i for i, _ in chosen], [j for _, j in chosen]
    mixed = material.vectors[firsts] + material.vectors[seconds]
    mixed += chance.normal(0.0, NOISE, mixed.shape)
    vectors = np.concatenate([material.vectors[:size], mixed])
    unit: Matrix = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return texts, unit


def made_memories(session: Session, material: Material, size: int) -> list[LoadedMemory]:
    """Memories of a student, a hundred a day."""
    texts, vectors = varied(material, size)
    return [_memory(session, i, text, vector) for i, (text, vector) in enumerate(zip(texts, vectors, strict=True))]


def _memory(session: Session, number: int, text: str, vector: Vector) -> LoadedMemory:
    at = SCALE_FIRST_DAY + timedelta(days=number // A_DAY, seconds=20 * (number % A_DAY))
    memory = replace(
        bench_memory(f"memory-bench-{number}", at, (f"bench-{number}",)),
        content=text,
        gravity=1.0,
        last_accessed=at,
        source_kind=SourceKind.SYSTEM,
        content_hash=keyed_hash(session.keys, "content", f"bench {number}"),
    )
    return LoadedMemory(memory, vector)


def scale_sentences(file: Path | None) -> list[str]:
    """Different sentences in an order that mixes who said them, the same each time."""
    if file is None:
        said = {text for s in read_situations() for text in (s.asked, s.before, s.answer)}
    else:
        said = {turn["text"] for _, row in read_rows(file) for turn in row.get("turns", ()) if "text" in turn}
    texts = sorted(text for text in said if text.strip())
    np.random.default_rng(SCALE_SEED).shuffle(texts)
    return texts


def bench_memory(memory_id: str, at: datetime, source_refs: tuple[str, ...]) -> Memory:
    """A memory of a benchmark, with nothing particular about it."""
    return Memory(
        id=memory_id,
        modality=Modality.EPISODIC,
        kind=MemoryKind.EPISODE,
        domain=Domain.SCHOOL,
        content=None,
        speaker=None,
        before=None,
        gravity=0.5,
        salience=0.5,
        confidence=0.7,
        strength=0.5,
        valence=0.0,
        timestamp=at,
        last_accessed=at,
        access_count=0,
        reliability=Reliability.RELIABLE,
        reinforcement_count=0,
        last_reinforced_at=None,
        source_kind=SourceKind.CHAT,
        source_refs=source_refs,
        snr=300,
        passes=1,
        importance=0.5,
        surprise=None,
        surprise_level=None,
        flashbulb=False,
        valid_at=at,
        invalid_at=None,
        slot_key=None,
        merged_count=0,
        content_hash="",
        consolidated=True,
    )
