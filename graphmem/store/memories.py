"""Memories in the graph: what recall and people read, and how they fade (spec 2, 9, 10)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from graphmem.model import (
    Domain,
    Edge,
    EdgeType,
    EntityKind,
    Level,
    Memory,
    MemoryKind,
    Modality,
    NamedEntity,
    Reliability,
    Session,
    Source,
    SourceKind,
    Vector,
    Who,
)
from graphmem.store.graph import Graph, Row
from graphmem.store.rows import Place, from_ms, vector_bytes

PAGE = 5000
"""Memories read at once when a student's memories are taken into memory."""


@dataclass(frozen=True)
class Standing:
    """What of a memory changes with every use: read anew where it counts."""

    gravity: float
    last_accessed: datetime
    access_count: int
    reliability: Reliability


@dataclass(frozen=True)
class Reached:
    """A memory found along edges: from which seed, the product of the weights, the types on the way."""

    id: str
    seed: str
    weight: float
    types: tuple[str, ...]


@dataclass(frozen=True)
class Expansion:
    """How found memories stand, and what hangs together with them, as of a version of the memories."""

    version: int
    found: dict[str, Standing]
    reached: tuple[Reached, ...]


@dataclass(frozen=True)
class MemoriesState:
    """Version of a student's memories, and when some were last removed."""

    version: int
    removed: int


@dataclass(frozen=True)
class Held:
    """A memory as it is taken into memory; without a vector where the embedding model was changed."""

    memory: Memory
    vector: Vector | None = field(repr=False)


def label_of(modality: Modality) -> str:
    """The label of a memory's node.

    Examples
    --------
    >>> label_of(Modality.EPISODIC)
    'Episodic'
    """
    return modality.value.capitalize()


async def state(graph: Graph, session: Session, now: datetime) -> MemoriesState | None:
    """Version of the memories, and when some were last removed; `memory/get_state`.

    None when the session has ended.
    """
    rows = await graph.run("memory/get_state", session, session_id=session.session_id, now=now)
    if not rows:
        return None
    (row,) = rows
    return MemoriesState(row["version"], row["removed"])


async def list_since(graph: Graph, session: Session, since: int) -> list[Held]:
    """Every memory written after a version, opened; `memory/list`."""
    found: list[Held] = []
    after = ""
    while True:
        (row,) = await graph.run("memory/list", session, since=since, after=after, limit=PAGE)
        found += [_held(session, *each) for each in row["memories"]]
        if len(row["memories"]) < PAGE:
            return found
        after = found[-1].memory.id


async def expand(
    graph: Graph,
    session: Session,
    ids: Sequence[str],
    seeds: Sequence[str],
    min_weight: float,
    limit: int,
    now: datetime,
) -> Expansion | None:
    """How some memories stand, and what the seeds among them lead to; `memory/expand`.

    None when the session has ended, which another process may have done.
    """
    rows = await graph.run(
        "memory/expand",
        session,
        session_id=session.session_id,
        ids=list(ids),
        seeds=list(seeds),
        min_weight=min_weight,
        limit=limit,
        now=now,
    )
    if not rows:
        return None
    (row,) = rows
    return Expansion(
        version=row["version"],
        found={
            memory_id: Standing(gravity, from_ms(accessed), count, Reliability(reliability))
            for memory_id, gravity, accessed, count, reliability in [
                *row["found"],
                *([each[0], *each[4:]] for each in row["reached"]),
            ]
        },
        reached=tuple(Reached(each[0], each[1], each[2], tuple(each[3])) for each in row["reached"]),
    )


async def find(graph: Graph, who: Who, ids: Sequence[str], session: Session | None) -> list[Memory]:
    """Some memories by id, opened where there is a session; unknown ids are left out; `memory/find`."""
    (row,) = await graph.run("memory/find", who, ids=list(ids))
    return _opened(row["memories"], session)


@dataclass(frozen=True)
class Filter:
    """Which memories to list; None means any."""

    modality: Modality | None = None
    kind: MemoryKind | None = None
    reliability: Reliability | None = None
    min_gravity: float = 0.0
    as_of: datetime | None = None


async def page(
    graph: Graph,
    who: Who,
    wanted: Filter,
    after: tuple[datetime, str] | None,
    first: int,
    now: datetime,
    session: Session | None,
) -> tuple[int, list[Memory]]:
    """How many memories a filter lets through, and a page of them, newest first; `memory/list_page`."""
    (row,) = await graph.run(
        "memory/list_page",
        who,
        label=None if wanted.modality is None else label_of(wanted.modality),
        kind=None if wanted.kind is None else wanted.kind.value,
        reliability=None if wanted.reliability is None else wanted.reliability.value,
        min_gravity=wanted.min_gravity,
        as_of=wanted.as_of,
        now=now,
        before_time=None if after is None else after[0],
        before_id=None if after is None else after[1],
        limit=first,
    )
    return row["total"], _opened(row["memories"], session)


async def around(
    graph: Graph, who: Who, memory_id: str, hops: int, min_weight: float, limit: int, session: Session | None
) -> tuple[list[Memory], list[Edge]] | None:
    """A memory's neighbourhood, nearest first, and its edges; `memory/list_around`. None without the memory."""
    rows = await graph.run("memory/list_around", who, id=memory_id, hops=hops, min_weight=min_weight, limit=limit)
    if not rows:
        return None
    return _opened(rows[0]["memories"], session), [_opened_edge(*e) for e in rows[0]["edges"]]


