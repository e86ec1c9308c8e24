"""Uncertainties in the graph: a record of each doubt with the memories it concerns, and how to undo what settled it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from graphmem.model import (
    DetectionContext,
    Edge,
    EdgeType,
    RelationshipSide,
    Resolution,
    Session,
    Severity,
    Uncertainty,
    UncertaintyState,
    UncertaintyType,
    Who,
)
from graphmem.store.graph import Graph, Row
from graphmem.store.rows import NodeSealer, from_ms, moment, readable
from graphmem.store.tampering import only_intact

SIDES = ("a", "b")
TEXTS = {"reasoning": "reasoning", "surface_context": "surface_context", "detail": "resolution_detail"}
"""Sealed fields, and the properties they lie in."""
MOST_LISTED = 500


@dataclass(frozen=True)
class Earlier:
    """A memory as it was before an uncertainty was settled: what is put back where that is undone."""

    memory_id: str
    reliability: str
    invalid_at: datetime | None
    reinforcement_count: int
    last_reinforced_at: datetime | None
    strength: float
    confidence: float | None = None


@dataclass(frozen=True)
class Undo:
    """Everything that settling an uncertainty changed, so that it can be undone.

    memories : as they were; edges : that were made, as from, to and type; made : ids of memories that were made
    settled_edges : relationships about which something was settled, as from, to and type
    """

    memories: tuple[Earlier, ...] = ()
    edges: tuple[tuple[str, str, EdgeType], ...] = ()
    made: tuple[str, ...] = ()
    settled_edges: tuple[tuple[str, str, EdgeType], ...] = ()


@dataclass(frozen=True)
class Recorded:
    """An uncertainty as it is kept, and how what settled it is undone."""

    uncertainty: Uncertainty
    undo: Undo = field(default_factory=Undo)


async def find_uncertainty(graph: Graph, session: Session, uncertainty_id: str) -> Recorded | None:
    """One uncertainty, opened; `uncertainty/list`. None where there is none of this id."""
    rows = await _list(graph, session, {"ids": [uncertainty_id]})
    found = await only_intact(graph, session, rows, lambda row: _recorded(session, row))
    return found[0] if found else None


def _recorded(session: Session, row: Row) -> Recorded:
    sealed, uncertainty_id = row["uncertainty"].get("undo"), row["uncertainty"]["id"]
    place = NodeSealer(session.keys, session, "Uncertainty", uncertainty_id)
    with readable("Uncertainty", uncertainty_id):
        return Recorded(
            _opened(session, row, session), Undo() if sealed is None else undo_of(place.json("undo", sealed))
        )


async def find_uncertainties(
    graph: Graph,
    who: Who,
    session: Session | None,
    *,
    states: Sequence[UncertaintyState] | None = None,
    severity: Severity | None = None,
    memory_ids: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
) -> list[Uncertainty]:
    """A student's uncertainties, newest first, at most 500; `uncertainty/list`. Texts only with the session."""
    wanted = {
        "states": None if states is None else [state.value for state in states],
        "severity": severity,
        "ids": None if ids is None else list(ids),
        "memory_ids": None if memory_ids is None else list(memory_ids),
    }
    return await only_intact(graph, who, await _list(graph, who, wanted), lambda row: _opened(who, row, session))


async def list_opposed_edges(graph: Graph, who: Who, ids: Sequence[str], limit: int) -> list[tuple[Edge, Edge]]:
    """Pairs of relationships of some memories that cannot both be so; `uncertainty/list_opposed_edges`."""
    rows = await graph.run("uncertainty/list_opposed_edges", who, ids=list(ids), limit=limit)
    return [(_edge(*row["one"]), _edge(*row["other"])) for row in rows]


def _edge(kind: str, from_id: str, to_id: str, weight: float, created_at: int) -> Edge:
    return Edge(EdgeType(kind), weight, from_id, to_id, "Memory", from_ms(created_at))


async def begin_cycle(graph: Graph, who: Who, before: datetime | None, now: datetime) -> tuple[int, int] | None:
    """Begin a drift cycle; `uncertainty/begin_cycle`.

    Returns
    -------
    how many cycles there were, and the version of the student's memories; None where one ran after `before`
    """
    rows = await graph.run("uncertainty/begin_cycle", who, before=before, now=now)
    return (rows[0]["cycle"], rows[0]["version"]) if rows else None


