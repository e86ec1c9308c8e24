"""Memories in the graph: what recall and people read, and how they fade (spec 2, 9, 10)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, cast, get_args, get_type_hints

from graphmem.model import (
    Edge,
    EdgeType,
    EntityKind,
    HeldEdge,
    Memory,
    MemoryKind,
    MergedStatement,
    Modality,
    NamedEntity,
    Reliability,
    Session,
    Source,
    Standing,
    Vector,
    Who,
)
from graphmem.store.graph import Graph, Row
from graphmem.store.rows import LAST, NodeSealer, from_ms, readable
from graphmem.store.sources import opened_source
from graphmem.store.tampering import Damage, only_intact, report

_RELIABILITIES = frozenset(each.value for each in Reliability)
LOAD_PAGE = 5000
"""Memories read at once when a student's memories are taken into memory."""
APART = frozenset(
    {"modality", "content", "speaker", "before", "quote", "original", "slot", "source_refs", "statements"}
)
"""Fields of `Memory` that are no properties of their own: a label, sealed, or edges."""
REINFORCED = (
    "gravity",
    "salience",
    "confidence",
    "strength",
    "importance",
    "last_accessed",
    "reinforcement_count",
    "last_reinforced_at",
)
"""Fields that change when a memory is said again."""


@dataclass(frozen=True)
class MemoriesState:
    """How far what is remembered of a student has come.

    version : of the memories
    removed : the version with which some were last removed
    turns : how many there were; each uses memories
    student_version : of the student, which changes with each turn, too
    fog_versions : of the institution's world and of the student's overlay
    tolerance : of the companion
    name : what the student is called, where it is known
    """

    version: int
    removed: int
    turns: int
    student_version: int
    fog_versions: tuple[int, int]
    tolerance: float
    name: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class LoadedMemory:
    """A memory as it is taken into memory; without a vector where the embedding model was changed."""

    memory: Memory
    vector: Vector | None = field(repr=False)


@dataclass(frozen=True)
class Filter:
    """Which memories to list; None means any."""

    modality: Modality | None = None
    kind: MemoryKind | None = None
    reliability: Reliability | None = None
    min_gravity: float = 0.0
    as_of: datetime | None = None


@dataclass(frozen=True)
class Curve:
    """The forgetting curve by which statements compute gravity at a moment, as `graphmem.maths.gravity` does.

    half_life : days, of a reliable memory
    residue : share of its salience that a memory's gravity never falls below
    speeds : how many times faster than a reliable memory one fades, by reliability
    unconsolidated : how many times faster one fades that is not consolidated
    """

    half_life: float
    residue: float
    speeds: Mapping[Reliability, float]
    unconsolidated: float

    def at(self, now: datetime) -> dict[str, Any]:
        """The parameters of a statement."""
        speeds = {reliability.value: speed for reliability, speed in self.speeds.items()}
        own = {"half_life": self.half_life, "residue": self.residue, "unconsolidated": self.unconsolidated}
        return own | {"speeds": speeds, "now": now}


@dataclass(frozen=True)
class Cut:
    """A page: how many memories at most, and after which time and id."""

    limit: int
    after: tuple[datetime, str] | None = None


@dataclass(frozen=True)
class Moment:
    """A moment, and the forgetting curve that gives each memory's gravity then."""

    now: datetime
    curve: Curve


@dataclass(frozen=True)
class Neighbourhood:
    """A memory and how far around it: hops, the least weight of an edge, the most memories; `as_of` as of `Filter`."""

    id: str
    hops: int
    min_weight: float
    limit: int
    as_of: datetime | None = None


def label_of(modality: Modality) -> str:
    """The label of a memory's node.

    Examples
    --------
    >>> label_of(Modality.EPISODIC)
    'Episodic'
    """
    return modality.value.capitalize()


async def state(graph: Graph, session: Session, now: datetime) -> MemoriesState | None:
    """How far what is remembered has come; `memory/get_state`.

    None when the session has ended, which another process may have done.
    """
    rows = await graph.run("memory/get_state", session, session_id=session.session_id, now=now)
    if not rows:
        return None
    (row,) = rows
    sealed, place, damage = row["name"], NodeSealer(session.keys, session, "Student", "student"), Damage()
    name = None if sealed is None else damage.opened(lambda: place.text("display_name", sealed))
    await report(graph, session, damage)
    return MemoriesState(
        version=row["version"],
        removed=row["removed"],
        turns=row["turns"],
        student_version=row["student_version"],
        fog_versions=(row["world"], row["overlay"]),
        tolerance=row["tolerance"],
        name=name,
    )


