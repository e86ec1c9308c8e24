"""Readings of a source, before they become what is written: its scores, statements and their features (spec 7)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphmem.maths import importance
from graphmem.model import (
    Domain,
    Extract,
    Extraction,
    Heard,
    LedgerEntry,
    Level,
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
    """Computed features of one extract: its embedding, its domain, how pleasant it sounds, and its keyed hashes."""

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
class Reading:
    """Everything that was found out about one source, before it becomes what is written.

    key : what the ids of its memories are made with
    marked : one for each memory of the extraction
    reminders : a ledger entry and its embedding for each reminder of the extraction
    valence : of the whole message, -1 to 1
    clarifies : the whole message, as the episode of a clarification, where doubts are open
    verdicts : on a new statement, by its content hash, beside a known memory, by its id
    """

    key: str
    source: Source
    heard: Heard
    snr: int
    scores: MessageScores
    extraction: Extraction
    marked: tuple[Marked, ...]
    reminders: tuple[tuple[LedgerEntry, Vector], ...]
    inferred_by: str
    retracted: tuple[RetractionRequest, ...] = ()
    valence: float = 0.0
    verdicts: Mapping[tuple[str, str], PairVerdict] = field(default_factory=dict)
    clarifies: tuple[Extract, Marked] | None = None
