"""Time and memory of clustering at 5,000, 20,000 and 100,000 nodes, and of planning a compression (spec 13).

Each size runs in a process of its own, so that its peak of memory is its own.
"""

import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

import numpy as np

from graphmem.bench import Figures
from graphmem.bench.compression import planted_graph, rand_index
from graphmem.bench.ingest import tracked
from graphmem.bench.scale import bench_memory
from graphmem.flows.compression_plan import GOLDEN, MemoryGraph, planned_compression
from graphmem.maths.clustering import spectral_clusters
from graphmem.model import Edge, EdgeType, Memory
from graphmem.settings import Settings

GRAPH_SIZES, PLAN_SIZES = (5_000, 20_000, 100_000), (1_000, 5_000, 20_000, 100_000)
PLANTED_CLUSTERS = 50
TOPIC_SIZE = 20
"""Memories of one topic in a planned graph."""
PLAN_DIMENSION = 384
CLUSTER_SEED = 0
LONG_AGO = datetime(2024, 1, 8, tzinfo=UTC)


def measure_clusters(_: Settings, __: Path | None) -> Figures:
    """By size: seconds, MiB that it takes at most, agreement with the planted clusters; and exponents of growth.

    Returns
    -------
    `cluster_s@N`, `cluster_mib@N`, `cluster_ari@N`, `plan_s@N`, `plan_mib@N`; `cluster_exponent`, `plan_exponent`: of
    seconds by nodes, where edges grow with the nodes
    """
    return cluster_figures(GRAPH_SIZES, PLAN_SIZES)


def cluster_figures(graph_sizes: tuple[int, ...], plan_sizes: tuple[int, ...]) -> Figures:
    """The figures of some sizes."""
    figures: Figures = {}
    works = [(_clustered, size) for size in graph_sizes] + [(_planned, size) for size in plan_sizes]
    for work, size in tracked(works, "Growing graphs"):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            figures |= alone.submit(work, size).result()
    for name, sizes in (("cluster", graph_sizes), ("plan", plan_sizes)):
        if len(sizes) > 1:
            seconds = [figures[f"{name}_s@{size}"] for size in sizes]
            figures[f"{name}_exponent"] = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    return figures


def _peak_mib() -> float:
    """MiB that this process held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def _clustered(nodes: int) -> Figures:
    weights, planted = planted_graph(nodes, PLANTED_CLUSTERS)
    before, start = _peak_mib(), perf_counter()
    found = spectral_clusters(weights, CLUSTER_SEED, PLANTED_CLUSTERS)
    seconds = perf_counter() - start
    return {
        f"cluster_s@{nodes}": seconds,
        f"cluster_mib@{nodes}": _peak_mib() - before,
        f"cluster_ari@{nodes}": rand_index(planted, found),
    }


def _planned(nodes: int) -> Figures:
    graph = _memory_graph(nodes)
    before, start = _peak_mib(), perf_counter()
    planned_compression(graph, frozenset(), round(GOLDEN * nodes), LONG_AGO + timedelta(days=400), CLUSTER_SEED)
    return {f"plan_s@{nodes}": perf_counter() - start, f"plan_mib@{nodes}": _peak_mib() - before}


def _memory_graph(nodes: int) -> MemoryGraph:
    """Faded memories of topics, with vectors near their topic's, each after the one before."""
    chance = np.random.default_rng(CLUSTER_SEED)
    centres = chance.standard_normal((max(1, nodes // TOPIC_SIZE), PLAN_DIMENSION))
    vectors = centres[np.arange(nodes) % len(centres)] + chance.standard_normal((nodes, PLAN_DIMENSION))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    memories = tuple(_memory(i) for i in range(nodes))
    edges = tuple(
        Edge(EdgeType.PRECEDES, 1.0, one.id, other.id, "Memory", LONG_AGO) for one, other in pairwise(memories)
    )
    return MemoryGraph(memories, vectors.astype(np.float32), edges)


def _memory(number: int) -> Memory:
    memory = bench_memory(f"memory-{number}", LONG_AGO + timedelta(minutes=number), (f"ref-{number}",))
    return replace(memory, last_accessed=LONG_AGO, content_hash=f"{number:x}")