async def list_since(graph: Graph, session: Session, since: int) -> list[LoadedMemory]:
    """Every memory written after a version, opened; `memory/list_written`. One that does not open is left out."""
    found: list[LoadedMemory] = []
    after = ""
    while True:
        (row,) = await graph.run("memory/list_written", session, since=since, after=after, limit=LOAD_PAGE)
        if row["ids"]:
            rows = await _rows(graph, session, row["ids"])
            found += await only_intact(graph, session, rows, lambda each: _held(session, *each))
        if len(row["ids"]) < LOAD_PAGE:
            return found
        after = row["ids"][-1]


async def list_linked(
    graph: Graph, session: Session, since: int, min_weight: float
) -> tuple[list[Standing], dict[str, list[HeldEdge]]]:
    """How every memory stands that was written after a version, and its edges of some weight; `memory/list_linked`.

    An edge that is new, changed or gone counts as a write of one of its ends at least.
    """
    standings: list[Standing] = []
    edges: dict[str, list[HeldEdge]] = {}
    while True:
        after = standings[-1].id if standings else ""
        (row,) = await graph.run(
            "memory/list_linked", session, since=since, after=after, min_weight=min_weight, limit=LOAD_PAGE
        )
        for *standing, own in row["memories"]:
            standings.append(_standing(*standing))
            edges[standings[-1].id] = [_held_edge(*edge) for edge in own if edge[-1] in _RELIABILITIES]
        if len(row["memories"]) < LOAD_PAGE:
            return standings, edges


async def list_used(graph: Graph, session: Session, since: datetime) -> list[Standing]:
    """How the memories stand that were used since a moment; `memory/list_used`."""
    (row,) = await graph.run("memory/list_used", session, since=since)
    return [_standing(*standing) for standing in row["memories"]]


def _held_edge(other_id: str, type_: str, outgoing: bool, weight: float, reliability: str) -> HeldEdge:
    return HeldEdge(other_id, type_, outgoing, weight, Reliability(reliability))


def _standing(memory_id: str, gravity: float, last_accessed: int, access_count: int) -> Standing:
    return Standing(memory_id, gravity, from_ms(last_accessed), access_count)


async def find_by_ids(graph: Graph, who: Who, ids: Sequence[str], session: Session | None) -> list[Memory]:
    """Some memories by id, in their order, opened where there is a session; `memory/find`.

    Unknown ids are left out, and so is what does not open.
    """
    rows = await _rows(graph, who, ids)
    return await only_intact(graph, who, rows, lambda each: _memory(*each, session))


async def _rows(graph: Graph, who: Who, ids: Sequence[str]) -> list[tuple[Row, str, list[str]]]:
    (row,) = await graph.run("memory/find", who, ids=list(dict.fromkeys(ids)))
    by_id = {memory["id"]: (memory, label, refs) for memory, label, refs in row["memories"]}
    return [by_id[memory_id] for memory_id in ids if memory_id in by_id]


async def list_memory_page(
    graph: Graph, who: Who, wanted: Filter, when: Moment, cut: Cut, session: Session | None
) -> list[Memory]:
    """A page of the memories that a filter lets through, newest first; `memory/list_page`. What does not open is
    passed over.
    """
    before_time, before_id = cut.after or (LAST, "")
    found: list[Memory] = []
    while len(found) < cut.limit:
        limit = cut.limit - len(found)
        (row,) = await graph.run(
            "memory/list_page",
            who,
            before_time=before_time,
            before_id=before_id,
            limit=limit,
            **_filtered(wanted, when),
        )
        rows = await _rows(graph, who, row["ids"]) if row["ids"] else []
        found += await only_intact(graph, who, rows, lambda each: _memory(*each, session))
        if len(row["ids"]) < limit or not rows:
            break
        before_time, before_id = from_ms(rows[-1][0]["timestamp"]), rows[-1][0]["id"]
    return found


