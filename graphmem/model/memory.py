"""Memories, what they are formed from, the ledger and what is recalled, as frozen values (spec 1, 2)."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from datetime import datetime
from typing import NamedTuple

from graphmem.model.concern import Danger
from graphmem.model.enums import (
    Aspect,
    Domain,
    EdgeType,
    EntityKind,
    LedgerCategory,
    Level,
    MemoryEventKind,
    MemoryKind,
    MemoryRole,
    Modality,
    Reliability,
    SourceKind,
)
from graphmem.model.vectors import Vector
from graphmem.model.world import Practised

ANYONE = "The student"
"""Whom memories tell of where no name is known."""


@dataclass(frozen=True)
class Source:
    """Source of a memory; `ref` is the caller's own name of it, e.g. a turn's id."""

    id: str
    kind: SourceKind
    ref: str
    at: datetime


@dataclass(frozen=True)
class MemoryEvent:
    """Something that happened to a memory; of a concern `memory_id` is its own id."""

    kind: MemoryEventKind
    memory_id: str
    at: datetime


@dataclass(frozen=True)
class Observation:
    """Observation from a lesson, a teacher, a system or another speaker, beside the student's own turns (spec 7).

    ref : the caller's own name of it; the same kind and ref again is the same observation
    speaker : who said it, where it was not the student
    before : what was said just before it
    danger : that it tells of, where it was found
    practised : concepts that were practised in it
    """

    kind: SourceKind
    ref: str
    text: str
    at: datetime
    speaker: str | None = None
    before: str = ""
    danger: Danger | None = None
    practised: tuple[Practised, ...] = ()


@dataclass(frozen=True)
class Heard:
    """Something that was said or noted, as a mind reads it to form memories.

    speaker : who said it, where it was not the student
    before : what was said just before it, by whomever; memories are found by it, nothing is formed from it
    talk : what the student said just before it, oldest first; whom it means by "she" may be named there
    task : the exercise or lesson it is about; nothing is formed from it either
    passes : 1 to 3, how thoroughly it is read (spec 7)
    reply : what the tutor said to it, where an app gave it; it tells whether an answer was right, nothing is formed
        from it
    student : the student's name, where it is known
    asks : it asks for what was told: what stands beside the question mostly says why, and ends nothing
    observed : somebody chose to have it remembered; it is no turn of the student's
    doc : the annotations of `text` (`graphmem.text.doc.Doc`), where they were made
    respelled : what `text` was made of (`graphmem.text.orthography.Respelled`), where it was typed in haste
    readings : what the reader makes of it and its statements (`graphmem.text.reader.MessageReading`), by their text,
        as far as they were read
    """

    text: str
    at: datetime
    kind: SourceKind = SourceKind.CHAT
    speaker: str | None = None
    before: str = ""
    talk: tuple[str, ...] = ()
    passes: int = 1
    reply: str = ""
    task: str = ""
    student: str | None = None
    asks: bool = False
    observed: bool = False
    doc: object = field(default=None, repr=False, compare=False)
    respelled: object = field(default=None, repr=False, compare=False)
    readings: Mapping[str, object] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Entity:
    """A person, place or thing in one student's memories."""

    name: str
    kind: EntityKind


@dataclass(frozen=True)
class NamedEntity:
    """An entity as it lies in the graph; `name` is None while locked."""

    id: str
    kind: EntityKind
    name: str | None = field(repr=False)


@dataclass(frozen=True)
class Extract:
    """One thing worth remembering that a mind found in a message.

    start, end : the span of the message it comes from, in characters; never empty
    content : one statement that stands by itself; the words it comes from are those of the span
    confidence : 0..1, how plainly it was said
    slot : for a lasting attribute, what it is an attribute of and which, e.g. `self favourite colour`; two
        memories of one slot could replace each other
    about : what it is about in a few words, most telling first; the topics of `ABOUT` edges
    same, refines, ends : id of a known memory that says this already, that this says more exactly, or that this shows
        to hold no longer, where a mind was shown what is known
    """

    start: int
    end: int
    content: str
    modality: Modality
    kind: MemoryKind
    confidence: float = 0.7
    slot: str | None = None
    entities: tuple[Entity, ...] = ()
    about: tuple[str, ...] = ()
    aspect: Aspect | None = None
    same: str | None = None
    refines: str | None = None
    ends: str | None = None


@dataclass(frozen=True)
class Relation:
    """Relation between two things found in one message, by their places in the extraction.

    target : None means what was remembered just before this message
    reverse : the edge runs from target to source, as where what was remembered before evokes a feeling told now
    """

    source: int
    target: int | None
    type: EdgeType
    weight: float
    reverse: bool = False


@dataclass(frozen=True)
class Reminder:
    """Something in a message that belongs into the ledger (spec 8), with the span it comes from.

    expires_at : when it is over, where that is said
    """

    start: int
    end: int
    category: LedgerCategory
    content: str
    summary: str
    importance: float
    triggers: tuple[str, ...] = ()
    trigger_entities: tuple[str, ...] = ()
    expires_at: datetime | None = None


@dataclass(frozen=True)
class Extraction:
    """Result of information extraction from one message by a mind."""

    memories: tuple[Extract, ...] = ()
    relations: tuple[Relation, ...] = ()
    reminders: tuple[Reminder, ...] = ()


@dataclass(frozen=True)
class MergedStatement:
    """A statement that became part of a summary, as it can still be said again, refined or ended.

    quote : the words it comes from, where it is not those words
    source_ref : of the newest source it was formed from
    vector : embedding of `content`; None where the embedding model was changed
    """

    content: str = field(repr=False)
    quote: str | None = field(repr=False)
    at: datetime
    modality: Modality
    kind: MemoryKind
    aspect: Aspect | None
    valence: float
    slot_key: str | None
    content_hash: str
    source_ref: str
    vector: Vector | None = field(default=None, repr=False, compare=False)

    @property
    def id(self) -> str:
        """Id of the memory that it becomes when it is taken out of its summary."""
        return f"statement-{self.content_hash[:24]}"


