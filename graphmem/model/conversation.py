"""Talk as frozen values: sessions, turns, messages, expectations, questions to a mind, its notes (spec 1, 3, 4)."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Annotated, ClassVar, Generic, NamedTuple, TypeVar

from rapidfuzz import utils

from graphmem.model.concern import Concern, Danger, FalseAlarm
from graphmem.model.enums import (
    AskedFor,
    Aspect,
    Author,
    EdgeType,
    Effect,
    JobState,
    LedgerCategory,
    Level,
    MemoryKind,
    Modality,
    QuestionState,
    Scope,
    Verdict,
)
from graphmem.model.fields import Count, Name, PersonaPart, Placement, Sealed, T, ToleranceRange, Unstored, Vector
from graphmem.model.memory import Digest, Entity, Heard, LedgerEntry, Memory, Recalled
from graphmem.model.uncertainty import Woven

FACT = "fact-"
"""Beginning of the id of a fact."""


NO_NAME = "Companion"
"""What a companion is called until an app gives it a name."""
T_co = TypeVar("T_co", covariant=True)
MESSAGES_AT_ONCE = 4
"""Messages whose jobs are taken together, and that a mind which reads some together remembers in one question."""


@dataclass(frozen=True)
class PromptUsage:
    """What one kind of question used of a language model; `prompt` as of `MindQuestion`, `cost` in US dollars."""

    prompt: str
    """`predict`, `respond`, `distil`, `extract`, `analyse`, `summarise` or `classify`; `other` for what an older
    version counted."""
    calls: int = 0
    """Number of model calls, 0 or more."""
    input_tokens: int = 0
    """Tokens sent to models, 0 or more."""
    output_tokens: int = 0
    """Tokens that models wrote, 0 or more."""
    cost: float = 0.0
    """Cost in US dollars, 0 or more."""

    def __add__(self, other: "PromptUsage") -> "PromptUsage":
        counts = zip(astuple(self)[1:], astuple(other)[1:], strict=True)
        return PromptUsage(self.prompt, *(a + b for a, b in counts))


@dataclass(frozen=True)
class Usage:
    """Usage of language-model calls; `cost` in US dollars.

    prompts : the same by kind of question, each once

    Examples
    --------
    >>> replied = Usage.of(PromptUsage("respond", 1, 10, 5))
    >>> [(each.prompt, each.calls) for each in (replied + replied + Usage.of(PromptUsage("classify", 1))).prompts]
    [('respond', 2), ('classify', 1)]
    """

    calls: int = 0
    """Number of model calls, 0 or more."""
    input_tokens: int = 0
    """Tokens sent to models, 0 or more."""
    output_tokens: int = 0
    """Tokens that models wrote, 0 or more."""
    cost: float = 0.0
    """Cost in US dollars, 0 or more."""
    prompts: tuple[PromptUsage, ...] = ()
    """The same by the kind of question that was asked."""

    @classmethod
    def of(cls, each: PromptUsage) -> "Usage":
        """The usage of one kind of question."""
        return cls(each.calls, each.input_tokens, each.output_tokens, each.cost, (each,))

    def __add__(self, other: "Usage") -> "Usage":
        by_prompt: dict[str, PromptUsage] = {}
        for each in self.prompts + other.prompts:
            known = by_prompt.get(each.prompt)
            by_prompt[each.prompt] = each if known is None else known + each
        names = ("calls", "input_tokens", "output_tokens", "cost")
        counts = {name: getattr(self, name) + getattr(other, name) for name in names}
        return Usage(**counts, prompts=tuple(by_prompt.values()))


@dataclass(frozen=True)
class Message:
    """One message of a conversation; `embedding` is None where there is none to compare it by.

    doc : its annotations (`graphmem.text.doc.Doc`), where they were made
    reading : what the encoder tells of it (`graphmem.language.analysis.MessageAnalysis`), in the process that read it
    """

    author: Author
    text: str
    at: datetime
    embedding: Vector | None = field(default=None, repr=False, compare=False)
    doc: object = field(default=None, repr=False, compare=False)
    reading: object = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Alternative:
    """Something else that the student may say next, and the chance of it."""

    text: str
    chance: float
    embedding: Vector | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Prediction:
    """Prediction of the student's next message, and the keywords of what one needs to know for it (spec 4).

    chance : float in (0, 1], of what is predicted
    alternatives : up to two more, less likely
    """

    text: str
    """The message that is expected next."""
    needed_info: tuple[str, ...] = ()
    """What one needs to know to answer it, as key phrases."""
    embedding: Vector | None = field(default=None, repr=False, compare=False)
    chance: float = 1.0
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True)
class Lesson:
    """Lesson of a violated expectation: one sentence and 1 to 5 tags (spec 4)."""

    text: str
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Fact:
    """A distilled surprise, kept in a ring of the newest (spec 4)."""

    id: Name
    """Id within the student."""
    seq: Count
    """Number among the facts that were ever learned."""
    text: Sealed[str]
    """The fact, in one sentence."""
    tags: Sealed[tuple[str, ...]]
    """Key words, lower case."""
    created_at: datetime
    """When it was learned (UTC)."""
    invalid_at: datetime | None = None
    """When it was ended by itself, not with a memory that tells it."""

    @cached_property
    def plain(self) -> str:
        """The text as it is searched: lower case, without punctuation."""
        return utils.default_process(self.text)

    @cached_property
    def plain_tags(self) -> tuple[str, ...]:
        """The tags as they are searched."""
        return tuple(map(utils.default_process, self.tags))

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """The first four letters of each word, the same for most inflections and slips of the pen."""
        return frozenset(word[:4] for text in (self.plain, *self.plain_tags) for word in text.split())


@dataclass(frozen=True)
class Companion:
    """The agent assigned to a student (spec 1)."""

    name: PersonaPart[str]
    """How it is called."""
    persona: PersonaPart[str]
    """Who it is and how it speaks."""
    tolerance: ToleranceRange
    """Tolerance for uncertainty, 0.2 to 0.8."""
    expertise: tuple[str, ...] = ()
    """Concepts it knows best; they count in importance."""


@dataclass(frozen=True)
class Correction:
    """Correction of a surprise afterwards: the signal and level it had, and somebody's verdict."""

    signal: float
    level: Level
    verdict: Verdict


