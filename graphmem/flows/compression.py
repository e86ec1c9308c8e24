"""Compression: plan what to prune and to merge, summarise, write once (spec 13).

Memory is topology: merged memories keep their sources, links and words; a pruned one leaves its sources and strongest
links to its nearest neighbour.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.special import entr

from graphmem.app import Graphmem
from graphmem.cache import OpenMemories
from graphmem.errors import InvalidInput, Locked, MindError
from graphmem.flows.ending import as_statement
from graphmem.flows.formation import said_hash
from graphmem.flows.session_cache import ENDED, write_planned
from graphmem.maths.clustering import Labels, inside_shares, spectral_clusters
from graphmem.model import (
    Compression,
    CompressionTrigger,
    Digest,
    Edge,
    EdgeType,
    Matrix,
    Memory,
    MemoryRole,
    MergedStatement,
    Modality,
    ModalityLoss,
    Reliability,
    Session,
    SourceKind,
    Summarise,
    Usage,
    Vector,
    Who,
)
from graphmem.sealing import keyed_hash
from graphmem.search.scoring import gravity_now
from graphmem.store import memories, turns
from graphmem.store.changes import Absorbed, Changes, Compressed, Deleted, New, NewEdge
from graphmem.validation import PAGE_SIZE, checked_count

GOLDEN = 0.618
"""Share of the limit that a compression aims at, and of a cluster's edge weight that must stay inside to merge it."""
FADED = 0.382
"""Gravity below which a memory may be pruned."""
MOST_CYCLES = 3
"""Cycles are repeated while fewer than 2.618 were run."""
PRUNED_SHARE = 0.25
"""Share of a cycle's reduction that is pruned before clusters are merged, so that most is kept by merging."""
MOST_TOGETHER = 8
"""Most memories that one summary is made of: more could not be said in a few sentences."""
MEANING_NEIGHBOURS = 5
"""Nearest memories in meaning that each is linked to while clusters are looked for."""
LIKE = 0.3
"""Cosine from which a memory counts as a neighbour in meaning."""
MOST_LOOKED_AT = 100_000
"""Memories that one compression looks at, the oldest first; more wait for the next one."""
MOST_GONE = 20_000
"""Most memories by which one compression makes them fewer, in one transaction; more wait for the next one."""
LARGE = 5_000
"""Most memories that are compressed together; more are split by time."""
LINK_WEIGHTS: Mapping[EdgeType, float] = {
    EdgeType.CONTRADICTS: 0.0,
    EdgeType.TEMPORAL_EVOLUTION: 0.0,
    EdgeType.PRECEDES: 0.3,
    EdgeType.ABSTRACTS: 0.3,
}
"""How much an edge ties two memories together, relative to the others; what denies or ended the other does not."""
T = TypeVar("T")
PRUNED_LINKS = 3
"""Links that a pruned memory leaves to its nearest neighbour, the strongest."""
GROUPS_AT_ONCE = 8
"""Groups of memories that a mind summarises in one question."""
MODEL_QUESTIONS = 6
"""Most questions that one compression asks a language model; rules summarise the remaining clusters."""
MOST_STATEMENTS = 12
"""Most statements that a summary holds so that they can be said again or ended: those it says, then the newest."""
QUOTE_CHARACTERS = 4_000
"""Most characters of the words that a summary keeps."""


@dataclass(frozen=True)
class MemoryGraph:
    """A student's memories with their vectors, of shape (n, dimension), and the edges between them."""

    memories: tuple[Memory, ...]
    vectors: Matrix = field(repr=False)
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class CompressionPlan:
    """Plan of a compression.

    pruned : ids of memories that go, each with the memory (or cluster, by its first id) that takes over its links; None
        where nothing is near
    clusters : memories that become one summary, oldest first, each with the number of memories it stood for
    """

    pruned: tuple[tuple[str, str | None], ...]
    clusters: tuple[tuple[Memory, ...], ...]
    cycles: int


def target_of(limit: int, wanted: int | None = None) -> int:
    """Return the number of memories that a compression aims at.

    Examples
    --------
    >>> target_of(1000), target_of(1000, 300)
    (618, 300)
    """
    return round(GOLDEN * limit) if wanted is None else wanted


