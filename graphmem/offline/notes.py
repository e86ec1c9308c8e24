"""Notes of the offline mind: what it extracts from a message, in the form that every mind answers in (spec 7, 17)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from graphmem.model import (
    Extract,
    Extraction,
    Heard,
    LedgerCategory,
    Link,
    MemoryKind,
    Modality,
    Note,
    NotePlace,
    Relation,
    Reminder,
    Scope,
)
from graphmem.text.ledger_model import load_ledger_judge
from graphmem.text.normalize import cleaned

__all__ = ["notes_of"]

HAPPENED = frozenset({LedgerCategory.PROMISE, LedgerCategory.SECRET, LedgerCategory.DEBT, LedgerCategory.THREAT})
"""Categories whose entries tell of something that happened; the others of how it is."""


def notes_of(found: Extraction, heard: Heard, message: int) -> tuple[Note, ...]:
    """Notes of one message: its extracts, each with the ledger entry whose words it holds; other entries by themselves.

    Parameters
    ----------
    found : Extraction, spans in `heard.text`
    heard : Heard
    message : int, its place in the question

    Returns
    -------
    tuple of Note

    Source: spec 7, 8.
    """
    notes = [_note(extract, heard) for extract in found.memories]
    for relation in found.relations:
        notes[relation.source] = _linked(notes[relation.source], relation, message)
    for reminder in found.reminders:
        place = _holding(reminder, found.memories, notes)
        if place is None:
            notes.append(_kept(_alone(reminder, heard), reminder))
        else:
            notes[place] = _kept(notes[place], reminder)
    return tuple(notes)


def _note(extract: Extract, heard: Heard) -> Note:
    # Whom and what a message names is told from the second pass on (spec 7).
    thorough = heard.passes > 1
    return Note(
        extract.start,
        extract.end,
        _statement(extract.content, heard, extract.start, extract.end),
        extract.modality,
        extract.kind,
        extract.aspect,
        extract.confidence,
        context=extract.context,
        slot=extract.slot,
        entities=extract.entities if thorough else (),
        about=extract.about if thorough else (),
    )


def _statement(content: str, heard: Heard, start: int, end: int) -> str | None:
    """A content; None where it is the words of the span."""
    return None if cleaned(content) == cleaned(heard.text[start:end]) else content


def _linked(note: Note, relation: Relation, message: int) -> Note:
    target = None if relation.target is None else NotePlace(message, relation.target)
    link = Link(relation.type, note=target, weight=relation.weight, reverse=relation.reverse)
    return replace(note, links=(*note.links, link))


def _holding(reminder: Reminder, extracts: Iterable[Extract], notes: Sequence[Note]) -> int | None:
    """Place of the extract whose span an entry ends in, and which has no other entry."""
    places = (i for i, e in enumerate(extracts) if e.start < reminder.end <= e.end and notes[i].ledger is None)
    return next(places, None)


def _alone(reminder: Reminder, heard: Heard) -> Note:
    """The note of a ledger entry whose words no extract holds."""
    happened = reminder.category in HAPPENED
    return Note(
        reminder.start,
        reminder.end,
        _statement(reminder.content, heard, reminder.start, reminder.end),
        Modality.EPISODIC if happened else Modality.SEMANTIC,
        MemoryKind.EPISODE if happened else MemoryKind.TRAIT,
    )


def _kept(note: Note, reminder: Reminder) -> Note:
    wish = reminder.category is LedgerCategory.INSTRUCTION and load_ledger_judge().is_wish(reminder.content)
    return replace(
        note,
        ledger=reminder.category,
        entry=reminder.content,
        summary=reminder.summary,
        scope=Scope.STYLE if wish else Scope.OTHER,
        triggers=reminder.triggers,
        trigger_entities=reminder.trigger_entities,
        due=reminder.expires_at,
    )
