"""Readings of a source, before they become what is written: its scores, statements and their features (spec 7)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphmem.maths import importance
from graphmem.model import (
    Domain,
    Heard,
    LedgerEntry,
    Lesson,
    Level,
    Note,
    NotePlace,
    PairVerdict,
    Source,
    Vector,
)
from graphmem.text.revision import Effect


@dataclass(frozen=True)
class MessageScores:
    """Scores of a message when it was said; an observation has an importance only (spec 5, 6).

    activity : messages a minute; None for an observation, which nobody said in the course of a conversation
    features : of its importance, in the order of `graphmem.maths.importance.Features`
    """

    importance: float
    surprise: float | None = None
    level: Level | None = None
    activity: float | None = None
    features: tuple[float, ...] = ()

    @property
    def final(self) -> float | None:
        """Score that consolidation compares with a threshold; None for an observation, which is wanted in any case."""
        return None if self.surprise is None else importance.final(self.importance, self.surprise)


@dataclass(frozen=True)
class Marked:
    """Content of a note with what is computed of it: embedding, domain, valence, keyed hashes.

    content : the statement of the note, or the words of its quote
    words : those of its quote
    """

    content: str = field(repr=False)
    words: str = field(repr=False)
    vector: Vector = field(repr=False)
    domain: Domain
    valence: float
    content_hash: str
    slot_key: str | None


@dataclass(frozen=True)
class Ended:
    """A memory that no longer holds, by which other, and whether life has changed or it was wrong."""

    id: str
    by_id: str | None
    effect: Effect


@dataclass(frozen=True)
class RetractionRequest:
    """Something the student asks to forget or says is not true; `vector` is None for what was said last."""

    vector: Vector | None = field(repr=False)


@dataclass(frozen=True)
class Beside:
    """What a mind says of a message beside its notes.

    lesson : what the violated expectation taught
    question : to be put to the student
    teach : a way to teach this student, with what is computed of it
    """

    lesson: Lesson | None = None
    question: str = field(default="", repr=False)
    teach: Marked | None = None


@dataclass(frozen=True)
class Reading:
    """Everything that was found out about one source, before it becomes what is written.

    key : what the ids of its memories are made with
    place : of its message in the question; `earlier` holds the memory of each note of the messages before it
    marked : one for each note
    linked : the notes name their effects on what is known; else effects are judged from `verdicts` and by likeness
    entries : a ledger entry and its embedding, with the place of the note that it is of
    valence : of the whole message, -1 to 1
    clarifies : the whole message, as the episode of a clarification, where doubts are open
    verdicts : on a new statement, by its content hash, beside a known memory, by its id
    """

    key: str
    source: Source
    heard: Heard
    snr: int
    scores: MessageScores
    notes: tuple[Note, ...]
    marked: tuple[Marked, ...]
    entries: tuple[tuple[int, LedgerEntry, Vector], ...]
    inferred_by: str
    linked: bool = False
    place: int = 0
    earlier: Mapping[NotePlace, str] = field(default_factory=dict)
    beside: Beside = Beside()
    retracted: tuple[RetractionRequest, ...] = ()
    valence: float = 0.0
    verdicts: Mapping[tuple[str, str], PairVerdict] = field(default_factory=dict)
    clarifies: tuple[Note, Marked] | None = None
