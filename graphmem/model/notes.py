"""Notes: what a mind finds worth remembering in some messages, and how it hangs together (spec 7, 8, 17)."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from graphmem.model.conversation import Lesson
from graphmem.model.enums import Aspect, EdgeType, LedgerCategory, LinkKind, MemoryKind, Modality, Scope
from graphmem.model.memory import Entity


class NotePlace(NamedTuple):
    """Place of a note in an answer: its message among those of the question, and its own among that one's notes."""

    message: int
    note: int


@dataclass(frozen=True)
class KnownItem:
    """Something kept already that a note may say again, refine, end or settle: a memory, ledger entry or fact.

    id : of the memory, entry, fact or statement of a summary
    label : category of a ledger entry, `fact`, or empty for a memory
    until : when it stops holding, where that is known
    """

    id: str
    text: str = field(repr=False)
    at: datetime
    label: str = ""
    until: datetime | None = None


@dataclass(frozen=True)
class Link:
    """Link of a note: its effect on something known or on another note, or an edge to it.

    known : id of a `KnownItem`; empty where `note` is meant
    note : place of another note of the same answer; None with an empty `known`: what was remembered just before
    weight : 0..1, of an edge
    reverse : the edge runs to the note that holds the link
    """

    kind: LinkKind | EdgeType
    known: str = ""
    note: NotePlace | None = None
    weight: float = 1.0
    reverse: bool = False


@dataclass(frozen=True)
class Note:
    """One thing worth remembering that a mind noted in a message.

    start, end : the quote, as characters of the message as it was typed; never empty
    statement : a sentence that stands by itself, as the mind wrote it; None where the quote itself is kept
    confidence : 0..1, how plainly it was said
    context : what its quote leans on beside what was said before it
    importance : 0..1; None leaves it to the score of the message
    slot : for a lasting attribute, what it is an attribute of and which, e.g. `self favourite colour`
    entities, about : whom and what it names; what it is about in a few words, most telling first
    ledger : category of the ledger entry that it is kept as, too; triggers bring that back, `summary` shows it in short
    entry : the text of that entry; None where it is the memory's
    scope : of an instruction
    valid_at, invalid_at : since and until when it holds, where that was said
    due : end of the moment at which its ledger entry is over
    """

    start: int
    end: int
    statement: str | None = field(repr=False)
    modality: Modality
    kind: MemoryKind
    aspect: Aspect | None = None
    confidence: float = 0.7
    importance: float | None = None
    context: str = field(default="", repr=False)
    slot: str | None = None
    entities: tuple[Entity, ...] = ()
    about: tuple[str, ...] = ()
    ledger: LedgerCategory | None = None
    entry: str | None = field(default=None, repr=False)
    scope: Scope = Scope.OTHER
    triggers: tuple[str, ...] = ()
    trigger_entities: tuple[str, ...] = ()
    summary: str | None = field(default=None, repr=False)
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    due: datetime | None = None
    links: tuple[Link, ...] = ()


@dataclass(frozen=True)
class Notes:
    """Answer to `Remember`.

    of : notes of each message, in the order of the question
    linked : the mind was shown what is known and has named every effect on it; else effects are judged afterwards
    learned : what the violated expectations taught, with the place of the message
    question : to be put to the student some time; empty for none
    teach : a way to teach this student; empty for none
    """

    of: tuple[tuple[Note, ...], ...]
    linked: bool = False
    learned: tuple[tuple[int, Lesson], ...] = ()
    question: str = ""
    teach: str = ""
