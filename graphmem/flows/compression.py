"""Compression: read, plan, summarise, write once (spec 13)."""

import asyncio
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

import numpy as np

from graphmem.app import Graphmem
from graphmem.cache import OpenMemories
from graphmem.errors import InvalidInput, Locked, MindError
from graphmem.flows import compression_plan as plan
from graphmem.flows.formation import said_hash
from graphmem.flows.session_cache import ENDED, write_planned
from graphmem.model import (
    Compression,
    CompressionTrigger,
    Digest,
    Edge,
    EdgeType,
    Memory,
    MemoryRole,
    MergedStatement,
    Session,
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
    target, known = plan.target_of(gm.settings.memories_limit, to), _Digests()
    unwritten = list[Compression]()

    async def planned(held: OpenMemories) -> Changes | None:
        now = gm.clock()
        edges = await memories.list_all_edges(gm.graph, session, now)
        if edges is None:
            raise Locked(ENDED)
        graph = await asyncio.to_thread(_graph, held, edges)
        protected = await _protected(gm, session, held, graph, trigger)
        found = await asyncio.to_thread(plan.planned_compression, graph, protected, target, now)
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
    gm: Graphmem, session: Session, held: OpenMemories, graph: plan.MemoryGraph, trigger: CompressionTrigger
) -> frozenset[str]:
    running = [] if trigger is CompressionTrigger.SESSION_END else await turns.list_turns(gm.graph, session)
    doubted = {side for doubt in held.doubts for side in (doubt.a_id, doubt.b_id) if side is not None}
    return plan.protected_ids(graph.memories, doubted, {turn.turn_id for turn in running}, held.parts)


async def list_compressions(gm: Graphmem, who: Who, first: int) -> list[Compression]:
    """Return compressions of a student's memories, newest first.

    Raises
    ------
    InvalidInput    `first` will not do
    """
    checked_count("first", first, PAGE_SIZE)
    return await memories.find_compressions(gm.graph, who, first)


def _graph(held: OpenMemories, edges: Sequence[Edge]) -> plan.MemoryGraph:
    memories = tuple(sorted(held.index.latest(len(held.index)), key=lambda m: (m.timestamp, m.id)))
    vectors = [held.index.vector(m.id) for m in memories]
    matrix = np.stack([v for v in vectors if v is not None]) if memories else np.zeros((0, 1), dtype=np.float32)
    return plan.MemoryGraph(memories, matrix, tuple(edges))


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
    graph: plan.MemoryGraph,
    found: plan.CompressionPlan,
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
        loss=plan.losses(graph, left, edges, now),
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
        modality=_most(m.modality for m in cluster),
        kind=_most(m.kind for m in cluster),
        domain=_most(m.domain for m in cluster),
        content=digest.text,
        before=None,
        quote=words[:QUOTE_CHARACTERS],
        gravity=max(gravity_now(m, now) for m in cluster),
        salience=max(m.salience for m in cluster),
        confidence=min(m.confidence for m in cluster),
        strength=max(m.strength for m in cluster),
        valence=sum(m.valence for m in cluster) / len(cluster),
        importance=max(m.importance for m in cluster),
        snr=max(m.snr for m in cluster),
        passes=max(m.passes for m in cluster),
        last_accessed=max(now, *(m.last_accessed for m in cluster)),
        access_count=sum(m.access_count for m in cluster),
        reinforcement_count=sum(m.reinforcement_count for m in cluster),
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
        for statement in memory.statements or (_merged_statement(memory, own[memory.id]),)
    ]
    order = sorted(range(len(found)), key=lambda i: (found[i][0], -found[i][1].at.timestamp()))[:MOST_STATEMENTS]
    return tuple(found[i][1] for i in sorted(order))


def _merged_statement(memory: Memory, vector: Vector) -> MergedStatement:
    return MergedStatement(
        content=memory.content or "",
        quote=memory.quote,
        at=memory.timestamp,
        modality=memory.modality,
        kind=memory.kind,
        aspect=memory.aspect,
        valence=memory.valence,
        slot_key=memory.slot_key,
        content_hash=memory.content_hash,
        source_ref=memory.source_refs[-1] if memory.source_refs else "",
        vector=vector,
    )


def _most(values: Iterable[T]) -> T:
    """Return the commonest value, of equally common ones the first."""
    return Counter(values).most_common(1)[0][0]
