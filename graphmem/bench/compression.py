"""Evidence that is left after compression, and agreement and speed of clustering (spec 13, Measured by).

Each talk is asked about as it is, and compressed to 50 and to 30 % of its memories. Beside it as many memories are
dropped by lot, oldest first, or by salience, least first (`information`).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.harness import in_process, show_figures
from graphmem.bench.recall import MANY_MEMORIES, observed, shown_memories
from graphmem.bench.talks import Talk, read_talks, share_found
from graphmem.errors import InvalidInput
from graphmem.flows.compression import compress
from graphmem.flows.context import recall
from graphmem.maths.clustering import spectral_clusters
from graphmem.model import Memory
from graphmem.progress import tracked
from graphmem.settings import Settings

PERCENTS = (50, 30)
"""Percent of the memories that are left."""
FOUND, WIDELY = 10, 100
NODES, PLANTED = 5_000, 50
"""Graph on which clustering is compared with scikit-learn's."""
INSIDE, ACROSS = 7.0, 2.0
"""Edges of a node within its planted cluster, and to any other."""
SEED = 0
DROPPED: Mapping[str, Callable[[Sequence[Memory]], Sequence[Memory]]] = {
    "random": lambda held: [held[i] for i in np.random.default_rng(SEED).permutation(len(held))],
    "oldest_first": lambda held: sorted(held, key=lambda memory: memory.timestamp, reverse=True),
    "information": lambda held: sorted(held, key=lambda memory: -memory.salience),
}
"""Orders by which memories are kept where they are dropped instead: the first ones stay (spec 13)."""


def measure_compression(settings: Settings, file: Path | None) -> Figures:
    """Measure evidence recall after compression as a share of the recall before, and clustering.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : JSON lines of talks with questions (LoCoMo); without one only clustering is measured

    Returns
    -------
    `kept@50`, `kept@30` (recall@10), `kept_tokens@50`, `kept_tokens@30`, `random@50` and the like: shares of the
    figures without compression; `ari` (beside planted clusters), `seconds`, `sklearn_ari`, `sklearn_seconds`

    Raises
    ------
    InvalidInput    there is no question with evidence in the file
    """
    figures = show_figures(_clustering())
    if file is None:
        return figures
    talks = [talk for talk in read_talks(file) if talk.questions]
    if not talks:
        raise InvalidInput("There is no question with evidence in this file.")

    async def compressed(gm: Graphmem) -> list[dict[str, float]]:
        return [asked for talk in talks for asked in await _of_talk(gm, talk)]

    asked = in_process(settings, compressed, memories_limit=MANY_MEMORIES)
    found = {key: fmean(each[key] for each in asked) for key in asked[0]}
    for share in PERCENTS:
        figures[f"kept@{share}"] = found[f"recall@{share}"] / found["recall"]
        figures[f"kept_tokens@{share}"] = found[f"tokens@{share}"] / found["tokens"]
        figures |= {f"{name}@{share}": found[f"{name}@{share}"] / found["recall"] for name in DROPPED}
    return figures | {"recall@10": found["recall"], "recall_1000_tokens": found["tokens"], "questions": len(asked)}


async def _of_talk(gm: Graphmem, talk: Talk) -> list[dict[str, float]]:
    """Compute shares of evidence found for each question of a talk, by treatment of the memories."""
    student = await observed(gm, talk)
    held = await student.memories()
    kept = {
        f"{name}@{share}": {memory.id for memory in order(held)[: len(held) * share // 100]}
        for name, order in DROPPED.items()
        for share in PERCENTS
    }
    asked = [dict[str, float]() for _ in talk.questions]
    turns = {turn.ref: turn for turn in talk.turns}
    for share in (None, *PERCENTS):
        suffix = "" if share is None else f"@{share}"
        if share is not None:
            await compress(gm, student.session, to=max(1, len(held) * share // 100))
        for question, shares in tracked(zip(talk.questions, asked, strict=True), f"{talk.id}{suffix}"):
            found = await recall(gm, student.session, question.text, WIDELY)
            shares[f"recall{suffix}"] = share_found(question, turns, found[:FOUND])
            shares[f"tokens{suffix}"] = share_found(question, turns, await shown_memories(student, question.text))
            for name, ids in kept.items() if share is None else ():
                left = [each for each in found if each.memory.id in ids]
                shares[name] = share_found(question, turns, left[:FOUND])
        show_figures({f"{talk.id} recall{suffix}": fmean(shares[f"recall{suffix}"] for shares in asked)})
    await student.end()
    return asked


def _clustering() -> Figures:
    """Clusters of a planted graph: how well they are found, and how fast."""
    weights, planted = planted_graph(NODES, PLANTED)
    theirs, figures = SpectralClustering(PLANTED, affinity="precomputed", random_state=SEED), Figures()
    ours = partial(spectral_clusters, seed=SEED, clusters=PLANTED)
    for prefix, cluster in (("", ours), ("sklearn_", theirs.fit_predict)):
        start = perf_counter()
        found = cluster(weights)
        seconds = perf_counter() - start
        figures |= {f"{prefix}seconds": seconds, f"{prefix}ari": float(adjusted_rand_score(planted, found))}
    return figures


def planted_graph(nodes: int, clusters: int) -> tuple[csr_array, NDArray[np.intp]]:
    """Make a graph with planted clusters, average degree 9; return its weights and the cluster of each node."""
    rng = np.random.default_rng(SEED)
    cluster = np.arange(nodes) % clusters
    within, across = round(nodes * INSIDE / 2), round(nodes * ACROSS / 2)
    first = rng.integers(0, nodes, within)
    second = (first + clusters * rng.integers(1, nodes // clusters, within)) % nodes
    rows = np.concatenate([first, rng.integers(0, nodes, across)])
    columns = np.concatenate([second, rng.integers(0, nodes, across)])
    own = rows != columns
    rows, columns = rows[own], columns[own]
    placed = (np.concatenate([rows, columns]), np.concatenate([columns, rows]))
    weights = csr_array((np.ones(2 * len(rows)), placed), shape=(nodes, nodes))
    weights.data[:] = 1.0
    # scikit-learn takes 32-bit indices only.
    weights.indices, weights.indptr = weights.indices.astype(np.int32), weights.indptr.astype(np.int32)
    return weights, cluster