async def count_of_student(graph: Graph, who: Who, wanted: Filter, when: Moment) -> int:
    """Count the memories that match a filter; `memory/count`."""
    (row,) = await graph.run("memory/count", who, **_filtered(wanted, when))
    return int(row["total"])


def _filtered(wanted: Filter, when: Moment) -> dict[str, Any]:
    return {
        "label": None if wanted.modality is None else label_of(wanted.modality),
        "kind": None if wanted.kind is None else wanted.kind.value,
        "reliability": None if wanted.reliability is None else wanted.reliability.value,
        "min_gravity": wanted.min_gravity,
        "as_of": wanted.as_of,
        **when.curve.at(when.now),
    }


async def list_around(
    graph: Graph, who: Who, centre: Neighbourhood, session: Session | None
) -> tuple[list[Memory], list[Edge]] | None:
    """A memory's neighbourhood, nearest first, and its edges; `memory/list_around`. None without the memory."""
    rows = await graph.run("memory/list_around", who, **asdict(centre))
    if not rows:
        return None
    found = await find_by_ids(graph, who, rows[0]["ids"], session)
    return found, [_opened_edge(*edge) for edge in rows[0]["edges"]]


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
    for memory_id, *source in row["sources"]:
        found[memory_id].append(opened_source(*source))
    return found


async def list_entities(
    graph: Graph, who: Who, ids: Sequence[str], session: Session | None
) -> dict[str, list[NamedEntity]]:
    """The entities that some memories speak of, by the memory's id; `memory/list_entities`.

    Every id asked for is a key. Names are opened where there is a session.
    """
    (row,) = await graph.run("memory/list_entities", who, ids=list(dict.fromkeys(ids)))
    found: dict[str, list[NamedEntity]] = {memory_id: [] for memory_id in ids}
    for memory_id, entity in await only_intact(graph, who, row["entities"], lambda each: _entity(session, *each)):
        found[memory_id].append(entity)
    return found


def _entity(
    session: Session | None, memory_id: str, entity_id: str, kind: str, sealed: bytes
) -> tuple[str, NamedEntity]:
    name = None if session is None else NodeSealer(session.keys, session, "Entity", entity_id).text("name", sealed)
    with readable("Entity", entity_id):
        return memory_id, NamedEntity(entity_id, EntityKind(kind), name)


async def list_spanless(graph: Graph, who: Who) -> list[str]:
    """Ids of memories that name no place in any source; `memory/list_spanless`."""
    (row,) = await graph.run("memory/list_spanless", who)
    return list(row["ids"])


async def set_vectors(graph: Graph, session: Session, embedded: Sequence[tuple[Memory, Vector]]) -> None:
    """Give memories their embeddings again after the model was changed; `memory/set_vectors`."""
    sealed = [
        {"id": m.id, "embedding": sealed_embedding(NodeSealer(session.keys, session, "Memory", m.id), m, v)}
        for m, v in embedded
    ]
    await graph.run("memory/set_vectors", session, vectors=sealed)


async def save_decay(graph: Graph, who: Who, when: Moment) -> tuple[int, int]:
    """Materialise every gravity and delete what has faded and is not relied on; `memory/decay`.

    How many memories there were and how many were deleted.
    """
    rows = await graph.run("memory/decay", who, **when.curve.at(when.now))
    return (rows[0]["decayed"], rows[0]["deleted"]) if rows else (0, 0)


def stored(name: str, value: Any) -> Any:
    """A field of `Memory` as its property: the value of an enum, anything else as it is."""
    if name not in _READERS:
        raise ValueError(f"{name} is no property of a memory")
    return value.value if isinstance(value, StrEnum) else value


def stored_properties(memory: Memory) -> dict[str, Any]:
    """The properties of a memory that are not sealed."""
    return {name: stored(name, getattr(memory, name)) for name in _READERS}


def reinforced_properties(memory: Memory) -> dict[str, Any]:
    """Properties that reinforcement changes; the rest may have changed in the graph since the memory was read."""
    return {name: stored(name, getattr(memory, name)) for name in REINFORCED}


def _same(value: Any) -> Any:
    return value


def _reader(hint: Any) -> Callable[[Any], Any]:
    """From a property to a field of some type: enums by their values, moments from milliseconds."""
    (type_,) = [each for each in (get_args(hint) or (hint,)) if each is not type(None)]
    if issubclass(type_, StrEnum):
        return cast(Callable[[Any], Any], type_)
    return from_ms if type_ is datetime else _same


