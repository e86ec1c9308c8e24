"""Memories, what they are formed from, the ledger and what is recalled, as frozen values (spec 1, 2)."""

from dataclasses import astuple, dataclass, field
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, NamedTuple

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
from graphmem.model.fields import Balance, Count, Detail, Name, Sealed, Share, Snr, Unstored, Vector
from graphmem.model.world import Practised

if TYPE_CHECKING:
    from graphmem.model.conversation import Mismatch

ANYONE = "The student"
"""Whom memories tell of where no name is known."""


@dataclass(frozen=True)
class Source:
    """Source of a memory."""

    id: Name
    """Id within the student."""
    kind: SourceKind
    """Kind of source."""
    ref: Name
    """Id given by the app: the turnId, or the ref of the observation."""
    at: datetime
    """When it was said or observed (UTC)."""


@dataclass(frozen=True)
class MemoryEvent:
    """Something that happened to a memory; of a concern `memory_id` is its own id."""

    kind: MemoryEventKind
    """`formed`, `reinforced` (said again), `superseded` (holds no longer), `doubted` (uncertain or contradicted),
    `flashbulb` (never fades from now on), `compressed` (gone into a summary or pruned), `forgotten` (deleted) or
    `concern` (a message tells of danger)."""
    memory_id: str
    """Id of the memory; of a concern its own id."""
    at: datetime
    """When it was noticed (UTC)."""


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
    task : the exercise or lesson it is about; nothing is formed from it either
    passes : 1 to 3, how thoroughly it is read (spec 7)
    reply : what the tutor said to it, where an app gave it; it tells whether an answer was right, nothing is formed
        from it
    student : the student's name, where it is known
    asks : it asks for what was told: what stands beside the question mostly says why, and ends nothing
    observed : somebody chose to have it remembered; it is no turn of the student's
    violated : the expectation that it violates; None where it came true or there was none
    doc : the annotations of `text` (`graphmem.text.doc.Doc`), where they were made
    reading : what the encoder tells of it (`graphmem.language.analysis.MessageAnalysis`), where it was read
    """

    text: str
    at: datetime
    kind: SourceKind = SourceKind.CHAT
    speaker: str | None = None
    before: str = ""
    passes: int = 1
    reply: str = ""
    task: str = ""
    student: str | None = None
    asks: bool = False
    observed: bool = False
    violated: "Mismatch | None" = None
    doc: object = field(default=None, repr=False, compare=False)
    reading: object = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Entity:
    """A person, place or thing in one student's memories."""

    name: str
    kind: EntityKind


@dataclass(frozen=True)
class NamedEntity:
    """A person, place or thing that memories speak of."""

    id: Name
    """Id within the student."""
    kind: EntityKind
    """Person, place or thing."""
    name: Sealed[str | None] = field(repr=False)
    """What it is called; null while locked."""


