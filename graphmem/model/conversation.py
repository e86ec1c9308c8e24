"""Messages, expectations, facts and answers of a mind, as frozen values (spec 1, 4)."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Annotated, Generic, TypeVar

from rapidfuzz import utils

from graphmem.model.concern import Danger
from graphmem.model.enums import AskedFor, Author, Level, QuestionState, Verdict
from graphmem.model.fields import Count, Name, PersonaPart, Placement, Sealed, ToleranceRange, Unstored
from graphmem.model.memory import LedgerEntry, Recalled
from graphmem.model.uncertainty import Woven
from graphmem.model.vectors import Vector

T = TypeVar("T")

FACT = "fact-"
"""Beginning of the id of a fact."""


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


NO_NAME = "Companion"
"""What a companion is called until an app gives it a name."""


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