def protected_ids(
    memories: Iterable[Memory], doubted: Collection[str], running: Collection[str], standing: Collection[str]
) -> frozenset[str]:
    """Return memories that are never touched.

    Parameters
    ----------
    memories : of the student
    doubted : sides of open uncertainties
    running : source refs of the running session
    standing : memories of the standing profile

    Notes
    -----
    Beside what spec 13 names, the standing profile, which is shown as it stands, and what others are made of.
    """
    return frozenset(
        m.id
        for m in memories
        if m.flashbulb
        or m.in_ledger
        or m.id in doubted
        or m.id in standing
        or not set(m.source_refs).isdisjoint(running)
        or m.role in (MemoryRole.EPISODE, MemoryRole.PROCEDURE)
    )


def planned_compression(
    graph: MemoryGraph, protected: Collection[str], target: int, now: datetime, seed: int = 0
) -> CompressionPlan:
    """Return what to prune and to merge so that at most `target` memories are left, as far as that may be.

    Parameters
    ----------
    graph : MemoryGraph
    protected : ids of memories that are not touched
    target : int, 0 or more
    now : datetime
    seed : int; the same graph, seed and moment give the same plan

    Source: spec 13.
    """
    order = sorted(
        (i for i, m in enumerate(graph.memories) if m.id not in protected),
        key=lambda i: (graph.memories[i].timestamp, graph.memories[i].id),
    )[:MOST_LOOKED_AT]
    left = max(target, len(graph.memories) - MOST_GONE) - (len(graph.memories) - len(order))
    size = -(-len(order) // max(1, -(-len(order) // LARGE)))
    plans = []
    for start in range(0, len(order), max(1, size)):
        part = order[start : start + size]
        goal = round(left * (start + len(part)) / len(order)) - round(left * start / len(order))
        plans.append(_planned_part(_State.of(graph, part, now), goal, seed))
    return CompressionPlan(
        pruned=tuple(gone for plan in plans for gone in plan.pruned),
        clusters=tuple(cluster for plan in plans for cluster in plan.clusters),
        cycles=max((plan.cycles for plan in plans), default=0),
    )


def _planned_part(state: "_State", target: int, seed: int) -> CompressionPlan:
    """Return what to prune and to merge of memories of one time."""
    cycles = 0
    while state.count > target and cycles < MOST_CYCLES:
        before, cycles = state.count, cycles + 1
        excess = state.count - target
        state = state.pruned(round(PRUNED_SHARE * excess)) if cycles > 1 or excess > 1 else state
        state = state.merged(state.count - target, seed + cycles)
        if state.count == before:
            break
    return state.pruned(max(0, state.count - target)).plan(cycles)


@dataclass(frozen=True)
class _State:
    """The graph while it is being compressed.

    groups : the memories that each node stands for
    kind : nodes of different kinds are never merged
    worth : what speaks for keeping a node; `faded` where it may be pruned
    links : symmetric, of shape (n, n)
    gone : pruned memories, each with a memory of the node that takes over its links
    """

    groups: tuple[tuple[Memory, ...], ...]
    kind: NDArray[np.intp]
    worth: NDArray[np.float64]
    faded: NDArray[np.bool_]
    vectors: Matrix
    links: csr_array
    gone: tuple[tuple[Memory, Memory | None], ...] = ()

    @classmethod
    def of(cls, graph: MemoryGraph, order: Sequence[int], now: datetime) -> "_State":
        found = [graph.memories[i] for i in order]
        kinds = {key: place for place, key in enumerate(dict.fromkeys(map(_mergeable_kind, found)))}
        gravities = np.array([gravity_now(m, now) for m in found])
        vectors = graph.vectors[list(order)]
        kind = np.array([kinds[_mergeable_kind(m)] for m in found], dtype=np.intp)
        return cls(
            groups=tuple((m,) for m in found),
            kind=kind,
            # Unconsolidated memories go first, then those with the least gravity and information.
            # A summary counts the more, the more memories it stands for.
            worth=np.array(
                [
                    2.0 * m.consolidated + g + m.salience + np.log2(1 + m.merged_count)
                    for m, g in zip(found, gravities, strict=True)
                ]
            ),
            faded=gravities < FADED,
            vectors=vectors,
            links=_link_matrix(found, graph.edges, vectors, kind),
        )

    @property
    def count(self) -> int:
        return len(self.groups)

    def pruned(self, most: int) -> "_State":
        """Without at most so many of the faded memories that are worth least; summaries are never pruned."""
        single = np.array([len(group) == 1 for group in self.groups], dtype=bool)
        may = np.flatnonzero(self.faded & single)
        least = may[np.argsort(self.worth[may], kind="stable")][: max(0, most)]
        if not len(least):
            return self
        stays = np.ones(self.count, dtype=bool)
        stays[least] = False
        gone = [(self.groups[i][0], self._heir(int(i), stays)) for i in least]
        return replace(self._of(np.flatnonzero(stays)), gone=(*self.gone, *gone))

    def _heir(self, node: int, stays: NDArray[np.bool_]) -> Memory | None:
        """Return a memory of the nearest in meaning of those that stay: linked to a node, else of its kind."""
        near = self.links.indices[self.links.indptr[node] : self.links.indptr[node + 1]]
        near = near[stays[near]]
        if not len(near):
            near = np.flatnonzero(stays & (self.kind == self.kind[node]))
        return self.groups[near[np.argmax(self.vectors[near] @ self.vectors[node])]][0] if len(near) else None

    def merged(self, excess: int, seed: int) -> "_State":
        """With the closest clusters made one node each, until so many nodes fewer are left."""
        natural = spectral_clusters(self.links, seed)
        labels = divided(self.links, natural, [len(group) for group in self.groups], MOST_TOGETHER, seed)
        # A part is merged where the cluster that it is a part of holds together.
        shares = np.zeros(int(labels.max(initial=-1)) + 1)
        shares[labels] = inside_shares(self.links, natural)[natural]
        sizes = np.bincount(labels)
        fit = [c for c in np.argsort(-shares, kind="stable") if sizes[c] > 1 and shares[c] >= GOLDEN]
        into, saved = np.arange(self.count, dtype=np.intp), 0
        for cluster in fit:
            if saved >= excess:
                break
            # Of the last cluster no more are taken than need be: nothing is lost that need not be.
            nodes = self._nearest(np.flatnonzero(labels == cluster), excess - saved + 1)
            into[nodes] = nodes[0]
            saved += len(nodes) - 1
        return self._joined(np.unique(into, return_inverse=True)[1].astype(np.intp)) if saved else self

    def _nearest(self, nodes: Labels, most: int) -> Labels:
        """Return at most so many of some nodes, nearest to their mean vector first."""
        middle = self.vectors[nodes].mean(axis=0)
        order = np.argsort(-(self.vectors[nodes] @ middle), kind="stable")
        return np.sort(nodes[order[:most]])

    def _joined(self, into: Labels) -> "_State":
        n = int(into.max()) + 1
        groups: list[list[Memory]] = [[] for _ in range(n)]
        for node, place in enumerate(into):
            groups[place] += self.groups[node]
        joins = csr_array((np.ones(len(into)), (np.arange(len(into)), into)), shape=(len(into), n))
        vectors = joins.T @ self.vectors
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        kind, worth, faded = np.zeros(n, dtype=np.intp), np.zeros(n), np.ones(n, dtype=bool)
        kind[into] = self.kind
        np.maximum.at(worth, into, self.worth)
        np.logical_and.at(faded, into, self.faded)
        links = csr_array(joins.T @ self.links @ joins)
        links = csr_array(links - diags_array(links.diagonal()))
        links.eliminate_zeros()
        return replace(
            self,
            groups=tuple(map(tuple, groups)),
            kind=kind,
            worth=worth,
            faded=faded,
            vectors=np.asarray(vectors, dtype=np.float32),
            links=links,
        )

    def _of(self, nodes: NDArray[np.intp]) -> "_State":
        return replace(
            self,
            groups=tuple(self.groups[i] for i in nodes),
            kind=self.kind[nodes],
            worth=self.worth[nodes],
            faded=self.faded[nodes],
            vectors=self.vectors[nodes],
            links=csr_array(self.links[nodes][:, nodes]),
        )

    def plan(self, cycles: int) -> CompressionPlan:
        """Return the plan of the cycles so far."""
        clusters = tuple(
            tuple(sorted(group, key=lambda m: (m.timestamp, m.id))) for group in self.groups if len(group) > 1
        )
        gone = {m.id: None if heir is None else heir.id for m, heir in self.gone}
        return CompressionPlan(tuple((i, _last_heir(heir, gone)) for i, heir in gone.items()), clusters, cycles)


def _last_heir(heir: str | None, gone: Mapping[str, str | None]) -> str | None:
    """Return the memory that is left in the end, where an heir was pruned later itself."""
    while heir is not None and heir in gone:
        heir = gone[heir]
    return heir


def _mergeable_kind(memory: Memory) -> tuple[object, ...]:
    """Return the key that mergeable memories share: the speaker, the source, and whether they still hold."""
    holds = memory.invalid_at is None and memory.reliability is not Reliability.SUPERSEDED
    return memory.speaker, memory.source_kind is SourceKind.CHAT, memory.source_kind is SourceKind.TEACHER, holds


def _link_matrix(found: Sequence[Memory], edges: Iterable[Edge], vectors: Matrix, kind: NDArray[np.intp]) -> csr_array:
    """Typed edges and nearest neighbours in meaning, as one symmetric array; none between different kinds."""
    place = {memory.id: i for i, memory in enumerate(found)}
    rows, columns, weights = list[int](), list[int](), list[float]()
    for edge in edges:
        a, b = place.get(edge.from_id), place.get(edge.to_id)
        weight = edge.weight * LINK_WEIGHTS.get(edge.type, 1.0)
        if a is not None and b is not None and a != b and kind[a] == kind[b] and weight > 0:
            rows += [a, b]
            columns += [b, a]
            weights += [weight, weight]
    near = _neighbours(vectors, kind)
    links = csr_array((weights, (np.array(rows, int), np.array(columns, int))), shape=near.shape) + near + near.T
    links.eliminate_zeros()
    return links


def _neighbours(vectors: Matrix, kind: NDArray[np.intp]) -> csr_array:
    """Return half the cosines of each node's nearest in meaning, of its own kind."""
    # Imported where it is needed: it takes long.
    from sklearn.neighbors import kneighbors_graph

    links = csr_array((len(vectors), len(vectors)))
    for nodes in (np.flatnonzero(kind == each) for each in np.unique(kind)):
        most = min(MEANING_NEIGHBOURS, len(nodes) - 1)
        if most > 0:
            near = kneighbors_graph(vectors[nodes], most, mode="distance", metric="cosine").tocoo()
            cosines = np.where(near.data <= 1 - LIKE, 1 - near.data, 0.0)
            links += csr_array((cosines / 2, (nodes[near.row], nodes[near.col])), shape=links.shape)
    return links


def divided(links: csr_array, natural: Labels, sizes: Sequence[int], most: int, seed: int) -> Labels:
    """Divide clusters by spectral clustering until none is larger than `most`, counted in `sizes` of the nodes."""
    labels = natural.copy()
    weight, taken = np.asarray(sizes), int(natural.max(initial=-1)) + 1
    waiting = list(range(taken))
    while waiting:
        cluster = waiting.pop()
        nodes = np.flatnonzero(labels == cluster)
        heavy = int(weight[nodes].sum())
        if len(nodes) < 2 or heavy <= most:
            continue
        parts = min(len(nodes), max(2, -(-heavy // most)))
        own = spectral_clusters(csr_array(links[nodes][:, nodes]), seed, parts)
        if own.max() == 0:
            # Nothing divides it: each by itself.
            own = np.arange(len(nodes), dtype=np.intp)
        fresh = np.where(own == 0, cluster, taken + own - 1)
        labels[nodes] = fresh
        waiting += [cluster, *range(taken, taken + int(own.max()))]
        taken += int(own.max())
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def entropy(masses: Sequence[float]) -> float:
    """Shannon entropy of masses taken as shares of their sum, in bits; 0 where there is no mass.

    Parameters
    ----------
    masses : floats, 0 or more

    Source: Shannon (1948); spec 13.

    Examples
    --------
    >>> entropy([1.0, 1.0, 1.0, 1.0]), entropy([5.0]), entropy([])
    (2.0, 0.0, 0.0)
    """
    total = sum(masses)
    return abs(float(entr(np.asarray(masses) / total).sum() / np.log(2))) if total else 0.0


def losses(
    before: MemoryGraph, left: Sequence[Memory], edges: Sequence[Edge], now: datetime
) -> tuple[ModalityLoss, ...]:
    """Return the loss of each modality between a graph and its compressed form.

    Parameters
    ----------
    before : MemoryGraph
    left : memories afterwards
    edges : between them
    now : datetime

    Source: spec 13.
    """
    found = []
    for modality in Modality:
        was = _measures(modality, before.memories, before.edges, now)
        has = _measures(modality, left, edges, now)
        found.append(ModalityLoss(modality, was[0] - has[0], was[1] - has[1], was[2] - has[2], was[3] - has[3]))
    return tuple(found)


def _measures(
    modality: Modality, memories: Iterable[Memory], edges: Iterable[Edge], now: datetime
) -> tuple[int, float, float, float]:
    own = {m.id: gravity_now(m, now) for m in memories if m.modality is modality}
    linked = sum(edge.weight for edge in edges if edge.from_id in own or edge.to_id in own)
    masses = list(own.values())
    return len(own), entropy(masses), sum(masses), linked


async def compress(
    gm: Graphmem,
    session: Session,
    *,
    trigger: CompressionTrigger = CompressionTrigger.MANUAL,
    to: int | None = None,
    preview: bool = False,
) -> Compression:
    """Make a student's memories fewer, so that their structure and evidence stay.

    Parameters
    ----------
    gm : Graphmem
    session : Session, open
    trigger : why it is done
    to : most memories to be left, 1 or more; by default 0.618 of the limit
    preview : nothing is written

    Returns
    -------
    Compression; without an id where nothing was written, since it is a preview or nothing is to be gained

    Raises
    ------
    InvalidInput    `to` will not do
    Locked          the session has ended
    Conflict        memories kept changing; nothing was written

    Source: spec 13.
    """
    if to is not None and to < 1:
        raise InvalidInput("to must be 1 or more.")
    target, known = target_of(gm.settings.memories_limit, to), _Digests()
    unwritten = list[Compression]()

    async def planned(held: OpenMemories) -> Changes | None:
        now = gm.clock()
        edges = await memories.list_all_edges(gm.graph, session, now)
        if edges is None:
            raise Locked(ENDED)
        graph = await asyncio.to_thread(_graph, held, edges)
        protected = await _protected(gm, session, held, graph, trigger)
        found = await asyncio.to_thread(planned_compression, graph, protected, target, now)
        if not preview:
            await known.make(gm, found.clusters, held.name)
        done = await _compression_changes(gm, session, held, graph, found, known, trigger, now)
        if done.of(Deleted) and not preview:
            return done
        (compressed,) = done.of(Compressed)
        unwritten.append(replace(compressed.record, id=None, at=None, integrity_hash=None))
        return None

    # Another process may have written: the plan is made on the newest memories.
    gm.cache.drop_memories(session)
    if await write_planned(gm, session, planned) is None:
        return unwritten[-1]
    gm.drop(session)
    (kept,) = await memories.find_compressions(gm.graph, session, 1)
    return kept


async def _protected(
    gm: Graphmem, session: Session, held: OpenMemories, graph: MemoryGraph, trigger: CompressionTrigger
) -> frozenset[str]:
    running = [] if trigger is CompressionTrigger.SESSION_END else await turns.list_turns(gm.graph, session)
    doubted = {side for doubt in held.doubts for side in (doubt.a_id, doubt.b_id) if side is not None}
    return protected_ids(graph.memories, doubted, {turn.turn_id for turn in running}, held.parts)


async def list_compressions(gm: Graphmem, who: Who, first: int) -> list[Compression]:
    """Return compressions of a student's memories, newest first.

    Raises
    ------
    InvalidInput    `first` will not do
    """
    checked_count("first", first, PAGE_SIZE)
    return await memories.find_compressions(gm.graph, who, first)


def _graph(held: OpenMemories, edges: Sequence[Edge]) -> MemoryGraph:
    memories = tuple(sorted(held.index.latest(len(held.index)), key=lambda m: (m.timestamp, m.id)))
    vectors = [held.index.vector(m.id) for m in memories]
    matrix = np.stack([v for v in vectors if v is not None]) if memories else np.zeros((0, 1), dtype=np.float32)
    return MemoryGraph(memories, matrix, tuple(edges))


class _Digests:
    """Summaries of groups of memories, kept while a compression is planned again, with their usage."""

    def __init__(self) -> None:
        self.usage = Usage()
        self._made: dict[tuple[str, ...], Digest] = {}

    async def make(self, gm: Graphmem, clusters: Sequence[Sequence[Memory]], student: str | None) -> None:
        """Ask for the summaries that are missing."""
        missing = [tuple(cluster) for cluster in clusters if _ids(cluster) not in self._made]
        for first in range(0, len(missing), GROUPS_AT_ONCE):
            groups = tuple(missing[first : first + GROUPS_AT_ONCE])
            mind = gm.mind if first < MODEL_QUESTIONS * GROUPS_AT_ONCE else gm.offline
            try:
                answer = await mind.ask(Summarise(groups, student))
            except MindError as error:
                # `degrade` refuses turns alone: nobody waits for a summary, and it need not be tried again.
                self.usage += error.usage or Usage()
                answer = await gm.offline.ask(Summarise(groups, student))
            self.usage += answer.usage
            self._made |= {_ids(group): digest for group, digest in zip(groups, answer.value, strict=True)}

    def of(self, cluster: Sequence[Memory]) -> Digest:
        """Return the summary of a group; empty where it is not made, since nothing will be written."""
        return self._made.get(_ids(cluster), Digest(""))


def _ids(cluster: Sequence[Memory]) -> tuple[str, ...]:
    return tuple(memory.id for memory in cluster)


async def _compression_changes(
    gm: Graphmem,
    session: Session,
    held: OpenMemories,
    graph: MemoryGraph,
    found: CompressionPlan,
    known: _Digests,
    trigger: CompressionTrigger,
    now: datetime,
) -> Changes:
    """Return everything that a compression writes."""
    digests = [known.of(cluster) for cluster in found.clusters]
    vectors = await gm.embedder.embed([digest.text for digest in digests]) if digests else ()
    own = {memory.id: row for memory, row in zip(graph.memories, graph.vectors, strict=True)}
    new = [
        _summary(session, cluster, digest, vector, own, now)
        for cluster, digest, vector in zip(found.clusters, digests, vectors, strict=True)
    ]
    member_of = {m.id: each.memory.id for each, cluster in zip(new, found.clusters, strict=True) for m in cluster}
    absorbed = [Absorbed(gone, into) for gone, into in member_of.items()]
    absorbed += [Absorbed(gone, member_of.get(heir, heir)) for gone, heir in found.pruned if heir is not None]
    deleted = tuple(dict.fromkeys((*(gone for gone, _ in found.pruned), *member_of)))
    gone = frozenset(deleted)
    left = [m for m in graph.memories if m.id not in gone] + [each.memory for each in new]
    heirs = {each.gone: each.into for each in absorbed}
    edges, passed = _edges_after(graph.edges, heirs, gone, {each for each, _ in found.pruned})
    told = Compression(
        trigger=trigger,
        nodes_before=len(graph.memories),
        nodes_after=len(left),
        edges_before=len(graph.edges),
        edges_after=len(edges),
        pruned=len(found.pruned),
        merged=len(member_of),
        cycles=found.cycles,
        loss=losses(graph, left, edges, now),
        id=f"compression-{held.version}",
        at=now,
        integrity_hash=_integrity_hash(session, left, edges),
    )
    return Changes(
        held.version,
        "compression",
        (*new, *absorbed, *passed, *map(Deleted, deleted), Compressed(told, known.usage)),
    )


def _edges_after(
    edges: Sequence[Edge], heirs: Mapping[str, str], gone: frozenset[str], pruned: Collection[str]
) -> tuple[list[Edge], tuple[NewEdge, ...]]:
    """Return the edges after compression, and the inherited ones among them; of a pruned memory a few."""
    left = dict.fromkeys(pruned, PRUNED_LINKS)
    after: dict[tuple[str, str, EdgeType], Edge] = {}
    new: dict[tuple[str, str, EdgeType], NewEdge] = {}
    for edge in sorted(edges, key=lambda e: (-e.weight, e.from_id, e.to_id, e.type)):
        ends = {edge.from_id, edge.to_id}
        a, b = heirs.get(edge.from_id, edge.from_id), heirs.get(edge.to_id, edge.to_id)
        if a == b or {a, b} & gone or any(left.get(end) == 0 for end in ends):
            continue
        left |= {end: left[end] - 1 for end in ends if end in left}
        key = (a, b, edge.type)
        after.setdefault(key, replace(edge, from_id=a, to_id=b))
        if (a, b) != (edge.from_id, edge.to_id):
            new.setdefault(key, NewEdge(a, b, edge.type, edge.weight))
    return list(after.values()), tuple(new.values())


def _integrity_hash(session: Session, memories: Sequence[Memory], edges: Sequence[Edge]) -> str:
    told = [sorted([m.id, m.content_hash] for m in memories), sorted([e.from_id, e.to_id, e.type.value] for e in edges)]
    return keyed_hash(session.keys, "integrity", json.dumps(told))


def _most(values: Iterable[T]) -> T:
    """Return the commonest value, of equally common ones the first."""
    return Counter(values).most_common(1)[0][0]


SUMMED_UP: Mapping[Callable[[Iterable[Any]], Any], Sequence[str]] = {
    _most: ("modality", "kind", "domain"),
    max: ("salience", "strength", "importance", "snr", "passes"),
    sum: ("access_count", "reinforcement_count"),
}
"""How a summary gets fields of its memories."""


def _summary(
    session: Session,
    cluster: Sequence[Memory],
    digest: Digest,
    vector: Vector,
    own: Mapping[str, Vector],
    now: datetime,
) -> New:
    """Return the memory that stands for some others."""
    last = cluster[-1]
    ids = json.dumps([m.id for m in cluster])
    words = "\n".join(dict.fromkeys(m.quote or m.content or "" for m in cluster))
    memory = replace(
        last,
        id=f"summary-{keyed_hash(session.keys, 'summary', ids)[:16]}",
        content=digest.text,
        before=None,
        quote=words[:QUOTE_CHARACTERS],
        gravity=max(gravity_now(m, now) for m in cluster),
        confidence=min(m.confidence for m in cluster),
        valence=sum(m.valence for m in cluster) / len(cluster),
        last_accessed=max(now, *(m.last_accessed for m in cluster)),
        last_reinforced_at=max((m.last_reinforced_at for m in cluster if m.last_reinforced_at), default=None),
        surprise=max((m.surprise for m in cluster if m.surprise is not None), default=None),
        source_refs=tuple(dict.fromkeys(ref for m in cluster for ref in m.source_refs)),
        valid_at=min((m.valid_at for m in cluster if m.valid_at), default=None),
        content_hash=said_hash(session, last.speaker, ids),
        merged_count=sum(max(1, m.merged_count) for m in cluster),
        consolidated=any(m.consolidated for m in cluster),
        aspect=None,
        role=MemoryRole.SUMMARY,
        slot_key=None,
        statements=merged_statements(cluster, digest.says, own) if last.invalid_at is None else (),
        **{
            name: together(getattr(memory, name) for memory in cluster)
            for together, names in SUMMED_UP.items()
            for name in names
        },
    )
    return New(memory, vector)


def merged_statements(
    cluster: Sequence[Memory], says: Collection[int], own: Mapping[str, Vector]
) -> tuple[MergedStatement, ...]:
    """Return the statements of some memories, as their summary stores them.

    Parameters
    ----------
    cluster : memories, oldest first; of summaries among them their statements
    says : places of the statements that the summary contains
    own : vectors of the memories by id
    """
    found = [
        (place not in says, statement)
        for place, memory in enumerate(cluster)
        for statement in memory.statements or (as_statement(memory, own[memory.id]),)
    ]
    order = sorted(range(len(found)), key=lambda i: (found[i][0], -found[i][1].at.timestamp()))[:MOST_STATEMENTS]
    return tuple(found[i][1] for i in sorted(order))
