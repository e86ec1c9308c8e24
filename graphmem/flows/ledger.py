"""The ledger of statements that must not be forgotten, and the concerns that danger raises (spec 8, 20)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta

from graphmem.app import Graphmem
from graphmem.cache import OpenMemories
from graphmem.errors import InvalidInput, Locked, NotFound
from graphmem.flows.session_cache import ENDED, check_running, write_planned
from graphmem.flows.surprise import is_own_belief
from graphmem.model import (
    SERIOUS,
    Concern,
    Danger,
    Keys,
    LedgerCategory,
    LedgerEntry,
    Level,
    Message,
    Note,
    RaisedConcern,
    Reliability,
    Session,
    Source,
    Wellbeing,
    Who,
)
from graphmem.store import ledger, uncertainties
from graphmem.store.changes import Changes, Update, renewed
from graphmem.store.ledger import Raised
from graphmem.store.sources import kind_in_graph
from graphmem.text.doc import Doc, language_of
from graphmem.text.reminders import IMPORTANCE, active_at, danger_reminder, summary_of
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
NOTE_CHARACTERS = 2_000
"""Most characters of the note on a false alarm."""
MOST_WEEKS = 104
MOST_CONCERNS = 200
"""Most concerns that an auditor is shown at once."""
DOUBTED_IMPORTANCE = 0.5
"""Importance of the entry of a concern that is only worrying, or that the second opinion speaks against."""


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
    expires_at = None if draft.expires_at is None else draft.expires_at.astimezone(UTC)
    summary = summary_of(draft.content) if draft.summary is None else draft.summary
    told = vars(draft) | {"summary": summary, "expires_at": expires_at}
    return LedgerEntry(id=ledger.entry_id(keys, draft.category, draft.content), is_active=True, created_at=now, **told)


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


def decided_danger(heard: Danger | None, told: Danger | None, *, judged: bool) -> Danger | None:
    """Return the danger that two voices find in a message: the detector and a mind.

    Parameters
    ----------
    heard : by the detector; a plain sign of acute danger stands
    told : by the mind
    judged : the mind has looked: a danger it does not find is none, and one voice alone is never acute

    Source: spec 20.

    Examples
    --------
    >>> from graphmem.model import ConcernKind
    >>> guess, plain = Danger(ConcernKind.ABUSE, 2), Danger(ConcernKind.SELF_HARM, 3, sign=True)
    >>> decided_danger(guess, None, judged=True), decided_danger(plain, None, judged=True) is plain
    (None, True)
    >>> decided_danger(guess, None, judged=False) is guess, decided_danger(None, plain, judged=True).urgency
    (True, 2)
    """
    if not judged:
        return graver(heard, told)
    if heard is not None and heard.stands:
        return graver(heard, told)
    if told is not None and heard is None:
        return replace(told, urgency=min(told.urgency, SERIOUS))
    return None if told is None or heard is None else replace(told, about=heard.about, probability=heard.probability)


def graver(found: Danger | None, told: Danger | None) -> Danger | None:
    """Return the more urgent of two readings of a message; neither can withdraw the other's danger.

    Examples
    --------
    >>> from graphmem.model import ConcernKind
    >>> mild, grave = Danger(ConcernKind.BULLYING, 1), Danger(ConcernKind.SELF_HARM, 3)
    >>> graver(mild, grave) is graver(grave, mild) is grave, graver(None, None)
    (True, None)
    """
    return max((each for each in (found, told) if each is not None), key=lambda d: d.urgency, default=None)


def concern_id(key: str) -> str:
    """Return the id of a source's concern; the key is that of its memories."""
    return f"concern-{key}"


def raised_by_turn(gm: Graphmem, session: Session, seq: int, message: Message, danger: Danger, level: Level) -> Raised:
    """Return the concern of a turn's message, with the ledger entry that is kept of it.

    Parameters
    ----------
    gm : Graphmem
    session : Session
    seq : int, of the turn
    message : Message
    danger : Danger
    level : Level, that the message has without the danger
    """
    concern = Concern(
        concern_id(str(seq)),
        danger.kind,
        danger.urgency,
        danger.about,
        message.at,
        help_for(gm, session, message.text),
    )
    entry = threat_entry(session.keys, Doc(message.text), gm.clock(), danger)
    return Raised(RaisedConcern(concern, danger.probability, level), entry, kept_text(message.text), message.embedding)


def help_for(gm: Graphmem, who: Who, text: str) -> str:
    """Return the help text for a message that tells of danger: of the institution, or in the message's language."""
    return gm.settings.help_of(who.institution, language_of(text) if gm.settings.help_languages else "")


def always_comes(danger: Danger) -> bool:
    """True if the entry of a concern comes with every context; one that is not sure, or only worrying, where it fits.

    Examples
    --------
    >>> from graphmem.model import ConcernKind
    >>> [always_comes(Danger(ConcernKind.BULLYING, urgency)) for urgency in (1, 2, 3)]
    [False, True, True]
    """
    return danger.sure and danger.urgency >= SERIOUS


def threat_entry(keys: Keys, doc: Doc, now: datetime, danger: Danger) -> LedgerEntry:
    """Return the ledger entry of a message that tells of danger; of one that need not always come it matters less."""
    told = {name: value for name, value in vars(danger_reminder(doc)).items() if name not in ("start", "end")}
    entry = new_entry(keys, Draft(**told), now)
    return entry if always_comes(danger) else replace(entry, importance=DOUBTED_IMPORTANCE)