async def _list(graph: Graph, who: Who, wanted: Mapping[str, Any]) -> list[Row]:
    everything = {"ids": None, "states": None, "severity": None, "memory_ids": None, "limit": MOST_LISTED}
    return await graph.run("uncertainty/list", who, **(everything | dict(wanted)))


def stored_uncertainty(session: Session, recorded: Recorded) -> dict[str, Any]:
    """An uncertainty as `changes/merge_uncertainties` takes it."""
    doubt = recorded.uncertainty
    sides = [
        {"side": side, "memory_id": i, "type": edge and edge.type.value, "to_id": edge and edge.to_id}
        for side, i, edge in zip(SIDES, (doubt.a_id, doubt.b_id), (doubt.a_edge, doubt.b_edge), strict=True)
        if i
    ]
    clear = {
        "id": doubt.id,
        "type": doubt.type.value,
        "severity": doubt.severity.value,
        "detection_context": doubt.detection_context.value,
        "temporal_signal": doubt.temporal_signal,
        "created_at": doubt.created_at,
    }
    return {"properties": clear | stored_standing(session, recorded), "sides": sides}


def stored_standing(session: Session, recorded: Recorded) -> dict[str, Any]:
    """The properties of an uncertainty that change as it is raised and settled."""
    doubt, place = recorded.uncertainty, NodeSealer(session.keys, session, "Uncertainty", recorded.uncertainty.id)
    texts = {name: getattr(doubt, own) for own, name in TEXTS.items()}
    return {
        "state": doubt.state.value,
        "resolution_strategy": None if doubt.resolution is None else doubt.resolution.value,
        "surfaced_count": doubt.surfaced_count,
        "last_surfaced_at": doubt.last_surfaced_at,
        "resolved_at": doubt.resolved_at,
        "undo": place.seal_json("undo", _told(recorded.undo)),
    } | {name: None if text is None else place.seal(name, text) for name, text in texts.items()}


def _opened(who: Who, row: Row, session: Session | None) -> Uncertainty:
    with readable("Uncertainty", row["uncertainty"]["id"]):
        return _read(who, row, session)


def _read(who: Who, row: Row, session: Session | None) -> Uncertainty:
    held, sides = row["uncertainty"], {side: memory_id for side, memory_id, *_ in row["sides"]}
    edges = {side: RelationshipSide(EdgeType(kind), to_id) for side, _, kind, to_id in row["sides"] if kind}
    place = None if session is None else NodeSealer(session.keys, who, "Uncertainty", held["id"])
    texts = {
        own: None if place is None or held.get(name) is None else place.text(name, held[name])
        for own, name in TEXTS.items()
    }
    strategy = held.get("resolution_strategy")
    return Uncertainty(
        id=held["id"],
        type=UncertaintyType(held["type"]),
        severity=Severity(held["severity"]),
        detection_context=DetectionContext(held["detection_context"]),
        temporal_signal=held["temporal_signal"],
        a_id=sides["a"] if "a" in sides else sides["b"],
        b_id=sides.get("b") if "a" in sides else None,
        created_at=moment(held["created_at"]),
        state=UncertaintyState(held["state"]),
        resolution=None if strategy is None else Resolution(strategy),
        surfaced_count=held["surfaced_count"],
        last_surfaced_at=_maybe(held.get("last_surfaced_at")),
        resolved_at=_maybe(held.get("resolved_at")),
        **texts,
        a_edge=edges.get("a"),
        b_edge=edges.get("b"),
    )


def _maybe(value: Any) -> datetime | None:
    return None if value is None else moment(value)


def _told(undo: Undo) -> dict[str, Any]:
    told = asdict(undo)
    for each in told["memories"]:
        each |= {name: None if each[name] is None else each[name].isoformat() for name in _TIMES}
    return told


_TIMES = ("invalid_at", "last_reinforced_at")


def undo_of(told: dict[str, Any]) -> Undo:
    """What undoes a resolution, from what is sealed of it."""
    memories = tuple(
        Earlier(**each | {name: None if each[name] is None else datetime.fromisoformat(each[name]) for name in _TIMES})
        for each in told["memories"]
    )
    edges = tuple((a, b, EdgeType(kind)) for a, b, kind in told["edges"])
    settled = tuple((a, b, EdgeType(kind)) for a, b, kind in told.get("settled_edges", ()))
    return Undo(memories, edges, tuple(told["made"]), settled)