@dataclass(frozen=True)
class Relation:
    """Relation between two things found in one message, by their places.

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
class MergedStatement:
    """A statement that became part of a summary, as it can still be said again, refined or ended.

    vector : embedding of `content`; None where the embedding model was changed
    """

    content: str = field(repr=False)
    """What was remembered."""
    quote: str | None = field(repr=False)
    """The words it comes from; null where they are the content."""
    at: datetime
    """When it was said or observed (UTC)."""
    modality: Modality
    """In what way it is remembered."""
    kind: MemoryKind
    """Trait, concept or episode."""
    aspect: Aspect | None
    """What else it tells beside its kind."""
    valence: Balance
    """Feeling, -1 (bad) to 1 (good)."""
    slot_key: str | None
    """Keyed hash of the attribute it states, hexadecimal."""
    content_hash: str
    """Keyed hash of the content, hexadecimal."""
    source_ref: str
    """Ref of the newest source it was formed from."""
    vector: Unstored[Vector | None] = field(default=None, repr=False, compare=False)

    @property
    def id(self) -> str:
        """Id of the memory that it becomes when it is taken out of its summary."""
        return f"statement-{self.content_hash[:24]}"


@dataclass(frozen=True)
class Memory:
    """A node of a student's memory graph (spec 2).

    What is sealed is None without the student's session. `gravity` is as of `last_accessed`; what it is now is
    computed (spec 9).
    """

    id: Name
    """Id within the student."""
    modality: Unstored[Modality]
    """In what way it is remembered."""
    kind: MemoryKind
    """Trait, concept or episode."""
    domain: Domain
    """Part of the student's life."""
    content: Sealed[str | None] = field(repr=False)
    """What is remembered; null with LOCKED without the student's session."""
    speaker: Detail[str | None] = field(repr=False)
    """Who said it, where that was not the student; null while locked."""
    before: Detail[str | None] = field(repr=False)
    """What was said just before it."""
    gravity: Share
    """How present it is now, 0 to 1; halves every 7 days without use."""
    salience: Share
    """How much it stood out when it was formed, 0 to 1; gravity stays above a tenth of it."""
    confidence: Share
    """How sure it is, 0 to 1."""
    strength: Share
    """How firmly it is held, 0 to 1."""
    valence: Balance
    """Feeling, -1 (bad) to 1 (good)."""
    timestamp: datetime
    """When it was said or observed (UTC)."""
    last_accessed: datetime
    """When it was last used (UTC)."""
    access_count: Count
    """Times it was used, 0 or more."""
    reliability: Reliability
    """How far it can be relied on."""
    reinforcement_count: Count
    """Times it was said again, 0 or more."""
    last_reinforced_at: datetime | None
    """When it was last said again (UTC); null: never."""
    source_kind: SourceKind
    """Kind of its source."""
    source_refs: Unstored[tuple[str, ...]]
    """Refs of its sources."""
    snr: Snr
    """Information of its source, 0 to 1000."""
    passes: Count
    """Times its source was read for memories, 0 or more."""
    importance: Share
    """Importance of the message it comes from, 0 to 1."""
    surprise: Share | None
    """Surprise signal of that message, 0 to 1; null where it had none."""
    surprise_level: Level | None
    """Level of that surprise; null where it had none."""
    flashbulb: bool
    """Whether it never fades."""
    valid_at: datetime | None
    """From when on it holds (UTC), if that is known."""
    invalid_at: datetime | None
    """Until when it held (UTC); null while it holds."""
    slot_key: Name | None
    """Keyed hash of the attribute it states, hexadecimal."""
    merged_count: Count
    """Other memories merged into it, 0 or more."""
    content_hash: Name
    """Keyed hash of the content, hexadecimal."""
    consolidated: bool
    """Whether it was kept in full at the end of its session."""
    in_ledger: bool = False
    """Whether a ledger entry keeps it."""
    role: MemoryRole = MemoryRole.SAID
    """Whether it was said, or made of what was said."""
    aspect: Aspect | None = None
    """What else it tells beside its kind."""
    quote: Detail[str | None] = field(default=None, repr=False)
    """The words it comes from, as they were said; null while locked, and where they are the content."""
    statements: Detail[tuple[MergedStatement, ...]] = field(default=(), repr=False)
    """Statements it was made of, at most twelve; of a summary."""
    original: Detail[str | None] = field(default=None, repr=False)
    """The statement before it was put into the past; null where it was not."""
    slot: Detail[str | None] = field(default=None, repr=False)
    """The attribute it states; null where it states none, or is older than this was kept."""
    utc_offset: Detail[int] = field(default=0, repr=False)
    """Minutes that the writer's clock was ahead of UTC, -1440 to 1440; 0 while locked."""
    outdated_at: datetime | None = None
    """Since when a part of it holds no longer (UTC); null where all of it holds."""

    @property
    def words(self) -> str:
        """Its statement and the words it comes from, as they are searched."""
        return f"{self.content or ''}\n{self.quote}" if self.quote else self.content or ""

    @property
    def zone(self) -> timezone:
        """The writer's offset from UTC."""
        return timezone(timedelta(minutes=self.utc_offset))

    @property
    def is_own_word(self) -> bool:
        """True for what the student said in a chat: neither noted by others nor inferred."""
        told = self.role in (MemoryRole.SAID, MemoryRole.SUMMARY)
        return told and self.speaker is None and self.source_kind is SourceKind.CHAT


def blank_memory(at: datetime) -> Memory:
    """Return a reliable memory of a moment that says nothing and was never used; `replace` gives it the rest."""
    return Memory(
        id="",
        modality=Modality.EPISODIC,
        kind=MemoryKind.EPISODE,
        domain=Domain.OTHER,
        content=None,
        speaker=None,
        before=None,
        gravity=1.0,
        salience=0.0,
        confidence=0.5,
        strength=0.5,
        valence=0.0,
        timestamp=at,
        last_accessed=at,
        access_count=0,
        reliability=Reliability.RELIABLE,
        reinforcement_count=0,
        last_reinforced_at=None,
        source_kind=SourceKind.CHAT,
        source_refs=(),
        snr=0,
        passes=0,
        importance=0.0,
        surprise=None,
        surprise_level=None,
        flashbulb=False,
        valid_at=at,
        invalid_at=None,
        slot_key=None,
        merged_count=0,
        content_hash="",
        consolidated=False,
    )


