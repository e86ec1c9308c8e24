"""Questions to a mind, as frozen values, each generic in its answer (spec 17)."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Generic, TypeVar

from graphmem.model.concern import Danger
from graphmem.model.conversation import Conversation, Message, Prediction, Remembered, Response
from graphmem.model.memory import Digest, Heard, Memory
from graphmem.model.notes import KnownItem, Notes
from graphmem.model.uncertainty import PairVerdict, StatementPair

T_co = TypeVar("T_co", covariant=True)

MESSAGES_AT_ONCE = 4
"""Messages whose jobs are taken together, and that a mind which reads some together remembers in one question."""


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


@dataclass(frozen=True)
class Classify(MindQuestion[tuple[PairVerdict, ...]]):
    """Verdicts on some pairs of statements of one person; one verdict for each, in the same order."""

    prompt = "classify"
    when_away = OnFailure.FALL_BACK

    pairs: tuple[StatementPair, ...]