@dataclass(frozen=True)
class Question:
    """Something the companion wants to ask the student, queued by a surprise (spec 5)."""

    id: Name
    """Id within the student."""
    text: Sealed[str] = field(repr=False)
    """The question."""
    created_at: datetime
    """When it came up (UTC)."""
    state: QuestionState = QuestionState.WAITING
    """Whether it waits, was asked or was answered."""


@dataclass(frozen=True)
class StoredTurn:
    """A turn of working memory, answered or only received.

    Of one that is only received `at` has the offset that the message was sent with; `given_reply` and `used` go when it
    is answered.
    """

    turn_id: Annotated[Name, Placement("id")]
    """Id of the turn."""
    text: Sealed[str] = field(repr=False)
    """The student's message."""
    at: Unstored[datetime]
    """When it was sent."""
    given_reply: Sealed[str | None] = field(default=None, repr=False)
    """The app's own reply."""
    task: Sealed[str | None] = field(default=None, repr=False)
    """What the talk was about; null where the app gave nothing."""
    opener: Sealed[str | None] = field(default=None, repr=False)
    """What the tutor said before the message, where nothing else held it."""
    used: tuple[str, ...] = ()
    """Ids of the memories that the app's own reply was built on."""
    reply: Sealed[str | None] = field(default=None, repr=False)
    """What was replied."""
    replied_by: Name | None = None
    """`app` or the name of a mind; null while it is not answered."""


@dataclass(frozen=True)
class Task:
    """The exercise or lesson that the talk is about, as the app gave it; never remembered as the student's words.

    stems : of its content words
    """

    text: str = field(repr=False)
    embedding: Vector = field(repr=False, compare=False)
    stems: frozenset[str] = field(default=frozenset(), repr=False, compare=False)


@dataclass(frozen=True)
class Conversation:
    """Conversation so far, as a mind is told it: oldest message first, the student's newest last.

    task : the exercise or lesson it is about; empty where the app gave none
    earlier : messages before them that are no longer held
    """

    companion: Companion
    messages: tuple[Message, ...]
    task: str = ""
    earlier: int = 0


@dataclass(frozen=True)
class RecalledTurn:
    """An earlier turn of the running session that fits the message, with its cosine similarity."""

    seq: int
    """Number of the turn among the student's turns, from 1."""
    text: str
    """What the student said."""
    reply: str
    """What was replied."""
    similarity: float
    """Cosine similarity with the message, -1 to 1."""


