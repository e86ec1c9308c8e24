"""A turn and where a student stands between two of them, as frozen values (spec 3)."""

from dataclasses import dataclass, field
from datetime import datetime

from graphmem.model.concern import Concern, FalseAlarm
from graphmem.model.conversation import (
    Companion,
    Correction,
    Fact,
    HabitCount,
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
    habits : how often each habit was shown
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
    habits: tuple[HabitCount, ...] = ()
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
    value: float
    weight: float


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
    seq: int
    at: datetime
    reply: str
    degraded: bool
    match: float | None
    matched: bool | None
    fact: Fact | None
    surprise: float
    level: Level
    importance: float
    threshold: float
    attention: tuple[Attention, ...]
    recalled: tuple[RecalledId, ...]
    ledger: tuple[str, ...]
    recalled_facts: tuple[Fact, ...]
    recalled_turns: tuple[RecalledTurn, ...]
    prediction: str
    needed_info: tuple[str, ...]
    jobs: tuple[Job, ...]
    usage: Usage
    concern: Concern | None = None
    repeated: bool = False
    weave: tuple[str, ...] = ()
    parrot_match: float | None = None
