"""The ledger of statements that must not be forgotten: keep, settle and read its entries (spec 8)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput, Locked, NotFound
from graphmem.flows.session_cache import ENDED, check_running
from graphmem.model import Concern, Keys, LedgerCategory, LedgerEntry, Note, RaisedConcern, Reminder, Session
from graphmem.store import ledger
from graphmem.store.ledger import Raised
from graphmem.text.ledger_triggers import active_at
from graphmem.text.reminders import IMPORTANCE, summary_of
from graphmem.text.safety import UNNAMED_DANGER, find_danger, kept_text
from graphmem.validation import MESSAGE_LIMIT, checked_as_of, checked_id, checked_share, checked_text

SETTLED = frozenset({LedgerCategory.PROMISE, LedgerCategory.DEBT})
"""Categories that can be settled; other entries hold until they expire or are deleted."""
SUMMARY_LIMIT = 200
"""Characters of a summary."""
SETTLEMENT_CHARACTERS = 2_000
"""Most characters of the note on a settlement."""
MAX_TRIGGERS = 20
"""Most triggers of an entry, and most trigger entities."""
TRIGGER_LIMIT = 100
"""Characters of a trigger."""
LATEST = 9000
"""Year before which an entry must expire."""


@dataclass(frozen=True)
class Draft:
    """An entry as it is asked for; without a summary it gets the beginning of its content."""

    category: LedgerCategory
    """What it is."""
    content: str = field(repr=False)
    """What must not be forgotten, at least one character."""
    summary: str | None = field(default=None, repr=False)
    """Short form."""
    importance: float = 0.7
    """Importance, 0 to 1."""
    triggers: tuple[str, ...] = field(default=(), repr=False)
    """Words that bring it up."""
    trigger_entities: tuple[str, ...] = field(default=(), repr=False)
    """Names that bring it up."""
    trigger_threshold: float = 0.7
    """Cosine similarity from which on a message brings it up, 0 to 1."""
    expires_at: datetime | None = None
    """When it ceases to come up (UTC); null: never."""


async def add_entry(gm: Graphmem, session: Session, draft: Draft) -> LedgerEntry:
    """Keep an entry in a student's ledger; `ledger/add`.

    A threat raises a concern, unless an open one keeps it already.

    Parameters
    ----------
    gm : Graphmem
    session : Session, open
    draft : Draft

    Returns
    -------
    LedgerEntry, as it is kept: of an active one with the same category and words the one that was there; one
    that was settled or has expired begins anew

    Raises
    ------
    InvalidInput    the draft will not do; nothing was stored
    Locked          the session has ended
    Unavailable     Neo4j does not answer

    Source: spec 8, 20.
    """
    now = gm.clock()
    entry = new_entry(session.keys, checked(draft, MESSAGE_LIMIT, now), now)
    (vector,) = await gm.embedder.embed([draft.content])
    if entry.category is LedgerCategory.THREAT:
        raised = await _raised_by_entry(entry.id, draft.content, now)
        told = Raised(raised, entry, kept_text(draft.content), vector)
        kept = await ledger.keep_threat(gm.graph, session, told, now)
    else:
        kept = await ledger.keep_entry(gm.graph, session, entry, vector, now)
    if kept is None:
        raise Locked(ENDED)
    return kept


async def _raised_by_entry(entry_id: str, content: str, now: datetime) -> RaisedConcern:
    """Return the concern of an entry that tells of danger: as the detector hears it, else of no kind that is known."""
    danger = await asyncio.to_thread(find_danger, content) or UNNAMED_DANGER
    # One that begins anew is another report, which whoever took the first one back has not seen.
    concern_id = f"concern-{entry_id}-{round(1000 * now.timestamp())}"
    return RaisedConcern(Concern(concern_id, danger.kind, danger.urgency, danger.about, now), danger.probability)


async def settle_entry(gm: Graphmem, session: Session, entry_id: str, note: str | None = None) -> LedgerEntry:
    """Settle a promise or a debt, once; `ledger/settle`.

    Parameters
    ----------
    gm : Graphmem
    session : Session, open
    entry_id : str
    note : str, what became of it; the note of the first time stays

    Raises
    ------
    InvalidInput    the note will not do, or the entry is neither a promise nor a debt
    NotFound        there is no such entry
    Locked          the session has ended
    """
    checked_id("id", entry_id)
    if note is not None:
        checked_text("note", note, SETTLEMENT_CHARACTERS)
    now = gm.clock()
    entry = await ledger.settle(gm.graph, session, entry_id, note, now)
    if entry is None:
        await check_running(gm, session)
        raise NotFound("This student's ledger has no such entry: list the ledger for its ids.")
    if entry.category not in SETTLED:
        raise InvalidInput(f"A {entry.category.value} cannot be settled: only promises and debts can.")
    return entry


async def delete_entry(gm: Graphmem, session: Session, entry_id: str) -> bool:
    """Delete an entry for good, whatever its category; the memory it rested on may fade from then on.

    Returns
    -------
    False where there is no such entry, so that twice is as once

    Raises
    ------
    InvalidInput    the id will not do
    Locked          the session has ended

    Source: spec 8.
    """
    deleted = await ledger.remove_entry(gm.graph, session, checked_id("id", entry_id), gm.clock())
    if deleted is None:
        raise Locked(ENDED)
    async with gm.memory_lock(session):
        gm.cache.drop_memories(session)
    return deleted


async def list_entries(
    gm: Graphmem,
    session: Session,
    category: LedgerCategory | None = None,
    active: bool | None = None,
    as_of: datetime | None = None,
) -> list[LedgerEntry]:
    """Return a student's ledger, newest first, filtered by category and by whether entries are active.

    With `as_of` the entries stand as they did at that moment.

    Raises
    ------
    InvalidInput    `as_of` will not do
    Locked          the session has ended
    """
    checked_as_of(as_of)
    kept = await ledger.list_stored_entries(gm.graph, session, gm.clock(), category, None if as_of else active)
    if kept is None:
        raise Locked(ENDED)
    entries = [each.entry for each in kept]
    if as_of is None:
        return entries
    known = [entry for entry in entries if entry.created_at <= as_of]
    then = [active_at(entry, as_of) or replace(entry, is_active=False) for entry in known]
    return [entry for entry in then if active in (None, entry.is_active)]


def drafted(reminder: Reminder) -> Draft:
    """Return the draft of a ledger entry, from the words of a message."""
    return Draft(
        category=reminder.category,
        content=reminder.content,
        summary=reminder.summary,
        importance=reminder.importance,
        triggers=reminder.triggers,
        trigger_entities=reminder.trigger_entities,
        expires_at=reminder.expires_at,
    )


def noted_draft(note: Note, category: LedgerCategory, content: str) -> Draft:
    """Return the draft of the ledger entry of a note whose text is `content`."""
    return Draft(
        category=category,
        content=content,
        summary=note.summary if note.entry in (None, content) else None,
        importance=IMPORTANCE[category] if note.importance is None else note.importance,
        triggers=note.triggers,
        trigger_entities=note.trigger_entities,
        expires_at=note.due,
    )


def new_entry(keys: Keys, draft: Draft, now: datetime) -> LedgerEntry:
    """Return the entry that a checked draft asks for, active from now on."""
    expires_at = draft.expires_at
    return LedgerEntry(
        id=ledger.entry_id(keys, draft.category, draft.content),
        category=draft.category,
        content=draft.content,
        summary=summary_of(draft.content) if draft.summary is None else draft.summary,
        importance=draft.importance,
        triggers=draft.triggers,
        trigger_entities=draft.trigger_entities,
        trigger_threshold=draft.trigger_threshold,
        is_active=True,
        expires_at=None if expires_at is None else expires_at.astimezone(UTC),
        created_at=now,
    )


def checked(draft: Draft, content_limit: int, now: datetime) -> Draft:
    """Return the draft itself, if it will do.

    Raises
    ------
    InvalidInput    a text is empty or too long, a number is not in [0, 1], there are too many triggers, or the
                    time of expiry is past or has no time zone

    Examples
    --------
    >>> checked(Draft(LedgerCategory.SECRET, "He is afraid.", importance=float("nan")), 100, datetime.now(UTC))
    Traceback (most recent call last):
    graphmem_client.errors.InvalidInput: importance must lie between 0 and 1.
    """
    checked_text("content", draft.content, content_limit)
    if draft.summary is not None:
        checked_text("summary", draft.summary, SUMMARY_LIMIT)
    checked_share("importance", draft.importance)
    checked_share("triggerThreshold", draft.trigger_threshold)
    _check_triggers("triggers", draft.triggers)
    _check_triggers("triggerEntities", draft.trigger_entities)
    _check_expiry(draft.expires_at, now)
    return draft


def _check_triggers(name: str, values: Sequence[str]) -> None:
    if len(values) > MAX_TRIGGERS:
        raise InvalidInput(f"{name} has {len(values)} entries: at most {MAX_TRIGGERS} are taken.")
    for value in values:
        checked_text(name, value, TRIGGER_LIMIT)
        if not any(character.isalnum() for character in value):
            raise InvalidInput(f"{name} holds something without a letter or digit, which no message could match.")


def _check_expiry(value: datetime | None, now: datetime) -> None:
    if value is None:
        return
    if value.tzinfo is None:
        raise InvalidInput("expiresAt has no time zone: write it like 2026-01-15T09:30:00Z.")
    # The last years are left out, since a time zone could carry them past the end of the calendar.
    if value.year >= LATEST:
        raise InvalidInput(f"expiresAt must lie before the year {LATEST}: leave it out for what never expires.")
    if value <= now:
        raise InvalidInput("expiresAt is past: send a moment in the future, or nothing for what never expires.")
