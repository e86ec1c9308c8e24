"""Clusters, summaries and plans of compression: pure, so that they are tried on anything (spec 13)."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import adjusted_rand_score

from graphmem.flows import compression
from graphmem.flows.compression import (
    MOST_TOGETHER,
    CompressionPlan,
    MemoryGraph,
    divided,
    entropy,
    losses,
    planned_compression,
    protected_ids,
    target_of,
)
from graphmem.maths.clustering import inside_shares, spectral_clusters
from graphmem.model import Edge, EdgeType, SourceKind
from graphmem.text.summary import DIGEST_CHARACTERS, summarised
from tests.support.memories import NOW, memory

LONG_AGO = NOW - timedelta(days=90)
WORDS = st.sampled_from(["otter", "Lisbon", "seven", "maths", "fear", "Ottilie", "12", "runs", "hates", "old"])
STATEMENT = st.lists(WORDS, min_size=1, max_size=8).map(lambda words: f"Ann {' '.join(words)}.")
STATEMENTS = st.lists(STATEMENT, min_size=1, max_size=8)


def planted(clusters: int, size: int, seed: int) -> tuple[csr_array, np.ndarray]:
    """A graph of dense groups with few edges between them, and the group of each node."""
    rng, n = np.random.default_rng(seed), clusters * size
    group = np.arange(n) % clusters
    chance = np.where(group[:, np.newaxis] == group, 0.6, 0.01)
    upper = np.triu(rng.random((n, n)) < chance, 1)
    return csr_array((upper + upper.T).astype(float)), group


def graph_of(n: int, topics: int, seed: int = 0, **changes: object) -> MemoryGraph:
    """Faded memories of some topics, with vectors near their topic's."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((topics, 64))
    vectors = centres[np.arange(n) % topics] + 0.5 * rng.standard_normal((n, 64))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    known = tuple(
        memory(f"m{i}", f"Thing {i}.", timestamp=LONG_AGO + timedelta(minutes=i), last_accessed=LONG_AGO, **changes)
        for i in range(n)
    )
    return MemoryGraph(known, vectors.astype(np.float32), ())


def left(graph: MemoryGraph, plan: CompressionPlan) -> int:
    return len(graph.memories) - len(plan.pruned) - sum(len(c) - 1 for c in plan.clusters)


@pytest.mark.parametrize("clusters", [3, 8, 15])
def test_planted_groups_are_found_with_and_without_their_number(clusters: int) -> None:
    weights, group = planted(clusters, 20, clusters)
    for known in (clusters, None):
        assert adjusted_rand_score(group, spectral_clusters(weights, 0, known)) > 0.95


def test_the_same_seed_gives_the_same_clusters() -> None:
    weights, _ = planted(12, 25, 1)
    assert np.array_equal(spectral_clusters(weights, 5), spectral_clusters(weights, 5))


@settings(max_examples=30)
@given(st.integers(1, 40), st.floats(0, 0.4), st.integers(0, 99))
def test_clusters_never_cross_components_and_shares_lie_between_0_and_1(n: int, density: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    weights = csr_array(upper + upper.T)
    labels = spectral_clusters(weights, seed)
    assert sorted(set(labels.tolist())) == list(range(labels.max() + 1))
    component = connected_components(weights, directed=False)[1]
    for cluster in set(labels.tolist()):
        assert len(set(component[labels == cluster].tolist())) == 1
    shares = inside_shares(weights, labels)
    assert ((shares >= 0) & (shares <= 1 + 1e-9)).all()


def test_what_is_not_symmetric_is_refused() -> None:
    with pytest.raises(ValueError, match="symmetric"):
        spectral_clusters(csr_array(np.array([[0.0, 1.0], [0.0, 0.0]])), 0)


@given(st.lists(st.floats(0, 100), max_size=30))
def test_entropy_is_at_most_that_of_equal_shares(masses: list[float]) -> None:
    positive = sum(m > 0 for m in masses)
    assert 0.0 <= entropy(masses) <= np.log2(max(1, positive)) + 1e-9


@given(st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=6))
def test_summary_adds_nothing_and_is_bounded(statements: list[str]) -> None:
    digest = summarised(statements)
    assert len(digest.text) <= DIGEST_CHARACTERS
    assert digest.says
    assert all(0 <= place < len(statements) for place in digest.says)


def test_summary_keeps_what_is_rare_and_leaves_out_what_is_said_elsewhere() -> None:
    told = ["I have a turtle.", "my turtle is called Leonardo and he is 40", "ok", "grandma knits submarines"]
    assert summarised(told).says == (1, 3)


