"""What formation and imports write: memories, edges, entities and ledger of one source (spec 2, 7)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from graphmem.errors import InvalidInput
from graphmem.model import (
    EdgeType,
    Entity,
    LedgerEntry,
    Memory,
    Reliability,
    Session,
    Source,
    SourceKind,
    Usage,
    Vector,
)
from graphmem.sealing import keyed_hash
from graphmem.store.graph import Graph
from graphmem.store.jobs import Claimed
from graphmem.store.ledger import sealed_ledger_entry
from graphmem.store.memories import Held, label_of
from graphmem.store.rows import Place, vector_bytes
from graphmem.store.sources import kind_in_graph

IMPORTED = 1000
"""Memories written at once when many are imported."""
SITTING = timedelta(hours=1)
"""A gap in time that ends a sitting: what comes after it does not follow from what was before."""


@dataclass(frozen=True)
class Span:
    """Which characters of its source a memory comes from."""

    start: int
    end: int


@dataclass(frozen=True)
class New:
    """A memory to be created."""

    memory: Memory
    vector: Vector = field(repr=False)
    span: Span


@dataclass(frozen=True)
class Reinforced:
    """A memory that was said again, as it is from now on."""

    memory: Memory
    span: Span


@dataclass(frozen=True)
class NewEdge:
    """A relationship between two memories; one that exists keeps the greater weight."""

    from_id: str
    to_id: str
    type: EdgeType
    weight: float


@dataclass(frozen=True)
class Mention:
    """A memory that speaks of an entity."""

    memory_id: str
    entity: Entity
    type: EdgeType
    weight: float


@dataclass(frozen=True)
class Promotion:
    """A ledger entry and the memory it rests on."""

    entry: LedgerEntry
    vector: Vector = field(repr=False)
    memory_id: str


@dataclass(frozen=True)
class Formation:
    """Everything that is formed of one source, decided before anything is written.

    known : the version of the student's memories that it was decided on
    inferred_by : the mind that read the source
    activity, features : of a message, how it is to be considered when it is consolidated; None of what is not said
    """

    source: Source
    snr: int
    known: int
    inferred_by: str
    activity: float | None = None
    features: tuple[float, ...] = ()
    new: tuple[New, ...] = ()
    reinforced: tuple[Reinforced, ...] = ()
    edges: tuple[NewEdge, ...] = ()
    mentions: tuple[Mention, ...] = ()
    ledger: tuple[Promotion, ...] = ()


async def form(
    graph: Graph, session: Session, claimed: Claimed, formation: Formation, usage: Usage, now: datetime
) -> bool | None:
    """Write what one source gives and finish its job; `memory/form`.

    True when written; False when the memories changed since the plan was made; None when the job is another
    worker's by now. Writing it twice changes nothing: the job is done after the first time.
    """
    rows = await graph.run(
        "memory/form",
        session,
        job_id=claimed.id,
        lease=claimed.lease,
        source_id=formation.source.id,
        source_kinds=[formation.source.kind.value, kind_in_graph(formation.source.kind)],
        source_ref=formation.source.ref,
        snr=formation.snr,
        known=formation.known,
        formed=[created(session, new, formation.activity, formation.features) for new in formation.new],
        reinforced=[
            {"id": r.memory.id, "start": r.span.start, "end": r.span.end, "properties": _reinforced(r.memory)}
            for r in formation.reinforced
        ],
        edges=edge_rows(formation.edges, formation.inferred_by, now),
        mentions=[_mention(session, mention, formation.inferred_by, now) for mention in formation.mentions],
        ledger=[
            {"properties": sealed_ledger_entry(session, p.entry, p.vector), "memory_id": p.memory_id}
            for p in formation.ledger
        ],
        usage=asdict(usage),
        now=now,
    )
    return bool(rows[0]["current"]) if rows else None


async def import_memories(graph: Graph, session: Session, held: Sequence[Held], now: datetime) -> int:
    """Store many memories at once, as an import brings them, in batches; `memory/import`.

    Each gets a source of the system, with its first source ref or else its own id as ref, and follows the one before
    it (`PRECEDES`), where that was less than an hour earlier. Storing them again changes nothing.

    Parameters
    ----------
    graph : Graph
    session : Session, with which they are sealed
    held : memories with content and vector, oldest first
    now : datetime

    Returns
    -------
    int, how many of them the student now has

    Raises
    ------
    Conflict        a memory of another id has the same `content_hash`; batches before that one are stored
    Unavailable     Neo4j does not answer
    """
    rows = [_imported(session, each, before, now) for before, each in zip([None, *held], held, strict=False)]
    stored = 0
    for first in range(0, len(rows), IMPORTED):
        found = await graph.run("memory/import", session, memories=rows[first : first + IMPORTED], now=now)
        stored += found[0]["memories"] if found else 0
    return stored


def created(
    session: Session, new: New, activity: float | None = None, features: tuple[float, ...] = ()
) -> dict[str, Any]:
    """A new memory as its statement takes it: label, span and sealed properties."""
    memory = new.memory
    place = Place(session.keys, session, memory.id)
    details = {"speaker": memory.speaker, "before": memory.before}
    return {
        "label": label_of(memory.modality),
        "start": new.span.start,
        "end": new.span.end,
        "properties": {
            "id": memory.id,
            "kind": memory.kind.value,
            "domain": memory.domain.value,
            "valence": memory.valence,
            "timestamp": memory.timestamp,
            "source_kind": memory.source_kind.value,
            "snr": memory.snr,
            "passes": memory.passes,
            "surprise": memory.surprise,
            "surprise_level": None if memory.surprise_level is None else memory.surprise_level.value,
            "flashbulb": memory.flashbulb,
            "slot_key": memory.slot_key,
            "merged_count": memory.merged_count,
            "content_hash": memory.content_hash,
            "consolidated": memory.consolidated,
            "considered": activity is None,
            "activity": activity,
            "features": list(features),
            "in_ledger": memory.in_ledger,
            "access_count": memory.access_count,
            "reliability": memory.reliability.value,
            "valid_at": memory.valid_at,
            "invalid_at": memory.invalid_at,
            "content": place.seal("content", memory.content or ""),
            "details": place.seal_json("details", details),
            "embedding": place.seal("embedding", vector_bytes(new.vector)),
        }
        | _reinforced(memory),
    }


def _imported(session: Session, held: Held, before: Held | None, now: datetime) -> dict[str, Any]:
    memory, after = held.memory, None
    if held.vector is None:
        raise InvalidInput(f"{memory.id} has no vector: embed it first.")
    if before is not None and memory.timestamp - before.memory.timestamp < SITTING:
        after = before.memory.id
    ref = memory.source_refs[0] if memory.source_refs else memory.id
    new = New(memory, held.vector, Span(0, len(memory.content or "")))
    return created(session, new) | {
        "source": {"id": f"source-{memory.id}", "kind": SourceKind.SYSTEM.value, "ref": ref, "at": memory.timestamp},
        "after": after,
        "edge": edge_properties(1.0, "import", now),
    }


def _reinforced(memory: Memory) -> dict[str, Any]:
    """What reinforcement changes; the rest may have changed in the graph since the memory was read."""
    return {
        "gravity": memory.gravity,
        "salience": memory.salience,
        "confidence": memory.confidence,
        "strength": memory.strength,
        "importance": memory.importance,
        "last_accessed": memory.last_accessed,
        "reinforcement_count": memory.reinforcement_count,
        "last_reinforced_at": memory.last_reinforced_at,
    }


def edge_rows(edges: Sequence[NewEdge], inferred_by: str, now: datetime) -> list[dict[str, Any]]:
    """New edges as their statements take them."""
    return [
        {
            "from_id": edge.from_id,
            "to_id": edge.to_id,
            "type": edge.type.value,
            "properties": edge_properties(edge.weight, inferred_by, now),
        }
        for edge in edges
    ]


def edge_properties(weight: float, inferred_by: str, now: datetime) -> dict[str, Any]:
    """The properties of a new edge."""
    return {
        "weight": weight,
        "reliability": Reliability.RELIABLE.value,
        "created_at": now,
        "inferred_by": inferred_by,
    }


def _mention(session: Session, mention: Mention, inferred_by: str, now: datetime) -> dict[str, Any]:
    key = keyed_hash(session.keys, "entity", f"{mention.entity.kind}:{mention.entity.name.casefold()}")
    entity_id = f"entity-{key[:16]}"
    return {
        "memory_id": mention.memory_id,
        "key": key,
        "type": mention.type.value,
        "entity": {
            "id": entity_id,
            "kind": mention.entity.kind.value,
            "name": Place(session.keys, session, entity_id).seal("name", mention.entity.name),
        },
        "properties": edge_properties(mention.weight, inferred_by, now),
    }
