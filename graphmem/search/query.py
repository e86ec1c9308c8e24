"""Query and results of a search of a student's memories; `graphmem.search.index` does the searching."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

import numpy as np

from graphmem.model import Memory, MemoryRole, Vector
from graphmem.search.scoring import Scores

SCORE_PARTS = {
    "dense": 0.5,
    "dense around": 1.5,
    "lexical": 0.5,
    "lexical around": 1.5,
    "speaker": 1.5,
    "sitting": 0.5,
    "question": -0.3,
    "telling": 0.3,
    "dated": 0.25,
    "time": 1.5,
    "next to": 0.5,
}
"""What each part of a score counts, each part being in [0, 1]. Set by hand, few digits: figures hardly move near by."""


@dataclass(frozen=True)
class SearchQuery:
    """Search query.

    vector : embedding of the question, without the names of those who spoke
    words : its content words (`graphmem.text.doc.read_question` finds both)
    now : the moment of asking; memories ended by then are left out
    names : of speakers that it names
    as_of : instead of now: memories valid at that moment, superseded since or not
    ranges : spans of time it speaks of, from (included) and to (not)
    limit : most hits, >= 0
    roles : of the memories to be found; empty: all
    """

    vector: Vector = field(repr=False)
    words: tuple[str, ...]
    now: datetime
    names: tuple[str, ...] = ()
    as_of: datetime | None = None
    ranges: tuple[tuple[datetime, datetime], ...] = ()
    limit: int = 20
    roles: frozenset[MemoryRole] = frozenset()


class LexicalScores(NamedTuple):
    """BM25 of each memory, of the window around it, and of its whole session (scaled)."""

    inside: Scores
    around: Scores
    sitting: Scores


@dataclass(frozen=True)
class Hit:
    """A memory that fits, how well (0..1), and what each part of the score gave, largest first."""

    memory: Memory
    relevance: float
    why: dict[str, float]


def relevance(parts: dict[str, Scores]) -> Scores:
    """Relevance of each memory, in [0, 1], from the parts of its score, each of shape (n,).

    Examples
    --------
    >>> relevance({name: np.array([0.0, 1.0]) for name in SCORE_PARTS if SCORE_PARTS[name] > 0}).round(6).tolist()
    [0.0, 1.0]
    """
    total: Scores = np.sum([SCORE_PARTS[name] * part for name, part in parts.items()], axis=0)
    return np.clip(total / sum(w for w in SCORE_PARTS.values() if w > 0), 0.0, 1.0)


def within(at: Scores, ranges: tuple[tuple[datetime, datetime], ...]) -> Scores:
    """1 for each time (seconds since 1970) that lies in one of the spans, from (included) and to (not), else 0.

    Examples
    --------
    >>> from datetime import UTC
    >>> day = datetime(1970, 1, 1, tzinfo=UTC), datetime(1970, 1, 2, tzinfo=UTC)
    >>> within(np.array([0.0, 86400.0]), (day,)).tolist()
    [1.0, 0.0]
    """
    inside = np.zeros(len(at))
    for start, end in ranges:
        inside[(at >= start.timestamp()) & (at < end.timestamp())] = 1.0
    return inside


def why(parts: dict[str, Scores], row: int) -> dict[str, float]:
    """Contribution of each part to the score of a row's memory, those above 0, largest first.

    Examples
    --------
    >>> why({"dense": np.array([1.0]), "time": np.array([1.0]), "dated": np.array([0.0])}, 0)
    {'time': 1.5, 'dense': 0.5}
    """
    given = {name: float(SCORE_PARTS[name] * part[row]) for name, part in parts.items()}
    return {name: value for name, value in sorted(given.items(), key=lambda item: -item[1]) if value > 0}
