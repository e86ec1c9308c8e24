"""Concerns: the handling of a message that reports danger, its correction, and the auditor's view (spec 20)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

from graphmem.app import Graphmem
from graphmem.cache import OpenMemories
from graphmem.errors import InvalidInput, NotFound
from graphmem.flows.ledger import drafted, new_entry
from graphmem.flows.session_cache import check_running, write_planned
from graphmem.flows.surprise_plan import is_own_belief
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
from graphmem.store import ledger, surprises
from graphmem.store.changes import Changes, Update, renewed
from graphmem.store.ledger import Raised
from graphmem.store.sources import kind_in_graph
from graphmem.text.doc import Doc
from graphmem.text.language import language_of
from graphmem.text.reminders import danger_reminder
from graphmem.text.safety import UNNAMED_DANGER, kept_text
from graphmem.validation import checked_id, checked_text

NOTE_CHARACTERS = 2_000
"""Most characters of the note on a false alarm."""
MOST_WEEKS = 104
MOST_CONCERNS = 200
"""Most concerns that an auditor is shown at once."""
DOUBTED_IMPORTANCE = 0.5
"""Importance of the entry of a concern that is only worrying, or that the second opinion speaks against."""


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
    entry = threat_entry(session.keys, Doc(message.text), gm.clock(), stands=always_comes(danger))
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


def threat_entry(keys: Keys, doc: Doc, now: datetime, *, stands: bool = True) -> LedgerEntry:
    """Return the ledger entry of a message that tells of danger; of one that need not always come it matters less."""
    entry = new_entry(keys, drafted(danger_reminder(doc)), now)
    return entry if stands else replace(entry, importance=DOUBTED_IMPORTANCE)


def noted_danger(notes: Sequence[Note]) -> Danger | None:
    """Return the danger that a mind has noted in a message; it may raise a concern that the detector has not."""
    return UNNAMED_DANGER if any(note.ledger is LedgerCategory.THREAT for note in notes) else None


async def keep_heard_danger(
    gm: Graphmem, session: Session, key: str, source: Source, text: str, danger: Danger
) -> None:
    """Keep the concern of a source with its ledger entry, once; also of what only a mind has found."""
    doc = Doc(text)
    entry = threat_entry(session.keys, doc, gm.clock(), stands=always_comes(danger))
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
        for response in (await surprises.list_responses(gm.graph, session, known)).values():
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
