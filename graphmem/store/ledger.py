"""The ledger in the graph: statements never to be forgotten, sealed on write; and concerns, each with an entry.

An entry is active until it is settled or its time is over. The second needs no sweeper: every answer compares
`expires_at` with the moment of the question. Concerns are flags that are clear, so that an auditor sees them without
any key (spec 2, 8, 20).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

from graphmem import sealing
from graphmem.errors import Conflict, Tampered
from graphmem.model import (
    Concern,
    ConcernKind,
    FalseAlarm,
    Keys,
    LedgerCategory,
    LedgerEntry,
    Level,
    RaisedConcern,
    Session,
    SourceKind,
    Vector,
    WellbeingWeek,
    Who,
)
from graphmem.sealing import Stored
from graphmem.store.graph import Graph, Row
from graphmem.store.nodes import (
    CONCERN_NODE,
    NodeSealer,
    clear_properties,
    from_row,
    opened,
    readable,
    source_kind,
    stored,
)
from graphmem.store.tampering import only_intact
from graphmem.text.normalize import said


@dataclass(frozen=True)
class StoredEntry:
    """A ledger entry with its embedding; None where it has to be embedded anew."""

    entry: LedgerEntry
    embedding: Vector | None = field(repr=False, compare=False)


def entry_id(keys: Keys, category: LedgerCategory, content: str) -> str:
    """Return the id of a ledger entry: the same for the same words, so that promoting twice keeps one entry.

    Parameters
    ----------
    keys : Keys     the hash is keyed, so that contents cannot be guessed from ids
    category : LedgerCategory
    content : str   compared without case, width, surplus spaces and closing punctuation

    Source: spec 8, 14.

    Examples
    --------
    >>> keys = Keys(seal=bytes(32), mark=bytes(32))
    >>> one = entry_id(keys, LedgerCategory.PROMISE, "I'll bring the book.")
    >>> one == entry_id(keys, LedgerCategory.PROMISE, "i'll bring  the book!")
    True
    >>> one == entry_id(keys, LedgerCategory.SECRET, "I'll bring the book.")
    False
    """
    return f"ledger-{sealing.keyed_hash(keys, 'ledger', f'{category.value} {said(content)}')[:16]}"


def sealed_ledger_entry(session: Session, entry: LedgerEntry, vector: Vector | None) -> dict[str, Any]:
    """Return the properties of an entry's node, texts and embedding sealed for it.

    For any statement that writes entries; one that forms them from a message creates missing entries by id, and leaves
    existing ones unchanged.

    Parameters
    ----------
    session : Session
    entry : LedgerEntry, with its content
    vector : Vector, of its content; None where there is none yet
    """
    place = NodeSealer(session.keys, session, "LedgerEntry", entry.id)
    embedding = None if vector is None else place.seal_vector("embedding", vector)
    return stored(session, "LedgerEntry", entry) | {"embedding": embedding}


async def keep_entry(
    graph: Graph,
    session: Session,
    entry: LedgerEntry,
    vector: Vector | None,
    now: datetime,
    concern: Mapping[str, Any] | None = None,
) -> LedgerEntry | None:
    """Keep an entry; `ledger/add`. As it is kept then: an active equal one is unchanged, a settled or expired one
    begins anew. None when the session has ended.

    Raises
    ------
    Conflict        an equal entry is there and does not open

    Writes the entry, linked to the student; with a concern, as `sealed_concern` makes it, where the entry is
    new or no open one keeps it.
    """
    concerns = [] if concern is None else [concern]
    sealed = sealed_ledger_entry(session, entry, vector)
    rows = await graph.run("ledger/add", session, entry=sealed, concerns=concerns, now=now)
    found = await _read_entries(graph, session, [row["entry"] for row in rows], now)
    if rows and not found:
        raise Conflict(f"The ledger holds {entry.id}, which was altered outside of graphmem: delete it first.")
    return found[0].entry if found else None


async def settle(graph: Graph, session: Session, ledger_id: str, note: str | None, now: datetime) -> LedgerEntry | None:
    """Settle a promise or debt; `ledger/settle`. The entry as it is then: another category and what was settled
    before stay as they are. None without such an entry, where it does not open, or when the session has ended.
    """
    sealed = None if note is None else NodeSealer(session.keys, session, "LedgerEntry", ledger_id).seal("note", note)
    rows = await graph.run("ledger/settle", session, id=ledger_id, note=sealed, now=now)
    found = await _read_entries(graph, session, [row["entry"] for row in rows], now)
    return found[0].entry if found else None


async def remove_entry(graph: Graph, session: Session, entry_id: str, now: datetime) -> bool | None:
    """Delete an entry; `ledger/delete`. False without such an entry; None when the session has ended."""
    return await graph.value(bool, "ledger/delete", session, id=entry_id, now=now)


async def list_stored_entries(
    graph: Graph, session: Session, now: datetime, category: LedgerCategory | None = None, active: bool | None = None
) -> list[StoredEntry] | None:
    """Return a student's ledger with its embeddings, newest first; `ledger/list`. None when the session has ended.

    What does not open is left out, and so is an entry whose category was changed by hand: its id tells.
    """
    rows = await graph.run("ledger/list", session, category=category, active=active, now=now)
    if not rows:
        return None
    return await _read_entries(graph, session, rows[0]["entries"], now)


async def _read_entries(graph: Graph, session: Session, rows: Sequence[Row], now: datetime) -> list[StoredEntry]:
    return await only_intact(graph, session, rows, lambda each: _read_entry(session, each, now))


def _read_entry(session: Session, row: Row, now: datetime) -> StoredEntry:
    place = NodeSealer(session.keys, session, "LedgerEntry", row["id"])
    with readable("LedgerEntry", row["id"]):
        entry = opened(LedgerEntry, "LedgerEntry", row, session, given_by=_giver(row.get("givers") or ()))
        if entry.id != entry_id(session.keys, entry.category, entry.content or ""):
            raise Tampered.at("LedgerEntry", entry.id, "category")
        active = entry.is_active and (entry.expires_at is None or entry.expires_at > now)
        embedding = place.vector("embedding", row["embedding"]) if "embedding" in row else None
        return StoredEntry(replace(entry, is_active=active), embedding)


_RANKS = (SourceKind.SYSTEM, SourceKind.TEACHER, SourceKind.CHAT, SourceKind.LESSON, SourceKind.PROMPT_RUN)
"""Kinds of sources; the first counts most."""


def _giver(kinds: Sequence[str]) -> SourceKind | None:
    """Return the highest-ranked kind among an entry's sources in the graph."""
    return min((source_kind(kind) for kind in kinds), key=_RANKS.index, default=None)


