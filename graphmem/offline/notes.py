"""Notes of the offline mind: what it finds in a message, in the form that every mind answers in (spec 7, 17)."""

from dataclasses import replace

from graphmem.model import Heard, LedgerCategory, Link, MemoryKind, Modality, Note, NotePlace, Reminder, Scope
from graphmem.offline.formation import Extraction
from graphmem.text.normalize import cleaned
from graphmem.text.reminders import load_ledger_judge

HAPPENED = frozenset({LedgerCategory.PROMISE, LedgerCategory.SECRET, LedgerCategory.DEBT, LedgerCategory.THREAT})
"""Categories whose entries tell of something that happened; the others of how it is."""


def notes_of(found: Extraction, heard: Heard, message: int) -> tuple[Note, ...]:
    """Return the notes of a message: its memories, each with the ledger entry whose words it holds, then other entries.

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
    notes = list(found.memories)
    for each in found.relations:
        target = None if each.target is None else NotePlace(message, each.target)
        link = Link(each.type, note=target, weight=each.weight, reverse=each.reverse)
        notes[each.source] = replace(notes[each.source], links=(*notes[each.source].links, link))
    for entry in found.reminders:
        ends_in = (i for i, n in enumerate(notes) if n.start < entry.end <= n.end and n.ledger is None)
        place = next(ends_in, len(notes))
        notes[place : place + 1] = [_kept(notes[place] if place < len(notes) else _alone(entry, heard), entry)]
    return tuple(notes)


def _alone(reminder: Reminder, heard: Heard) -> Note:
    """The note of a ledger entry whose words no memory holds."""
    happened, content = reminder.category in HAPPENED, reminder.content
    return Note(
        reminder.start,
        reminder.end,
        None if cleaned(content) == cleaned(heard.text[reminder.start : reminder.end]) else content,
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