def noted_danger(notes: Sequence[Note]) -> Danger | None:
    """Return the danger that a mind has noted in a message; it may raise a concern that the detector has not."""
    return UNNAMED_DANGER if any(note.ledger is LedgerCategory.THREAT for note in notes) else None


async def keep_heard_danger(
    gm: Graphmem, session: Session, key: str, source: Source, text: str, danger: Danger
) -> None:
    """Keep the concern of a source with its ledger entry, once; also of what only a mind has found."""
    entry = threat_entry(session.keys, Doc(text), gm.clock(), danger)
    concern = Concern(concern_id(key), danger.kind, danger.urgency, danger.about, source.at)
    kept = Raised(RaisedConcern(concern, danger.probability), entry, kept_text(text))
    await ledger.keep_concern(gm.graph, session, kept, (source.kind.value, kind_in_graph(source.kind)), source.ref)


async def standing_level(gm: Graphmem, who: Who, key: str, level: Level, own: Level | None) -> Level:
    """Return the level of a message: its own again, where the concern that had lifted it was taken back meanwhile."""
    if own is None or level is own:
        return level
    return own if await ledger.is_corrected(gm.graph, who, concern_id(key)) else level


async def correct_concern(gm: Graphmem, session: Session, concern: str, note: str | None = None) -> bool:
    """Take a concern back: flag marked, ledger entry inactive, surprise as it would have been without it.

    The same statements do not raise it again, but for plain signs of danger.

    Parameters
    ----------
    gm : Graphmem
    session : Session, open
    concern : str, its id
    note : str, why; of the first time, at most 2,000 characters

    Returns
    -------
    bool, True: twice is as once

    Raises
    ------
    InvalidInput    the note will not do
    NotFound        there is no such concern
    Locked          the session has ended

    Source: spec 20.
    """
    checked_id("id", concern)
    if note is not None:
        checked_text("note", note, NOTE_CHARACTERS)
    found = await ledger.save_correction(gm.graph, session, concern, note, gm.clock())
    if found is None:
        await check_running(gm, session)
        raise NotFound("There is no such concern: read `turn.concern` or `wellbeing`.")
    gm.drop(session)
    level, memory_ids = found
    if level is not None and memory_ids:
        await _revise(gm, session, memory_ids, level)
    return True


async def _revise(gm: Graphmem, session: Session, memory_ids: Sequence[str], level: Level) -> None:
    """Give the memories of a message the level it has without the danger, and undo what followed from that."""

    async def planned(held: OpenMemories) -> Changes | None:
        known = [memory_id for memory_id in memory_ids if held.index.get(memory_id) is not None]
        updated = list[Update](renewed(known, surprise_level=level, flashbulb=False))
        for response in (await uncertainties.list_responses(gm.graph, session, known)).values():
            # The student's own statements, and the memories they ended, stand.
            made = [r for r in response.revisions if is_own_belief(held.index.get(r.new_id))]
            own, prior = [r.new_id for r in made], [r.prior_id for r in made if r.prior_id is not None]
            updated += renewed(own, invalid_at=gm.clock(), reliability=Reliability.SUPERSEDED)
            updated += renewed(prior, invalid_at=None, reliability=Reliability.RELIABLE)
        return Changes(held.version, "correction", tuple(updated)) if known else None

    await write_planned(gm, session, planned)


async def wellbeing(gm: Graphmem, who: Who, weeks: int = 12) -> Wellbeing:
    """Return the wellbeing of a student in the last weeks, from clear properties.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    weeks : int, 1 to 104; the running one is the last

    Raises
    ------
    InvalidInput    the number of weeks will not do
    NotFound        there is no such student

    Source: spec 15, 20.
    """
    if not 1 <= weeks <= MOST_WEEKS:
        raise InvalidInput(f"weeks must lie between 1 and {MOST_WEEKS}.")
    still_open = await ledger.count_open_concerns(gm.graph, who)
    if still_open is None:
        raise NotFound("There is no such student: enrol the student first.")
    spans = week_spans(gm.clock(), weeks)
    found = await ledger.list_weeks(gm.graph, who, spans)
    shown = await ledger.list_concerns(gm.graph, who, spans[0][0], MOST_CONCERNS)
    help_text = gm.settings.help_of(who.institution)
    told = tuple(concern if concern.help else replace(concern, help=help_text) for concern in shown)
    return Wellbeing(tuple(found), told, still_open)


def week_spans(now: datetime, weeks: int) -> list[tuple[datetime, datetime]]:
    """Beginning and end of the last weeks, from Monday to Monday (UTC), oldest first.

    Examples
    --------
    >>> [start.day for start, _ in week_spans(datetime(2026, 1, 15, tzinfo=UTC), 2)]
    [5, 12]
    """
    today = now.astimezone(UTC).date()
    monday = datetime.combine(today - timedelta(days=today.weekday()), time(), UTC)
    starts = [monday - timedelta(weeks=back) for back in range(weeks - 1, -1, -1)]
    return [(start, start + timedelta(weeks=1)) for start in starts]