def details_of(memory: Memory) -> dict[str, Any]:
    """What is sealed of a memory beside its content."""
    statements = {"statements": [_stored_statement(each) for each in memory.statements]} if memory.statements else {}
    return {
        "speaker": memory.speaker,
        "before": memory.before,
        "quote": memory.quote,
        "original": memory.original,
        "slot": memory.slot,
        **statements,
    }


def sealed_embedding(place: NodeSealer, memory: Memory, vector: Vector) -> bytes | list[float]:
    """A memory's embedding as it is stored; sealed after it, in half precision, those of the statements of a summary.

    Raises
    ------
    ValueError      a statement has no vector
    """
    parts = [each.vector for each in memory.statements if each.vector is not None]
    if len(parts) != len(memory.statements):
        raise ValueError("a statement of a summary needs its embedding")
    if not parts:
        return place.seal_vector("embedding", vector)
    return place.seal_vectors("embedding", vector, parts)


def _opened_vectors(memory: Memory, vector: Vector, parts: Sequence[Vector]) -> LoadedMemory:
    """A memory with its embedding, and its statements with theirs."""
    if not parts:
        return LoadedMemory(memory, vector)
    statements = tuple(replace(each, vector=part) for each, part in zip(memory.statements, parts, strict=True))
    return LoadedMemory(replace(memory, statements=statements), vector)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    name: _reader(hint) for name, hint in get_type_hints(Memory).items() if name not in APART
}
"""How each property of a memory is read; the fields are listed in `Memory` alone."""
_OPTIONAL = {name for name, hint in get_type_hints(Memory).items() if type(None) in get_args(hint)}
REQUIRED = frozenset(
    each.name for each in fields(Memory) if each.name in _READERS.keys() - _OPTIONAL and each.default is MISSING
)
"""Properties that every memory has."""


_STATEMENT_READERS: Mapping[str, Callable[[Any], Any]] = {
    name: _reader(hint) for name, hint in get_type_hints(MergedStatement).items() if name != "vector"
}


def _stored_statement(statement: MergedStatement) -> dict[str, Any]:
    values = {name: getattr(statement, name) for name in _STATEMENT_READERS}
    return {name: value.value if isinstance(value, StrEnum) else value for name, value in values.items()} | {
        "at": round(1000 * statement.at.timestamp())
    }


def _opened_statement(row: Mapping[str, Any]) -> MergedStatement:
    values: dict[str, Any] = {
        name: None if row[name] is None else read(row[name]) for name, read in _STATEMENT_READERS.items()
    }
    return MergedStatement(**values)


def _held(session: Session, row: Row, label: str, refs: list[str]) -> LoadedMemory:
    memory, sealed = _memory(row, label, refs, session), row.get("embedding")
    if sealed is None:
        return LoadedMemory(memory, None)
    place = NodeSealer(session.keys, session, "Memory", row["id"])
    return _opened_vectors(memory, *place.vectors("embedding", sealed, len(memory.statements)))


def _memory(row: Row, label: str, refs: list[str], session: Session | None) -> Memory:
    details: dict[str, Any] = {"speaker": None, "before": None, "quote": None, "original": None, "slot": None}
    content = None
    if session is not None:
        place = NodeSealer(session.keys, session, "Memory", row["id"])
        with readable("Memory", row["id"]):
            content, details = place.text("content", row["content"]), details | place.json("details", row["details"])
            details["statements"] = tuple(map(_opened_statement, details.get("statements", ())))
    with readable("Memory", row["id"]):
        if missing := [name for name in REQUIRED if row.get(name) is None]:
            raise KeyError(missing[0])
        # A property that is null is not stored.
        found: dict[str, Any] = {
            name: None if (value := row.get(name)) is None else read(value) for name, read in _READERS.items()
        }
        return Memory(modality=Modality(label.lower()), content=content, source_refs=tuple(refs), **details, **found)


def _opened_edge(
    type_: str, weight: float, from_id: str, to_id: str, to_label: str, created_at: int, reliability: str
) -> Edge:
    return Edge(EdgeType(type_), weight, from_id, to_id, to_label, from_ms(created_at), Reliability(reliability))