@dataclass(frozen=True)
class Memory:
    """A node of a student's memory graph (spec 2).

    content, speaker, before, quote, original, slot : sealed in the graph; None without the student's session
    quote : the words it comes from, as they were said; None where the content is those words
    original : the statement as it was before it was put into the past; None where it was not
    aspect : what else it tells beside its kind
    gravity : as of `last_accessed`; what it is now is computed (spec 9)
    salience, confidence, strength, importance : 0..1
    valence : -1..1
    snr : 0..1000 of the message it was formed from
    invalid_at : when it stopped being held true
    slot : the attribute it states, as of `Extract`; None where it states none, or is older than this was kept
    slot_key, content_hash : keyed hashes
    consolidated : whether the message reached the threshold of its time (spec 6)
    in_ledger : a ledger entry rests on it, so it does not fade (spec 9)
    statements : of a summary, what it was made of; sealed, at most twelve
    """

    id: str
    modality: Modality
    kind: MemoryKind
    domain: Domain
    content: str | None = field(repr=False)
    speaker: str | None = field(repr=False)
    before: str | None = field(repr=False)
    gravity: float
    salience: float
    confidence: float
    strength: float
    valence: float
    timestamp: datetime
    last_accessed: datetime
    access_count: int
    reliability: Reliability
    reinforcement_count: int
    last_reinforced_at: datetime | None
    source_kind: SourceKind
    source_refs: tuple[str, ...]
    snr: int
    passes: int
    importance: float
    surprise: float | None
    surprise_level: Level | None
    flashbulb: bool
    valid_at: datetime | None
    invalid_at: datetime | None
    slot_key: str | None
    merged_count: int
    content_hash: str
    consolidated: bool
    in_ledger: bool = False
    role: MemoryRole = MemoryRole.SAID
    aspect: Aspect | None = None
    quote: str | None = field(default=None, repr=False)
    statements: tuple[MergedStatement, ...] = field(default=(), repr=False)
    original: str | None = field(default=None, repr=False)
    slot: str | None = field(default=None, repr=False)

    @property
    def words(self) -> str:
        """Its statement and the words it comes from, as they are searched."""
        return f"{self.content or ''}\n{self.quote}" if self.quote else self.content or ""

    @property
    def is_own_word(self) -> bool:
        """True for what the student said in a chat: neither noted by others nor inferred."""
        told = self.role in (MemoryRole.SAID, MemoryRole.SUMMARY)
        return told and self.speaker is None and self.source_kind is SourceKind.CHAT


@dataclass(frozen=True)
class Digest:
    """A summary of some statements, and the places of those that it says."""

    text: str = field(repr=False)
    says: tuple[int, ...] = ()


@dataclass(frozen=True)
class Edge:
    """A relationship of a student's memory graph (spec 2)."""

    type: EdgeType
    weight: float
    from_id: str
    to_id: str
    to_label: str
    created_at: datetime
    reliability: Reliability = Reliability.RELIABLE


class HeldEdge(NamedTuple):
    """An edge between two memories as it is held of one of them.

    other_id : the memory at the other end
    outgoing : it begins at the memory that it is held of
    weight : 0 to 1
    """

    other_id: str
    type: str
    outgoing: bool
    weight: float
    reliability: Reliability


class Standing(NamedTuple):
    """Part of a memory that changes with every use."""

    id: str
    gravity: float
    last_accessed: datetime
    access_count: int


@dataclass(frozen=True)
class LedgerEntry:
    """Ledger entry, which must not be forgotten (spec 8); texts are sealed in the graph.

    trigger_threshold : 0..1 on the (1 + cosine) / 2 scale, from which meaning alone brings it back
    settled_at, note : when it was settled, or ended by what was said, and what was said about it
    given_by : kind of its source, of several the one that counts most; None where an app has added it
    """

    id: str
    category: LedgerCategory
    content: str | None = field(repr=False)
    summary: str | None = field(repr=False)
    importance: float
    triggers: tuple[str, ...] = field(repr=False)
    trigger_entities: tuple[str, ...] = field(repr=False)
    trigger_threshold: float
    is_active: bool
    expires_at: datetime | None
    created_at: datetime
    settled_at: datetime | None = None
    note: str | None = field(default=None, repr=False)
    given_by: SourceKind | None = None


@dataclass(frozen=True)
class Recalled:
    """A memory that fits, how well (0..1), its gravity now, and why it is there, e.g. `hop from memory-3-1`.

    formed : False for a message or observation as it was said, of which no memories are formed yet; its memory lies
        in no graph, and its id is the job's that will form them
    similarity : cosine with the question, -1..1; 0 where it was not compared
    """

    memory: Memory
    weight: float
    gravity: float
    why: tuple[str, ...]
    formed: bool = True
    similarity: float = 0.0


@dataclass(frozen=True)
class Erased:
    """How much was deleted of a student; `edges` of every kind, `other` what has no number of its own."""

    memories: int = 0
    edges: int = 0
    ledger: int = 0
    facts: int = 0
    uncertainties: int = 0
    jobs: int = 0
    other: int = 0

    def __add__(self, more: "Erased") -> "Erased":
        """Both together."""
        mine, theirs = astuple(self), astuple(more)
        return Erased(*(a + b for a, b in zip(mine, theirs, strict=True)))

    @property
    def total(self) -> int:
        """All nodes and edges together."""
        return sum(astuple(self))
