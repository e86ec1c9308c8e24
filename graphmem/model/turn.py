"""A turn and where a student stands between two of them, as frozen values (spec 3)."""

from dataclasses import dataclass, field
from datetime import datetime

from graphmem.model.concern import Concern, FalseAlarm
from graphmem.model.conversation import (
    Companion,
    Correction,
    Fact,
    Message,
    Prediction,
    Question,
    RecalledTurn,
    Task,
    Usage,
)
from graphmem.model.enums import Level
from graphmem.model.jobs import Job


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