async def list_edges(graph: Graph, who: Who, ids: Sequence[str]) -> dict[str, list[Edge]]:
    """The edges of some memories by the memory's id, strongest first; `memory/list_edges`.

    Every id asked for is a key; one that is not known has no edges.
    """
    (row,) = await graph.run("memory/list_edges", who, ids=list(dict.fromkeys(ids)))
    found: dict[str, list[Edge]] = {memory_id: [] for memory_id in ids}
    for memory_id, *edge in row["edges"]:
        found[memory_id].append(_opened_edge(*edge))
    return found


async def list_sources(graph: Graph, who: Who, ids: Sequence[str]) -> dict[str, list[Source]]:
    """The sources of some memories by the memory's id, oldest first; `memory/list_sources`.

    Every id asked for is a key; one that is not known has no sources.
    """
    (row,) = await graph.run("memory/list_sources", who, ids=list(dict.fromkeys(ids)))
    found: dict[str, list[Source]] = {memory_id: [] for memory_id in ids}
    for memory_id, source_id, kind, ref, at in row["sources"]:
        found[memory_id].append(Source(source_id, SourceKind(kind), ref, from_ms(at)))
    return found


async def list_entities(
    graph: Graph, who: Who, ids: Sequence[str], session: Session | None
) -> dict[str, list[NamedEntity]]:
    """The entities that some memories speak of, by the memory's id; `memory/list_entities`.

    Every id asked for is a key. Names are opened where there is a session.
    """
    (row,) = await graph.run("memory/list_entities", who, ids=list(dict.fromkeys(ids)))
    found: dict[str, list[NamedEntity]] = {memory_id: [] for memory_id in ids}
    for memory_id, entity_id, kind, sealed in row["entities"]:
        name = None if session is None else Place(session.keys, session, entity_id).text("name", sealed)
        found[memory_id].append(NamedEntity(entity_id, EntityKind(kind), name))
    return found


async def list_spanless(graph: Graph, who: Who) -> list[str]:
    """Ids of memories that name no place in any source; `memory/list_spanless`."""
    (row,) = await graph.run("memory/list_spanless", who)
    return list(row["ids"])


async def set_vectors(graph: Graph, session: Session, vectors: dict[str, Vector]) -> None:
    """Give memories their embeddings again after the model was changed; `memory/set_vectors`."""
    sealed = [
        {"id": i, "embedding": Place(session.keys, session, i).seal("embedding", vector_bytes(v))}
        for i, v in vectors.items()
    ]
    await graph.run("memory/set_vectors", session, vectors=sealed)


async def decay(graph: Graph, who: Who, now: datetime) -> tuple[int, int]:
    """Materialise every gravity and delete what has faded and is not relied on; `memory/decay`.

    How many memories there were and how many were deleted.
    """
    rows = await graph.run("memory/decay", who, now=now)
    return (rows[0]["decayed"], rows[0]["deleted"]) if rows else (0, 0)


def _held(session: Session, row: Row, label: str, refs: list[str]) -> Held:
    sealed = row.get("embedding")
    vector = None if sealed is None else Place(session.keys, session, row["id"]).vector("embedding", sealed)
    return Held(_memory(row, label, refs, session), vector)


def _opened(rows: Sequence[tuple[Row, str, list[str]]], session: Session | None) -> list[Memory]:
    return [_memory(row, label, refs, session) for row, label, refs in rows]


def _memory(row: Row, label: str, refs: list[str], session: Session | None) -> Memory:
    details = {"speaker": None, "before": None}
    content = None
    if session is not None:
        place = Place(session.keys, session, row["id"])
        content, details = place.text("content", row["content"]), place.json("details", row["details"])
    return Memory(
        id=row["id"],
        modality=Modality(label.lower()),
        kind=MemoryKind(row["kind"]),
        domain=Domain(row["domain"]),
        content=content,
        speaker=details["speaker"],
        before=details["before"],
        gravity=row["gravity"],
        salience=row["salience"],
        confidence=row["confidence"],
        strength=row["strength"],
        valence=row["valence"],
        timestamp=from_ms(row["timestamp"]),
        last_accessed=from_ms(row["last_accessed"]),
        access_count=row["access_count"],
        reliability=Reliability(row["reliability"]),
        reinforcement_count=row["reinforcement_count"],
        last_reinforced_at=_maybe_from_ms(row.get("last_reinforced_at")),
        source_kind=SourceKind(row["source_kind"]),
        source_refs=tuple(refs),
        snr=row["snr"],
        passes=row["passes"],
        importance=row["importance"],
        surprise=row.get("surprise"),
        surprise_level=None if row.get("surprise_level") is None else Level(row["surprise_level"]),
        flashbulb=row["flashbulb"],
        valid_at=_maybe_from_ms(row.get("valid_at")),
        invalid_at=_maybe_from_ms(row.get("invalid_at")),
        slot_key=row.get("slot_key"),
        merged_count=row["merged_count"],
        content_hash=row["content_hash"],
        consolidated=row["consolidated"],
        in_ledger=row["in_ledger"],
    )


def _maybe_from_ms(value: int | None) -> datetime | None:
    return None if value is None else from_ms(value)


def _opened_edge(type_: str, weight: float, from_id: str, to_id: str, to_label: str, created_at: int) -> Edge:
    return Edge(EdgeType(type_), weight, from_id, to_id, to_label, from_ms(created_at))