def offset_of(at: datetime) -> int:
    """Minutes that the clock of a moment's time zone is ahead of UTC.

    Examples
    --------
    >>> offset_of(datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=-7)))), offset_of(datetime(2026, 1, 1))
    (-420, 0)
    """
    return (at.utcoffset() or timedelta()) // timedelta(minutes=1)


@dataclass(frozen=True)
class Digest:
    """A summary of some statements, and the places of those that it says."""

    text: str = field(repr=False)
    says: tuple[int, ...] = ()


@dataclass(frozen=True)
class Edge:
    """A relationship of a student's memory graph (spec 2)."""

    type: EdgeType
    """Type of the relationship."""
    weight: Share
    """Strength, 0 to 1."""
    from_id: Unstored[str]
    """Id of the node it starts from."""
    to_id: Unstored[str]
    """Id of the node it leads to."""
    to_label: Unstored[str]
    """Label of that node: Memory, Entity or Concept."""
    created_at: datetime
    """When it was formed (UTC)."""
    reliability: Reliability = Reliability.RELIABLE
    """How far it can be relied on."""


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
    """Ledger entry, which must not be forgotten (spec 8); `trigger_threshold` is on the (1 + cosine) / 2 scale."""

    id: Name
    """Id within the student."""
    category: LedgerCategory
    """What it is."""
    content: Sealed[str | None] = field(repr=False)
    """What must not be forgotten."""
    summary: Sealed[str | None] = field(repr=False)
    """Short form."""
    importance: Share
    """Importance, 0 to 1."""
    triggers: Sealed[tuple[str, ...]] = field(repr=False)
    """Words that bring it up."""
    trigger_entities: Sealed[tuple[str, ...]] = field(repr=False)
    """Names that bring it up."""
    trigger_threshold: Share
    """Cosine similarity from which on a message brings it up, 0 to 1."""
    is_active: bool
    """Whether it still comes up: not settled, and not expired."""
    expires_at: datetime | None
    """When it ceases to come up (UTC); null: never."""
    created_at: datetime
    """When it was added (UTC)."""
    settled_at: datetime | None = None
    """When it was settled, or ended by what was said (UTC); null: never."""
    note: Sealed[str | None] = field(default=None, repr=False)
    """What was said when it was settled."""
    given_by: Unstored[SourceKind | None] = None
    """Kind of source it comes from, of several the one that counts most; null: an app has added it."""


@dataclass(frozen=True)
class Recalled:
    """A memory that fits, how well (0..1), its gravity now, and why it is there, e.g. `hop from memory-3-1`.

    formed : False for a message or observation as it was said, of which no memories are formed yet; its memory lies
        in no graph, and its id is the job's that will form them
    similarity : cosine with the question, -1..1; 0 where it was not compared
    chance : that it is about the question, 0..1; 0 where that was not judged
    """

    memory: Memory
    """The memory."""
    weight: float
    """How well it fits, 0 or more; the higher the better."""
    gravity: float
    why: tuple[str, ...]
    """Reasons, such as meaning, words or an edge."""
    formed: bool = True
    similarity: float = 0.0
    chance: float = 0.0


@dataclass(frozen=True)
class Erased:
    """How much was deleted of a student."""

    memories: int = 0
    """Memories, 0 or more."""
    edges: int = 0
    """Edges of every kind, 0 or more."""
    ledger: int = 0
    """Ledger entries, 0 or more."""
    facts: int = 0
    """Facts, 0 or more."""
    uncertainties: int = 0
    """Uncertainties, 0 or more."""
    jobs: int = 0
    """Jobs, 0 or more."""
    other: int = 0
    """Other nodes: turns, sources, sessions, usage and the like, 0 or more."""

    def __add__(self, more: "Erased") -> "Erased":
        """Both together."""
        mine, theirs = astuple(self), astuple(more)
        return Erased(*(a + b for a, b in zip(mine, theirs, strict=True)))

    @property
    def total(self) -> int:
        """All nodes and edges together."""
        return sum(astuple(self))
