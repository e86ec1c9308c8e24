"""Decisions about relationships that cannot both be so, as pure functions (spec 12: plain graph conflicts)."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from graphmem.errors import InvalidInput
from graphmem.flows.uncertainty_plan import BY_HAND, Settling, severity_of
from graphmem.model import (
    DetectionContext,
    Edge,
    EdgeType,
    MemoryKind,
    RelationshipSide,
    Reliability,
    Resolution,
    Uncertainty,
    UncertaintyState,
    UncertaintyType,
)
from graphmem.store.changes import Changes, SettledEdge
from graphmem.store.uncertainties import Recorded, Undo

MOST_RELATIONSHIPS = 10
"""Pairs of relationships that a cycle looks at."""
_SIDES = ("a", "b")

EdgeKey = tuple[str, str, EdgeType]


def opposed_relationships(
    pairs: Sequence[tuple[Edge, Edge]],
    policy: Resolution,
    version: int,
    now: datetime,
    doubts: Iterable[Uncertainty] = (),
) -> Changes:
    """Everything that a drift cycle writes of relationships that cannot both be so.

    Parameters
    ----------
    pairs : of relationships, in any order, some perhaps twice
    policy : newer_wins, stronger_wins (by weight) or manual: then both wait
    version : int, of the student's memories
    now : datetime
    doubts : not settled; what is in doubt already is left out

    Source: spec 12.
    """
    known = {doubt.id for doubt in doubts}
    found = {each.id: (each, pair) for each, pair in (_record(pair, now) for pair in pairs) if each.id not in known}
    changes = Changes(version, "drift")
    for record, (older, newer) in found.values():
        if policy is Resolution.MANUAL:
            changes = replace(changes, doubts=(*changes.doubts, Recorded(record)))
            continue
        newer_wins = policy is Resolution.NEWER_WINS or newer.weight >= older.weight
        done = _settled(record, policy, "b" if newer_wins else "a", None, now)
        changes = replace(
            changes,
            doubts=(*changes.doubts, *done.settled),
            settled_edges=(*changes.settled_edges, *done.settled_edges),
        )
    return changes


def settled_relationship(record: Uncertainty, by: Settling, version: int, now: datetime) -> Changes:
    """Everything that settling a doubt about relationships writes.

    Raises
    ------
    InvalidInput    the resolution does not fit, or it needs a winner: `a`, `b`, or the memory it starts from

    Source: spec 12.
    """
    if by.resolution is Resolution.DECAYED:
        faded = replace(record, state=UncertaintyState.DECAYED, resolution=by.resolution, resolved_at=now)
        return Changes(version, by.resolution.value, settled=(Recorded(faded),))
    if by.resolution is Resolution.NEWER_WINS:
        return replace(_settled(record, by.resolution, "b", by.detail, now), known=version)
    if by.resolution not in BY_HAND:
        raise InvalidInput("Of relationships choose newer_wins, manual, user_clarified or decayed.")
    starts = {record.a_id: "a", record.b_id: "b"} if record.a_id != record.b_id else {}
    winner = by.winner_id if by.winner_id in _SIDES else starts.get(by.winner_id)
    if winner is None:
        raise InvalidInput("winnerId must be `a`, `b`, or the memory that one relationship starts from.")
    return replace(_settled(record, by.resolution, winner, by.detail, now), known=version)


def relationships_of(record: Uncertainty) -> dict[str, EdgeKey]:
    """The relationships that a doubt is about, by side, as from, to and type."""
    sides = zip(_SIDES, (record.a_id, record.b_id), (record.a_edge, record.b_edge), strict=True)
    return {side: (i, edge.to_id, edge.type) for side, i, edge in sides if i is not None and edge is not None}


def _settled(record: Uncertainty, resolution: Resolution, winner: str, detail: str | None, now: datetime) -> Changes:
    edges = relationships_of(record)
    done = replace(record, state=UncertaintyState.RESOLVED, resolution=resolution, resolved_at=now, detail=detail)
    settled = tuple(
        SettledEdge(*edge, Reliability.RELIABLE if side == winner else Reliability.SUPERSEDED)
        for side, edge in edges.items()
    )
    undo = Undo(settled_edges=tuple(edges.values()))
    return Changes(None, resolution.value, settled_edges=settled, settled=(Recorded(done, undo),))


def _record(pair: tuple[Edge, Edge], now: datetime) -> tuple[Uncertainty, tuple[Edge, Edge]]:
    older, newer = sorted(pair, key=lambda e: (e.created_at, e.from_id, e.to_id, e.type))
    keys = "\n".join(f"{e.from_id} {e.type} {e.to_id}" for e in (older, newer))
    record = Uncertainty(
        id=f"uncertainty-edges-{hashlib.sha256(keys.encode()).hexdigest()[:24]}",
        type=UncertaintyType.CONTRADICTION,
        # A relationship counts as a concept.
        severity=severity_of(MemoryKind.CONCEPT, MemoryKind.CONCEPT),
        detection_context=DetectionContext.DRIFT,
        temporal_signal=False,
        a_id=older.from_id,
        b_id=newer.from_id,
        created_at=now,
        reasoning=f"{older.type} and {newer.type} between the same memories cannot both be so.",
        a_edge=RelationshipSide(older.type, older.to_id),
        b_edge=RelationshipSide(newer.type, newer.to_id),
    )
    return record, (older, newer)