@dataclass(frozen=True)
class Remembered:
    """Recalled context that fits a message, as a mind is told it; memories, facts and ledger most useful first.

    question : one that a surprise left open, to be asked with the reply
    profile : what always comes: needs, who the student is, goals
    name : what the student is called, where it is known
    today : the moment that the context speaks of; None leaves the date out
    asked_for : part of memory that the message asks for
    secrets : ids of memories that give away a secret of the ledger
    why : by id, why a ledger entry or a fact is there, as `Recalled.why`
    weave : doubts that the message touches, to be raised in passing
    similarity : by id, the cosine of a ledger entry with the message, -1..1
    repeated : memories that fit and are left out, since a ledger entry says the same
    """

    facts: tuple[Fact, ...] = ()
    turns: tuple[RecalledTurn, ...] = ()
    memories: tuple[Recalled, ...] = ()
    ledger: tuple[LedgerEntry, ...] = ()
    question: str | None = None
    profile: tuple[Recalled, ...] = ()
    name: str | None = None
    today: datetime | None = None
    asked_for: AskedFor = AskedFor.OTHER
    secrets: frozenset[str] = frozenset()
    why: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    weave: tuple[Woven, ...] = ()
    similarity: Mapping[str, float] = field(default_factory=dict, compare=False)
    repeated: tuple[Recalled, ...] = ()


@dataclass(frozen=True)
class Response:
    """A reply and what is expected to follow it.

    danger : that a mind reads from the message
    judged : the mind has looked for danger: where it tells of none there is none, but for plain signs of acute danger
    came_true : 0..1, chance that what was expected of the message came true; None where the mind does not say
    used : ids of the memories that the reply rests on; None where the mind does not say
    """

    reply: Message
    prediction: Prediction
    danger: Danger | None = None
    judged: bool = False
    came_true: float | None = None
    used: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Mismatch:
    """An expectation that was violated, with the message the student was answering, if any.

    reading : of the message, as in `Message`
    """

    predicted: str
    actual: str
    reading: object = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Answer(Generic[T]):
    """A mind's answer, what it cost, and whether the offline mind stood in for a language model."""

    value: T
    usage: Usage = Usage()
    degraded: bool = False


@dataclass(frozen=True)
class Job:
    """A piece of work that follows a turn (spec 16)."""

    id: str
    """Id within the institution."""
    kind: str
    """Kind of work."""
    student_id: str
    """Id of the student it is for."""
    state: JobState
    """Where it stands."""
    attempts: int
    """Attempts so far, 0 to 5."""
    created_at: datetime
    """When it was made (UTC)."""
    run_after: datetime | None = None
    """When it is tried again (UTC); null: at once."""
    error: str | None = None
    """Why the last attempt failed, if one did."""

    @property
    def ref(self) -> str:
        """Its name within the institution: two students may have jobs of the same id."""
        return f"{self.student_id}/{self.id}"


@dataclass(frozen=True)
class State:
    """State of a student between two turns.

    version : counts the student's changes; what a process holds of an older version is stale
    turns, facts : how many there ever were; the newest has this sequence number
    prediction : what is expected of the next turn; None before the first one
    signals : sums of surprise before calibration, of the latest turns, oldest first
    corrections : what was said of surprises afterwards, oldest first
    questions : those that wait to be asked, longest waiting first
    asked_turn : the last turn whose reply asked one; 0 for none
    false_alarms : messages that were no danger after all, newest first
    episode_turn : the last turn that an episode began with; 0 for none
    """

    version: int
    turns: int
    facts: int
    companion: Companion
    prediction: Prediction | None
    signals: tuple[float, ...] = ()
    corrections: tuple[Correction, ...] = ()
    questions: tuple[Question, ...] = ()
    asked_turn: int = 0
    false_alarms: tuple[FalseAlarm, ...] = field(default=(), repr=False)
    episode_turn: int = 0


@dataclass(frozen=True)
class Unlocked:
    """Cached state of a student whose session is open in a process, as of one version of the student.

    messages : of this conversation, oldest first, the student's and the reply in turn, before some what opened them
    turn_ids : of those messages, oldest first
    facts : newest first
    task : what the talk is about now; None where the app gave none
    """

    state: State
    messages: tuple[Message, ...] = field(repr=False)
    turn_ids: tuple[str, ...]
    facts: tuple[Fact, ...] = field(repr=False)
    task: Task | None = None


@dataclass(frozen=True)
class Attention:
    """One feature's part in an importance score; the weights of all features sum to 1 (spec 6)."""

    feature: str
    """Name of the feature."""
    value: float
    """Value of the feature, 0 to 1."""
    weight: float
    """Share in the importance, 0 to 1; the weights of a turn sum to 1."""


@dataclass(frozen=True)
class RecalledId:
    """A memory that was recalled for a turn: how well it fitted then, its gravity then, and why it came."""

    memory_id: str
    weight: float
    gravity: float
    why: tuple[str, ...]


