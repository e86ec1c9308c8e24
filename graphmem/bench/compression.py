"""Evidence that is left after compression, and the speed of clustering beside scikit-learn (spec 13, Measured by).

Each talk is asked about as it is, and compressed to 50 and to 30 % of its memories. Beside it as many memories are
dropped by lot, oldest first, by gravity, or by salience, least first (`information`).
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphmem.bench import Figures
from graphmem.bench.datasets import RememberedSource, Talk, read_talks, share_found
from graphmem.bench.harness import Talker, own_database, served
from graphmem.bench.ingest import fresh_student, observe_talk, tracked
from graphmem.bench.recall import ENVIRONMENT
from graphmem.errors import InvalidInput
from graphmem.maths.clustering import spectral_clusters
from graphmem.settings import Settings

PERCENTS = (50, 30)
"""Percent of the memories that are left."""
FOUND, WIDELY, TOKEN_BUDGET = 10, 100, 1000
NODES, PLANTED = 5_000, 50
"""Graph that clustering is timed on."""
INSIDE, ACROSS = 7.0, 2.0
"""Edges of a node within its planted cluster, and to any other."""
SEED = 0
WIDE_QUERY = """
query Wide($student: ID!, $question: String!, $limit: Int!) {
  student(id: $student) {
    recall(query: $question, limit: $limit) { sourceRefs memory { id content quote } }
  }
}"""
BUDGET_QUERY = """
query Budget($student: ID!, $question: String!, $budget: Int!) {
  student(id: $student) {
    context(query: $question, tokenBudget: $budget) { memories { sourceRefs memory { content quote } } }
  }
}"""
ALL_MEMORIES = """
query All($student: ID!, $first: Int!, $after: String) {
  student(id: $student) { memories(first: $first, after: $after) { items { id gravity salience timestamp } next } }
}"""
COMPRESS = "mutation Compress($student: ID!, $to: Int!) { compress(studentId: $student, to: $to) { nodesAfter } }"
Item = dict[str, Any]
Order = Callable[[Sequence[Item]], Sequence[Item]]
DROPPED: Mapping[str, Order] = {
    "random": lambda items: [items[i] for i in np.random.default_rng(SEED).permutation(len(items))],
    "oldest_first": lambda items: sorted(items, key=lambda item: item["timestamp"], reverse=True),
    "gravity": lambda items: sorted(items, key=lambda item: -item["gravity"]),
    "information": lambda items: sorted(items, key=lambda item: -item["salience"]),
}
"""Orders by which memories are kept where they are dropped instead: those that come first stay."""


def measure_compression(settings: Settings, file: Path | None) -> Figures:
    """Evidence recall after compression as a share of what it was before, and speed of clustering.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : JSON lines of talks with questions (LoCoMo); without one only clustering is measured

    Returns
    -------
    `kept@50`, `kept@30` (recall@10), `kept_tokens@50`, `kept_tokens@30`, `random@50` and the like: shares of the
    figures without compression; `ari` (beside planted clusters), `seconds`; `sklearn_ari`, `sklearn_seconds` where
    scikit-learn is installed, which only development needs

    Raises
    ------
    InvalidInput    there is no question with evidence in the file
    """
    figures = _clustering()
    if file is None:
        return figures
    talks = read_talks(file)
    asked: list[dict[str, float]] = []
    with own_database(settings) as own, served(own, **ENVIRONMENT) as port:
        for talk in talks:
            asked += _of_talk(own, port, talk)
    if not asked:
        raise InvalidInput("There is no question with evidence in this file.")
    found = {key: fmean(each[key] for each in asked) for key in asked[0]}
    for share in PERCENTS:
        figures[f"kept@{share}"] = found[f"recall@{share}"] / found["recall"]
        figures[f"kept_tokens@{share}"] = found[f"tokens@{share}"] / found["tokens"]
        figures |= {f"{name}@{share}": found[f"{name}@{share}"] / found["recall"] for name in DROPPED}
    return figures | {"recall@10": found["recall"], "recall_1000_tokens": found["tokens"], "questions": len(asked)}


def _of_talk(settings: Settings, port: int, talk: Talk) -> list[dict[str, float]]:
    """Shares of evidence found for each question of a talk, by what was done to the memories."""
    talker = fresh_student(settings, port, talk.id)
    observe_talk(talker, talk)
    items = _all(talker)
    kept = {
        f"{name}@{share}": {item["id"] for item in order(items)[: len(items) * share // 100]}
        for name, order in DROPPED.items()
        for share in PERCENTS
    }
    asked = [dict[str, float]() for _ in talk.questions]
    turns = {turn.id: turn for turn in talk.turns}
    for question, shares in tracked(list(zip(talk.questions, asked, strict=True)), f"Asking about {talk.id}"):
        found = _recalled(talker, question.text)
        shares["recall"] = share_found(question, turns, _sources(found[:FOUND]))
        shares["tokens"] = share_found(question, turns, _sources(_within_budget(talker, question.text)))
        for name, ids in kept.items():
            left = [item for item in found if item["memory"]["id"] in ids]
            shares[name] = share_found(question, turns, _sources(left[:FOUND]))
    for share in PERCENTS:
        talker.caller.call(COMPRESS, student=talker.student, to=max(1, len(items) * share // 100))
        for question, shares in tracked(list(zip(talk.questions, asked, strict=True)), f"{talk.id} at {share} %"):
            found = _recalled(talker, question.text)
            shares[f"recall@{share}"] = share_found(question, turns, _sources(found[:FOUND]))
            within = _within_budget(talker, question.text)
            shares[f"tokens@{share}"] = share_found(question, turns, _sources(within))
    talker.caller.close()
    return asked


def _all(talker: Talker) -> list[Item]:
    found: list[Item] = []
    after: str | None = None
    while True:
        page = talker.caller.call(ALL_MEMORIES, student=talker.student, first=100, after=after)["memories"]
        found += page["items"]
        after = page["next"]
        if after is None:
            return found


def _recalled(talker: Talker, question: str) -> list[Item]:
    found = talker.caller.call(WIDE_QUERY, student=talker.student, question=question, limit=WIDELY)
    return list(found["recall"])


def _within_budget(talker: Talker, question: str) -> list[Item]:
    found = talker.caller.call(BUDGET_QUERY, student=talker.student, question=question, budget=TOKEN_BUDGET)
    return list(found["context"]["memories"])


def _sources(items: Sequence[Item]) -> list[RememberedSource]:
    return [
        RememberedSource(frozenset(i["sourceRefs"]), f"{i['memory']['content']}\n{i['memory']['quote'] or ''}")
        for i in items
    ]


def _clustering() -> Figures:
    """Clusters of a planted graph: how well they are found, and how fast."""
    weights, planted = planted_graph(NODES, PLANTED)
    start = perf_counter()
    own = spectral_clusters(weights, SEED, PLANTED)
    figures = {"seconds": perf_counter() - start, "ari": rand_index(planted, own)}
    try:
        from sklearn.cluster import SpectralClustering
    except ImportError:
        return figures
    start = perf_counter()
    other = SpectralClustering(PLANTED, affinity="precomputed", random_state=SEED).fit_predict(weights)
    return figures | {"sklearn_seconds": perf_counter() - start, "sklearn_ari": rand_index(planted, other)}


def planted_graph(nodes: int, clusters: int) -> tuple[csr_array, NDArray[np.intp]]:
    """A graph with planted clusters, average degree 9, and the cluster of each node."""
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
    # What scikit-learn takes.
    weights.indices, weights.indptr = weights.indices.astype(np.int32), weights.indptr.astype(np.int32)
    return weights, cluster


def rand_index(one: NDArray[Any], other: NDArray[Any]) -> float:
    """Adjusted Rand index of two partitions (Hubert and Arabie, 1985)."""
    table = np.zeros((int(one.max()) + 1, int(other.max()) + 1))
    np.add.at(table, (one, other), 1)

    def pairs(counts: NDArray[np.float64]) -> float:
        return float((counts * (counts - 1) / 2).sum())

    both, rows, columns = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    expected = rows * columns / pairs(np.array([float(len(one))]))
    return (both - expected) / ((rows + columns) / 2 - expected)