def clear_concern(raised: RaisedConcern) -> dict[str, Any]:
    """Return the properties of a concern that anybody with access to the graph may see."""
    return clear_properties(raised.concern) | {"probability": raised.probability, "level": raised.level}


@dataclass(frozen=True)
class Raised:
    """A concern of a message, the ledger entry that is kept of it, and the part of the message kept with it.

    vector : embedding of the message
    """

    raised: RaisedConcern
    entry: LedgerEntry
    text: str = field(repr=False)
    vector: Vector | None = field(default=None, repr=False, compare=False)


def sealed_concern(session: Session, kept: Raised) -> dict[str, Any]:
    """Return a concern with its message sealed, and the ledger entry that is kept of it."""
    text = NodeSealer(session.keys, session, "Concern", kept.raised.concern.id).seal("text", kept.text)
    entry = sealed_ledger_entry(session, kept.entry, kept.vector)
    return {"concern": clear_concern(kept.raised) | {"text": text}, "entry": entry}


async def keep_concern(graph: Graph, session: Session, kept: Raised, kinds: Sequence[str], ref: str) -> None:
    """Keep a concern with its ledger entry, where it was not taken back; `concern/keep`. Twice is as once.

    Parameters
    ----------
    graph : Graph
    session : Session
    kept : Raised
    kinds, ref : of its source, as the graph has them
    """
    await graph.run("concern/keep", session, raised=sealed_concern(session, kept), kinds=kinds, ref=ref)


async def keep_threat(graph: Graph, session: Session, kept: Raised, now: datetime) -> LedgerEntry | None:
    """Keep a ledger entry of a danger that no message reported, with its concern; see `keep_entry`."""
    concern = sealed_concern(session, kept)["concern"]
    return await keep_entry(graph, session, kept.entry, kept.vector, now, concern=concern)


async def save_correction(
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


async def count_open_concerns(graph: Graph, who: Who) -> int | None:
    """Count the concerns that nobody has taken back; `concern/count`. None without such a student."""
    return await graph.value(int, "concern/count", who)


async def list_weeks(graph: Graph, who: Who, weeks: Sequence[tuple[datetime, datetime]]) -> list[WellbeingWeek]:
    """Return counts and means of some weeks, from clear properties; `concern/list_weeks`."""
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
