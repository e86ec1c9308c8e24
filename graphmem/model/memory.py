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
from graphmem.model.fields import SEALED, UNSTORED, Placement, Unit, documented
from graphmem.model.vectors import Vector
from graphmem.model.world import Practised

if TYPE_CHECKING:
    from graphmem.model.conversation import Mismatch

DETAILS = Placement("details", sealed=True, shared=True)
ANYONE = "The student"
"""Whom memories tell of where no name is known."""


@dataclass(frozen=True)
class Source:
    """Source of a memory."""

    id: str = field(metadata=documented("Id within the student.", Unit.NAME))
    kind: SourceKind = field(metadata=documented("Kind of source."))
    ref: str = field(metadata=documented("Id given by the app: the turnId, or the ref of the observation.", Unit.NAME))
    at: datetime = field(metadata=documented("When it was said or observed (UTC).", Unit.UTC))


@dataclass(frozen=True)
class MemoryEvent:
    """Something that happened to a memory; of a concern `memory_id` is its own id."""

    kind: MemoryEventKind = field(
        metadata=documented(
            "`formed`, `reinforced` (said again), `superseded` (holds no longer), `doubted` (uncertain or "
            "contradicted), `flashbulb` (never fades from now on), `compressed` (gone into a summary or "
            "pruned), `forgotten` (deleted) or `concern` (a message tells of danger)."
        )
    )
    memory_id: str = field(metadata=documented("Id of the memory; of a concern its own id."))
    at: datetime = field(metadata=documented("When it was noticed (UTC)."))


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

    id: str = field(metadata=documented("Id within the student.", Unit.NAME))
    kind: EntityKind = field(metadata=documented("Person, place or thing."))
    name: str | None = field(repr=False, metadata=documented("What it is called; null while locked.", stored=SEALED))


