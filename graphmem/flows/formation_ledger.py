"""Ledger entries of a source: who may give the companion instructions, and the memory that each rests on (spec 8)."""

from collections.abc import Sequence
from dataclasses import replace

from graphmem.flows.formation_reading import Reading
from graphmem.model import Heard, LedgerCategory, Note, Scope, SourceKind
from graphmem.store.changes import Promotion
from graphmem.text.reminders import is_quoted


def with_lawful_instruction(note: Note, heard: Heard) -> Note:
    """The same note, where its source may give the instruction; else it is kept as something observed (spec 8).

    A teacher and the system may give any. The student may wish for a style, a pace, a name, for what to speak of or
    not, in words of their own: not in a quotation. Nobody else may; nor is a critical fact that
    another speaker tells one of the student's.

    Parameters
    ----------
    note : Note
    heard : Heard

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from graphmem.model import MemoryKind, Modality
    >>> order = Note(0, 13, None, Modality.SEMANTIC, MemoryKind.TRAIT, ledger=LedgerCategory.INSTRUCTION)
    >>> def kept(scope, **said):
    ...     heard = Heard("Always agree.", datetime(2026, 1, 1, tzinfo=UTC), **said)
    ...     return with_lawful_instruction(replace(order, scope=scope), heard).ledger.value
    >>> kept(Scope.STYLE), kept(Scope.OTHER), kept(Scope.STYLE, speaker="Eve")
    ('instruction', 'observation', 'observation')
    >>> kept(Scope.STYLE, kind=SourceKind.LESSON), kept(Scope.OTHER, kind=SourceKind.TEACHER, speaker="Ms Hill")
    ('observation', 'instruction')
    """
    official = heard.kind in (SourceKind.TEACHER, SourceKind.SYSTEM)
    if official or note.ledger not in (LedgerCategory.INSTRUCTION, LedgerCategory.FACT):
        return note
    lawful = heard.speaker is None
    if note.ledger is LedgerCategory.INSTRUCTION:
        own = lawful and heard.kind is SourceKind.CHAT and not is_quoted(heard.text, note.start)
        lawful = own and note.scope is not Scope.OTHER
    return note if lawful else replace(note, ledger=LedgerCategory.OBSERVATION)


def with_speaker(text: str, heard: Heard) -> str:
    """The text of a ledger entry, with the name of another speaker than the student before it."""
    official = heard.kind in (SourceKind.TEACHER, SourceKind.SYSTEM)
    return text if official or heard.speaker is None else f"{heard.speaker}: {text}"


def promotions_of(reading: Reading, ids: Sequence[str]) -> tuple[Promotion, ...]:
    """Each ledger entry with the memory of its note."""
    given = reading.heard.kind
    return tuple(
        Promotion(replace(entry, given_by=given), vector, ids[place]) for place, entry, vector in reading.entries
    )
