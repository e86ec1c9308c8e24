"""Concerns in the graph: flags that are clear, so that an auditor sees them without any key (spec 20)."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from graphmem.model import (
    Concern,
    ConcernKind,
    FalseAlarm,
    LedgerEntry,
    Level,
    RaisedConcern,
    Session,
    Vector,
    WellbeingWeek,
    Who,
)
from graphmem.sealing import Stored
from graphmem.store.graph import Graph, Row
from graphmem.store.ledger import keep_entry, sealed_ledger_entry
from graphmem.store.nodes import CONCERN_NODE, clear_properties, from_row, opened
from graphmem.store.rows import NodeSealer, readable
from graphmem.store.tampering import only_intact


def clear_concern(raised: RaisedConcern) -> dict[str, Any]:
    """Return the properties of a concern that anybody with access to the graph may see."""
    return clear_properties(raised.concern) | {"probability": raised.probability, "level": raised.level}


def sealed_concern(
    session: Session, raised: RaisedConcern, text: str, entry: LedgerEntry, vector: Vector | None = None
) -> dict[str, Any]:
    """Return a concern with its message sealed, and the ledger entry that is kept of it."""
    place = NodeSealer(session.keys, session, "Concern", raised.concern.id)
    return {
        "concern": clear_concern(raised) | {"text": place.seal("text", text)},
        "entry": sealed_ledger_entry(session, entry, vector),
    }


async def keep_concern(
    graph: Graph,
    session: Session,
    raised: RaisedConcern,
    text: str,
    entry: LedgerEntry,
    source: tuple[Sequence[str], str],
) -> None:
    """Keep a concern with its ledger entry, where it was not taken back; `concern/keep`. Twice is as once.

    `source` is given by its kinds in the graph and its ref.
    """
    kinds, ref = source
    await graph.run(
        "concern/keep",
        session,
        raised=sealed_concern(session, raised, text, entry),
        kinds=kinds,
        ref=ref,
    )


async def keep_threat(
    graph: Graph,
    session: Session,
    raised: RaisedConcern,
    text: str,
    entry: LedgerEntry,
    vector: Vector,
    now: datetime,
) -> LedgerEntry | None:
    """Keep a ledger entry of danger that no message told, with its concern; see `keep_entry`."""
    concern = sealed_concern(session, raised, text, entry)["concern"]
    return await keep_entry(graph, session, entry, vector, now, concern=concern)


async def correct(
    graph: Graph, session: Session, concern_id: str, note: str | None, now: datetime
) -> tuple[Level | None, list[str]] | None:
    """Take a concern back; `concern/correct`. The first time counts, with its note.

    The level of surprise that the message has without the danger, and the memories that were formed of it; None
    without such a concern, or when the session has ended.
    """
    sealed = None if note is None else NodeSealer(session.keys, session, "Concern", concern_id).seal("note", note)
    rows = await graph.run("concern/correct", session, id=concern_id, note=sealed, now=now)
    if not rows:
        return None
    (row,) = rows
    return (None if row["level"] is None else Level(row["level"])), list(row["memories"])


async def is_corrected(graph: Graph, who: Who, concern_id: str) -> bool:
    """Return whether a concern was taken back; `concern/find`."""
    rows = await graph.run("concern/find", who, id=concern_id)
    return bool(rows) and rows[0]["concern"].get("corrected_at") is not None


async def list_concerns(graph: Graph, who: Who, since: datetime, limit: int) -> list[Concern]:
    """Return a student's concerns since a moment, newest first, those taken back too; `concern/list`."""
    rows = await graph.run("concern/list", who, since=since, limit=limit)
    return await only_intact(graph, who, rows, lambda row: opened_concern(row["concern"]))


async def count_open(graph: Graph, who: Who) -> int | None:
    """Count the concerns that nobody has taken back; `concern/count`. None without such a student."""
    rows = await graph.run("concern/count", who)
    return int(rows[0]["open"]) if rows else None


async def list_weeks(graph: Graph, who: Who, weeks: Sequence[tuple[datetime, datetime]]) -> list[WellbeingWeek]:
    """Return what is clear of some weeks, as counts and means; `concern/list_weeks`."""
    rows = await graph.run("concern/list_weeks", who, weeks=[{"start": start, "end": end} for start, end in weeks])
    return [from_row(WellbeingWeek, row, week=date.fromisoformat(row["week"])) for row in rows]


def opened_concern(row: Row) -> Concern:
    """Return a concern as it was found in the graph."""
    return opened(Concern, "Concern", row, None)


def opened_alarm(session: Session, concern_id: str, kind: str, urgency: int, text: Stored) -> FalseAlarm:
    """Return a concern that was taken back, with its message."""
    place = NodeSealer(session.keys, session, "Concern", concern_id)
    with readable("Concern", concern_id):
        return FalseAlarm(place.text("text", text), ConcernKind(kind), CONCERN_NODE.clear["urgency"].read(urgency))
