"""The ledger in the graph: what must not be forgotten, sealed on the way in (spec 2, 8).

An entry is active until it is settled or its time is over. The second needs no sweeper: every answer
compares `expires_at` with the moment of the question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from graphmem import sealing
from graphmem.errors import Conflict, Tampered
from graphmem.model import Keys, LedgerCategory, LedgerEntry, Session, SourceKind, Vector
from graphmem.store.graph import Graph, Row
from graphmem.store.nodes import opened, stored
from graphmem.store.rows import NodeSealer, readable, source_kind
from graphmem.store.tampering import only_intact
from graphmem.text.normalize import said


@dataclass(frozen=True)
class StoredEntry:
    """A ledger entry with what its meaning is compared by; None where it has to be embedded anew."""

    entry: LedgerEntry
    embedding: Vector | None = field(repr=False, compare=False)


def entry_id(keys: Keys, category: LedgerCategory, content: str) -> str:
    """Return the id of a ledger entry: the same for the same words, so that what is promoted twice is kept once.

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

    For any statement that writes entries; one that forms them from a message creates by id what is not there, and
    leaves alone what is.

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
    vector: Vector,
    now: datetime,
    concern: Mapping[str, Any] | None = None,
) -> LedgerEntry | None:
    """Keep an entry; `ledger/add`. As it is kept then: an active equal one is unchanged, a settled or expired one
    begins anew. None when the session has ended.

    Raises
    ------
    Conflict        an equal entry is there and does not open

    Writes the entry, linked to the student; with a concern, as `concerns.sealed_concern` makes it, where the entry is
    new or no open one keeps it.
    """
    rows = await graph.run(
        "ledger/add",
        session,
        entry=sealed_ledger_entry(session, entry, vector),
        concerns=[] if concern is None else [concern],
        now=now,
    )
    found = await only_intact(
        graph, session, [row["entry"] for row in rows], lambda each: _read_entry(session, each, now)
    )
    if rows and not found:
        raise Conflict(f"The ledger holds {entry.id}, which was altered outside of graphmem: delete it first.")
    return found[0].entry if found else None


async def settle(graph: Graph, session: Session, ledger_id: str, note: str | None, now: datetime) -> LedgerEntry | None:
    """Settle a promise or debt; `ledger/settle`. The entry as it is then: another category and what was settled
    before stay as they are. None without such an entry, where it does not open, or when the session has ended.
    """
    sealed = None if note is None else NodeSealer(session.keys, session, "LedgerEntry", ledger_id).seal("note", note)
    rows = await graph.run("ledger/settle", session, id=ledger_id, note=sealed, now=now)
    found = await only_intact(
        graph, session, [row["entry"] for row in rows], lambda each: _read_entry(session, each, now)
    )
    return found[0].entry if found else None


async def remove_entry(graph: Graph, session: Session, entry_id: str, now: datetime) -> bool | None:
    """Delete an entry; `ledger/delete`. False without such an entry; None when the session has ended."""
    rows = await graph.run("ledger/delete", session, id=entry_id, now=now)
    return bool(rows[0]["deleted"]) if rows else None


async def list_stored_entries(
    graph: Graph, session: Session, now: datetime, category: LedgerCategory | None = None, active: bool | None = None
) -> list[StoredEntry] | None:
    """Return a student's ledger with its embeddings, newest first; `ledger/list`. None when the session has ended.

    What does not open is left out, and so is an entry whose category was changed by hand: its id tells.
    """
    rows = await graph.run(
        "ledger/list",
        session,
        category=category,
        active=active,
        now=now,
    )
    if not rows:
        return None
    return await only_intact(graph, session, rows[0]["entries"], lambda each: _read_entry(session, each, now))


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
    """Return the kind of source that counts most, of those of an entry in the graph."""
    return min((source_kind(kind) for kind in kinds), key=_RANKS.index, default=None)