@pytest.mark.parametrize("target", [150, 90, 40])
def test_a_plan_reaches_its_target_and_loses_no_more_than_need_be(target: int) -> None:
    graph = graph_of(200, 20)
    plan = planned_compression(graph, frozenset(), target, NOW)
    assert left(graph, plan) == target
    assert plan == planned_compression(graph, frozenset(), target, NOW)
    assert all(len(cluster) <= MOST_TOGETHER for cluster in plan.clusters)
    gone = {i for i, _ in plan.pruned}
    members = [m.id for cluster in plan.clusters for m in cluster]
    assert len(members) == len(set(members))
    assert gone.isdisjoint(members)
    assert all(heir is None or heir not in gone for _, heir in plan.pruned)


def test_below_the_target_nothing_is_done() -> None:
    plan = planned_compression(graph_of(50, 5), frozenset(), 50, NOW)
    assert (plan.pruned, plan.clusters, plan.cycles) == ((), (), 0)


def test_what_is_protected_or_present_is_not_touched() -> None:
    graph = graph_of(60, 3)
    protected = {m.id for m in graph.memories[:40]}
    plan = planned_compression(graph, protected, 5, NOW)
    touched = {i for i, _ in plan.pruned} | {m.id for cluster in plan.clusters for m in cluster}
    assert touched
    assert touched.isdisjoint(protected)
    fresh = MemoryGraph(tuple(replace(m, last_accessed=NOW) for m in graph.memories), graph.vectors, ())
    assert planned_compression(fresh, frozenset(), 5, NOW).pruned == ()


def test_nobodys_words_become_anothers() -> None:
    graph = graph_of(40, 2)
    speakers = (None, "Bob")
    mixed = tuple(
        replace(m, speaker=speakers[i % 4 // 2], source_kind=SourceKind.TEACHER if i % 5 == 0 else SourceKind.CHAT)
        for i, m in enumerate(graph.memories)
    )
    plan = planned_compression(MemoryGraph(mixed, graph.vectors, ()), frozenset(), 10, NOW)
    assert plan.clusters
    for cluster in plan.clusters:
        assert len({(m.speaker, m.source_kind) for m in cluster}) == 1


def test_the_standing_of_memories_protects_them() -> None:
    plain = [memory("plain", "A."), memory("slot", "A.", slot_key="home")]
    kept = [
        memory("flash", "A.", flashbulb=True),
        memory("ledger", "A.", in_ledger=True),
        memory("doubt", "A."),
        memory("now", "A.", source_refs=("turn-9",)),
        memory("profile", "A."),
    ]
    assert protected_ids([*plain, *kept], {"doubt"}, {"turn-9"}, {"profile"}) == {m.id for m in kept}


def test_losses_are_what_there_was_less_what_there_is() -> None:
    graph = graph_of(4, 1)
    edge = Edge(EdgeType.RELATES_TO, 0.5, "m0", "m1", "Memory", NOW)
    before = MemoryGraph(graph.memories, graph.vectors, (edge,))
    (lost,) = [loss for loss in losses(before, graph.memories[1:], [], NOW) if loss.nodes]
    assert (lost.nodes, lost.edge_weight) == (1, 0.5)
    assert lost.gravity > 0
    assert all(loss.nodes == 0 for loss in losses(before, graph.memories, [edge], NOW))


def test_the_target_is_a_golden_share_of_the_limit() -> None:
    assert (target_of(1000), target_of(1000, 50)) == (618, 50)


# Large graphs


def test_parts_of_a_graph_are_bounded_and_cut_little() -> None:
    weights, group = planted(12, 40, 1)
    alone, whole_graph = [1] * len(group), np.zeros(len(group), dtype=np.intp)
    parts = divided(weights, whole_graph, alone, 100, 0)
    assert np.bincount(parts).max() <= 100
    assert sorted(np.unique(parts)) == list(range(int(parts.max()) + 1))
    # A planted group lies nearly whole in one part.
    whole = [np.bincount(parts[group == each]).max() / 40 for each in range(12)]
    assert np.mean(whole) > 0.9
    assert (parts == divided(weights, whole_graph, alone, 100, 0)).all()


def test_a_large_graph_is_planned_as_well_as_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(600, 40)
    whole = planned_compression(graph, frozenset(), 300, NOW)
    monkeypatch.setattr(compression, "LARGE", 200)
    parts = planned_compression(graph, frozenset(), 300, NOW)
    assert left(graph, whole) == left(graph, parts) == 300

    def of_one_topic(plan: CompressionPlan) -> float:
        return float(np.mean([len({int(m.id[1:]) % 40 for m in cluster}) == 1 for cluster in plan.clusters]))

    assert len(parts.clusters) > 0.8 * len(whole.clusters)
    assert of_one_topic(parts) >= of_one_topic(whole) - 0.1


def test_one_compression_lets_a_bounded_number_go(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(300, 20)
    monkeypatch.setattr(compression, "MOST_GONE", 100)
    assert left(graph, planned_compression(graph, frozenset(), 30, NOW)) == 200