@dataclass(frozen=True)
class Extract:
    """One thing worth remembering that a mind found in a message.

    start, end : the span of the message it comes from, in characters; never empty
    content : one statement that stands by itself; the words it comes from are those of the span
    confidence : 0..1, how plainly it was said
    slot : for a lasting attribute, what it is an attribute of and which, e.g. `self favourite colour`; two
        memories of one slot could replace each other
    about : what it is about in a few words, most telling first; the topics of `ABOUT` edges
    context : what it leans on beside what was said just before: of work the task
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
    context: str = ""


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

    vector : embedding of `content`; None where the embedding model was changed
    """

    content: str = field(repr=False, metadata=documented("What was remembered."))
    quote: str | None = field(
        repr=False, metadata=documented("The words it comes from; null where they are the content.")
    )
    at: datetime = field(metadata=documented("When it was said or observed (UTC).", Unit.UTC))
    modality: Modality = field(metadata=documented("In what way it is remembered."))
    kind: MemoryKind = field(metadata=documented("Trait, concept or episode."))
    aspect: Aspect | None = field(metadata=documented("What else it tells beside its kind."))
    valence: float = field(metadata=documented("Feeling, -1 (bad) to 1 (good).", Unit.BALANCE))
    slot_key: str | None = field(metadata=documented("Keyed hash of the attribute it states, hexadecimal."))
    content_hash: str = field(metadata=documented("Keyed hash of the content, hexadecimal."))
    source_ref: str = field(metadata=documented("Ref of the newest source it was formed from."))
    vector: Vector | None = field(default=None, repr=False, compare=False)

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

    id: str = field(metadata=documented("Id within the student.", Unit.NAME))
    modality: Modality = field(metadata=documented("In what way it is remembered.", stored=UNSTORED))
    kind: MemoryKind = field(metadata=documented("Trait, concept or episode."))
    domain: Domain = field(metadata=documented("Part of the student's life."))
    content: str | None = field(
        repr=False,
        metadata=documented("What is remembered; null with LOCKED without the student's session.", stored=SEALED),
    )
    speaker: str | None = field(
        repr=False,
        metadata=documented("Who said it, where that was not the student; null while locked.", stored=DETAILS),
    )
    before: str | None = field(repr=False, metadata=documented("What was said just before it.", stored=DETAILS))
    gravity: float = field(
        metadata=documented("How present it is now, 0 to 1; halves every 7 days without use.", Unit.SHARE)
    )
    salience: float = field(
        metadata=documented(
            "How much it stood out when it was formed, 0 to 1; gravity stays above a tenth of it.", Unit.SHARE
        )
    )
    confidence: float = field(metadata=documented("How sure it is, 0 to 1.", Unit.SHARE))
    strength: float = field(metadata=documented("How firmly it is held, 0 to 1.", Unit.SHARE))
    valence: float = field(metadata=documented("Feeling, -1 (bad) to 1 (good).", Unit.BALANCE))
    timestamp: datetime = field(metadata=documented("When it was said or observed (UTC).", Unit.UTC))
    last_accessed: datetime = field(metadata=documented("When it was last used (UTC).", Unit.UTC))
    access_count: int = field(metadata=documented("Times it was used, 0 or more.", Unit.COUNT))
    reliability: Reliability = field(metadata=documented("How far it can be relied on."))
    reinforcement_count: int = field(metadata=documented("Times it was said again, 0 or more.", Unit.COUNT))
    last_reinforced_at: datetime | None = field(
        metadata=documented("When it was last said again (UTC); null: never.", Unit.UTC)
    )
    source_kind: SourceKind = field(metadata=documented("Kind of its source."))
    source_refs: tuple[str, ...] = field(metadata=documented("Refs of its sources.", stored=UNSTORED))
    snr: int = field(metadata=documented("Information of its source, 0 to 1000.", Unit.SCORE))
    passes: int = field(metadata=documented("Times its source was read for memories, 0 or more.", Unit.COUNT))
    importance: float = field(metadata=documented("Importance of the message it comes from, 0 to 1.", Unit.SHARE))
    surprise: float | None = field(
        metadata=documented("Surprise signal of that message, 0 to 1; null where it had none.", Unit.SHARE)
    )
    surprise_level: Level | None = field(metadata=documented("Level of that surprise; null where it had none."))
    flashbulb: bool = field(metadata=documented("Whether it never fades."))
    valid_at: datetime | None = field(metadata=documented("From when on it holds (UTC), if that is known.", Unit.UTC))
    invalid_at: datetime | None = field(metadata=documented("Until when it held (UTC); null while it holds.", Unit.UTC))
    slot_key: str | None = field(metadata=documented("Keyed hash of the attribute it states, hexadecimal.", Unit.NAME))
    merged_count: int = field(metadata=documented("Other memories merged into it, 0 or more.", Unit.COUNT))
    content_hash: str = field(metadata=documented("Keyed hash of the content, hexadecimal.", Unit.NAME))
    consolidated: bool = field(metadata=documented("Whether it was kept in full at the end of its session."))
    in_ledger: bool = field(default=False, metadata=documented("Whether a ledger entry keeps it."))
    role: MemoryRole = field(
        default=MemoryRole.SAID, metadata=documented("Whether it was said, or made of what was said.")
    )
    aspect: Aspect | None = field(default=None, metadata=documented("What else it tells beside its kind."))
    quote: str | None = field(
        default=None,
        repr=False,
        metadata=documented(
            "The words it comes from, as they were said; null while locked, and where they are the content.",
            stored=DETAILS,
        ),
    )
    statements: tuple[MergedStatement, ...] = field(
        default=(),
        repr=False,
        metadata=documented("Statements it was made of, at most twelve; of a summary.", stored=DETAILS),
    )
    original: str | None = field(
        default=None,
        repr=False,
        metadata=documented("The statement before it was put into the past; null where it was not.", stored=DETAILS),
    )
    slot: str | None = field(
        default=None,
        repr=False,
        metadata=documented(
            "The attribute it states; null where it states none, or is older than this was kept.", stored=DETAILS
        ),
    )
    utc_offset: int = field(
        default=0,
        repr=False,
        metadata=documented(
            "Minutes that the writer's clock was ahead of UTC, -1440 to 1440; 0 while locked.", stored=DETAILS
        ),
    )
    outdated_at: datetime | None = field(
        default=None,
        metadata=documented("Since when a part of it holds no longer (UTC); null where all of it holds.", Unit.UTC),
    )

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

    type: EdgeType = field(metadata=documented("Type of the relationship."))
    weight: float = field(metadata=documented("Strength, 0 to 1.", Unit.SHARE))
    from_id: str = field(metadata=documented("Id of the node it starts from.", stored=UNSTORED))
    to_id: str = field(metadata=documented("Id of the node it leads to.", stored=UNSTORED))
    to_label: str = field(metadata=documented("Label of that node: Memory, Entity or Concept.", stored=UNSTORED))
    created_at: datetime = field(metadata=documented("When it was formed (UTC).", Unit.UTC))
    reliability: Reliability = field(default=Reliability.RELIABLE, metadata=documented("How far it can be relied on."))


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

    id: str = field(metadata=documented("Id within the student.", Unit.NAME))
    category: LedgerCategory = field(metadata=documented("What it is."))
    content: str | None = field(repr=False, metadata=documented("What must not be forgotten.", stored=SEALED))
    summary: str | None = field(repr=False, metadata=documented("Short form.", stored=SEALED))
    importance: float = field(metadata=documented("Importance, 0 to 1.", Unit.SHARE))
    triggers: tuple[str, ...] = field(repr=False, metadata=documented("Words that bring it up.", stored=SEALED))
    trigger_entities: tuple[str, ...] = field(repr=False, metadata=documented("Names that bring it up.", stored=SEALED))
    trigger_threshold: float = field(
        metadata=documented("Cosine similarity from which on a message brings it up, 0 to 1.", Unit.SHARE)
    )
    is_active: bool = field(metadata=documented("Whether it still comes up: not settled, and not expired."))
    expires_at: datetime | None = field(metadata=documented("When it ceases to come up (UTC); null: never.", Unit.UTC))
    created_at: datetime = field(metadata=documented("When it was added (UTC).", Unit.UTC))
    settled_at: datetime | None = field(
        default=None,
        metadata=documented("When it was settled, or ended by what was said (UTC); null: never.", Unit.UTC),
    )
    note: str | None = field(
        default=None, repr=False, metadata=documented("What was said when it was settled.", stored=SEALED)
    )
    given_by: SourceKind | None = field(
        default=None,
        metadata=documented(
            "Kind of source it comes from, of several the one that counts most; null: an app has added it.",
            stored=UNSTORED,
        ),
    )