@dataclass(frozen=True)
class TurnOutcome:
    """All that is told about one turn; the same again whenever the turn is repeated (spec 3).

    ledger : ids of the entries that surfaced
    concern : the danger that the message tells of, if it does
    weave : ids of the doubts that are raised in the reply
    """

    turn_id: str
    """Id that the app gave."""
    seq: int
    at: datetime
    reply: str
    """The reply, or the app's own."""
    degraded: bool
    """Whether the offline mind answered though a model is configured."""
    match: float | None
    """How well the last prediction fits the message, 0 to 1; null where nothing was expected."""
    matched: bool | None
    """Whether the prediction came true (match of at least 0.6); null where nothing was expected."""
    fact: Fact | None
    """Fact learned because the prediction failed, if one was."""
    surprise: float
    """Surprise signal, 0 to 1."""
    level: Level
    """Level of the surprise."""
    importance: float
    """Importance of the message, 0 to 1."""
    threshold: float
    """Importance from which on the message is worth keeping, 0 to 1."""
    attention: tuple[Attention, ...]
    """Features of the importance with their weights."""
    recalled: tuple[RecalledId, ...]
    """The memories that were recalled, best first."""
    ledger: tuple[str, ...]
    """The ledger entries that surfaced."""
    recalled_facts: tuple[Fact, ...]
    """Facts that were recalled, best first."""
    recalled_turns: tuple[RecalledTurn, ...]
    """Earlier turns of the session that were recalled, best first."""
    prediction: str
    needed_info: tuple[str, ...]
    jobs: tuple[Job, ...]
    """Background work that follows the turn."""
    usage: Usage
    """Model calls of this turn, without its jobs."""
    concern: Concern | None = None
    """Danger that the message tells of; null otherwise. From urgency 2 a person should look."""
    repeated: bool = False
    """Whether this turnId had been answered before; then nothing was changed."""
    weave: tuple[str, ...] = ()
    """Uncertainties that the reply raises in passing, at most one; an app that replies weaves it in."""
    parrot_match: float | None = None
    """What the student's own message before would have matched as a prediction, 0 to 1; beside it `match` tells
    something. Null where nothing was expected."""


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

    kind: Effect | EdgeType
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


class OnFailure(StrEnum):
    """Retry policy of a question that a language model does not answer."""

    FALL_BACK = "fall_back"
    """The offline mind answers at once."""
    WAIT = "wait"
    """Its job is tried again later."""


class MindQuestion(Generic[T_co]):
    """A question to a mind; `T_co` is the type of its answer.

    prompt : its name, by which usage is counted
    when_away : policy while the language model is away
    when_unusable : policy where the model is there and its answer cannot be used
    """

    prompt: ClassVar[str] = ""
    when_away: ClassVar[OnFailure] = OnFailure.WAIT
    # What a model cannot digest would fail until its job is given up: rules are better than nothing.
    when_unusable: ClassVar[OnFailure] = OnFailure.FALL_BACK

    @property
    def can_wait(self) -> bool:
        """True if a job asks, which can be tried again; nobody waits for the answer of a turn."""
        return self.when_away is OnFailure.WAIT


@dataclass(frozen=True)
class Predict(MindQuestion[Prediction]):
    """The student's next message after a conversation, from that alone.

    talk : ends with the student's newest message
    """

    prompt = "predict"
    when_away = OnFailure.FALL_BACK

    talk: Conversation


@dataclass(frozen=True)
class Respond(MindQuestion[Response]):
    """The companion's reply to the student's newest message, and what the student is expected to say to it.

    danger : that the message may tell of: then the reply takes care of that alone, where it does
    help : text that such a reply holds word for word
    expected : what had been foreseen of the message
    written : the reply, where an app has written it itself
    """

    prompt = "respond"
    when_away = OnFailure.FALL_BACK

    talk: Conversation
    remembered: Remembered = field(default_factory=Remembered)
    danger: Danger | None = None
    help: str = ""
    expected: Prediction | None = None
    written: Message | None = None


@dataclass(frozen=True)
class Remember(MindQuestion[Notes]):
    """What is worth keeping of some messages of one talk, oldest first, and what the violated expectations teach.

    heard : the messages
    known : what is kept already and may be said again, refined, ended or settled by them
    asked : questions that wait to be put to the student
    """

    prompt = "remember"

    heard: tuple[Heard, ...]
    known: tuple[KnownItem, ...] = ()
    asked: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summarise(MindQuestion[tuple[Digest, ...]]):
    """Summaries of some groups of memories, each of which is to become one; one for each, in the same order.

    groups : 1 or more memories each, opened, oldest first
    student : the student's name, where it is known
    """

    prompt = "summarise"
    # Compression neither waits for a model nor asks it twice: rules are good enough for what fades.
    when_away = OnFailure.FALL_BACK

    groups: tuple[tuple[Memory, ...], ...]
    student: str | None = None

    @property
    def can_wait(self) -> bool:
        """True: nobody waits for a summary."""
        return True