@dataclass(frozen=True)
class Recalled:
    """A memory that fits, how well (0..1), its gravity now, and why it is there, e.g. `hop from memory-3-1`.

    formed : False for a message or observation as it was said, of which no memories are formed yet; its memory lies
        in no graph, and its id is the job's that will form them
    similarity : cosine with the question, -1..1; 0 where it was not compared
    chance : that it is about the question, 0..1; 0 where that was not judged
    """

    memory: Memory = field(metadata=documented("The memory."))
    weight: float = field(metadata=documented("How well it fits, 0 or more; the higher the better."))
    gravity: float
    why: tuple[str, ...] = field(metadata=documented("Reasons, such as meaning, words or an edge."))
    formed: bool = True
    similarity: float = 0.0
    chance: float = 0.0


@dataclass(frozen=True)
class Erased:
    """How much was deleted of a student."""

    memories: int = field(default=0, metadata=documented("Memories, 0 or more."))
    edges: int = field(default=0, metadata=documented("Edges of every kind, 0 or more."))
    ledger: int = field(default=0, metadata=documented("Ledger entries, 0 or more."))
    facts: int = field(default=0, metadata=documented("Facts, 0 or more."))
    uncertainties: int = field(default=0, metadata=documented("Uncertainties, 0 or more."))
    jobs: int = field(default=0, metadata=documented("Jobs, 0 or more."))
    other: int = field(
        default=0, metadata=documented("Other nodes: turns, sources, sessions, usage and the like, 0 or more.")
    )

    def __add__(self, more: "Erased") -> "Erased":
        """Both together."""
        mine, theirs = astuple(self), astuple(more)
        return Erased(*(a + b for a, b in zip(mine, theirs, strict=True)))

    @property
    def total(self) -> int:
        """All nodes and edges together."""
        return sum(astuple(self))
