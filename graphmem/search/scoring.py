"""A search of a student's memories and its scores: relevance, weight, and what is shown (spec 10)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmem.maths.gravity import gravity, speed
from graphmem.model import Matrix, Memory, MemoryRole, Reliability, Vector

Scores = NDArray[np.float64]
"""One number a memory, of shape (n,)."""
Rows = NDArray[np.int64]
"""Places of memories, of shape (n,); -1 for none where it says so."""

SATURATION = 1.2
"""k1 of BM25: how soon saying a word again adds nothing."""
LENGTH_NORM = 0.75
"""b of BM25: how much long texts are held back."""
GRAVITY_EXPONENT = 0.02
"""How much of gravity goes into a weight: small, so that old but fitting evidence still comes (spec 10.4)."""
RELIABILITY_FACTORS = {
    Reliability.RELIABLE: 1.0,
    Reliability.UNCERTAIN: 0.6,
    Reliability.CONTRADICTED: 0.4,
    Reliability.SUPERSEDED: 0.2,
}
LEAST_FACTOR = 0.3


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


def scaled(scores: Scores) -> Scores:
    """Scores divided by their maximum, those below 0 as 0; all 0 where none is above 0.

    Examples
    --------
    >>> scaled(np.array([-1.0, 1.0, 2.0])).tolist(), scaled(np.array([-1.0])).tolist()
    ([0.0, 0.5, 1.0], [0.0])
    """
    positive = np.maximum(scores, 0.0)
    top = positive.max(initial=0.0)
    return positive / top if top > 0 else positive


def inverse_frequency(holding: Rows, total: int) -> Scores:
    """Inverse document frequency of words that `holding` of `total` texts hold, each above 0.

    Examples
    --------
    >>> inverse_frequency(np.array([1, 50, 100]), 100).round(3).tolist()
    [4.21, 0.693, 0.005]
    """
    rare: Scores = np.log1p((total - holding + 0.5) / (holding + 0.5))
    return rare


def bm25(counts: Scores | Rows, lengths: Scores | Rows, mean_length: float) -> Scores:
    """BM25 term frequency weight of a word in each text, before its rarity (IDF) is multiplied in.

    Parameters
    ----------
    counts : float array of shape (..., n), occurrences of the word, each >= 0
    lengths : float array of shape (n,), words of each text
    mean_length : float >= 0, words

    Returns
    -------
    float array of shape (..., n), each in [0, 2.2); 1 for one occurrence in a text of mean length

    Source: Robertson and Zaragoza 2009, The probabilistic relevance framework: BM25 and beyond.

    Examples
    --------
    >>> bm25(np.array([0.0, 1.0, 1.0]), np.array([8.0, 8.0, 16.0]), 8.0).round(2).tolist()
    [0.0, 1.0, 0.71]
    """
    norm = SATURATION * (1 - LENGTH_NORM + LENGTH_NORM * lengths / max(1.0, mean_length))
    worth: Scores = counts * (SATURATION + 1) / (counts + norm)
    return worth


def neighbour(scores: Scores, places: Rows) -> Scores:
    """The score of each memory's neighbour, of shape (..., n); 0 where it has none (place -1).

    Examples
    --------
    >>> neighbour(np.array([0.5, 0.7]), np.array([-1, 0])).tolist()
    [0.0, 0.5]
    """
    return np.where(places >= 0, np.take(scores, places, axis=-1), 0.0) if len(places) else scores


def best(scores: Scores, order: Rows, fits: NDArray[np.bool_], limit: int) -> list[int]:
    """Return the places of the highest scores where `fits`; of equals (to six digits) the later in order first.

    Examples
    --------
    >>> best(np.array([0.5, 0.9, 0.5, 1.0]), np.array([0, 1, 2, 3]), np.array([True, True, True, False]), limit=2)
    [1, 2]
    """
    rounded = np.round(scores, 6)
    places = np.flatnonzero(fits)
    if 0 < limit < len(places):
        least = np.partition(rounded[places], len(places) - limit)[len(places) - limit]
        places = places[rounded[places] >= least]
    ranked = np.lexsort((-order[places], -rounded[places]))[: max(0, limit)]
    return [int(place) for place in places[ranked]]


def mmr(relevance: Scores, vectors: Matrix, trade: float, limit: int) -> list[int]:
    """Return places in the order to show them: relevant, and unlike the ones before (MMR).

    Parameters
    ----------
    relevance : float array of shape (n,), in [0, 1]
    vectors : float32 array of shape (n, d), rows of length 1
    trade : float in [0, 1]         1: relevance alone
    limit : int >= 0

    Returns
    -------
    list of int, at most `limit`, none twice; the first is the most relevant (where `trade` > 0)

    Source: Carbonell and Goldstein 1998, The use of MMR; spec 10.6.

    Examples
    --------
    >>> twins = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    >>> mmr(np.array([1.0, 0.9, 0.5]), twins, trade=0.5, limit=3)
    [0, 2, 1]
    """
    chosen: list[int] = []
    likeness = np.zeros(len(relevance))
    left = np.ones(len(relevance), dtype=bool)
    for _ in range(min(limit, len(relevance))):
        best = int(np.argmax(np.where(left, trade * relevance - (1 - trade) * likeness, -np.inf)))
        chosen.append(best)
        left[best] = False
        likeness = np.maximum(likeness, vectors @ vectors[best])
    return chosen


def fitting(costs: Sequence[int], budget: int) -> list[int]:
    """Which of the items, most useful first, go into a budget; one too large is left out, later ones may still fit.

    Parameters
    ----------
    costs : sequence of int >= 0, tokens, in order of usefulness
    budget : int, tokens

    Returns
    -------
    list of int, places in ascending order

    Examples
    --------
    >>> fitting([40, 80, 30], budget=75)
    [0, 2]
    """
    kept: list[int] = []
    for place, cost in enumerate(costs):
        if cost <= budget:
            kept.append(place)
            budget -= cost
    return kept


def gravity_now(memory: Memory, now: datetime) -> float:
    """Return a memory's gravity at a moment, in [0, 1]; one last used after it counts as used just now (6, 9)."""
    days = max(0.0, (now - memory.last_accessed) / timedelta(days=1))
    lasting = memory.flashbulb or memory.in_ledger
    own = speed(memory.reliability, lasting=lasting, consolidated=memory.consolidated)
    return gravity(memory.gravity, days, salience=memory.salience, speed=own)


def weight(relevance: float, gravity: float, reliability: Reliability) -> float:
    """Weight of a memory in a context.

    Parameters
    ----------
    relevance : float in [0, 1]
    gravity : float in [0, 1]       of this moment

    Returns
    -------
    float in [0, 1]; never falls when relevance or gravity rises

    Source: spec 10.4; by measurement all modalities weigh the same, and gravity counts little.

    Examples
    --------
    >>> weight(0.8, 1.0, Reliability.RELIABLE)
    0.8
    >>> weight(0.8, 1.0, Reliability.SUPERSEDED) == 0.8 * 0.3
    True
    """
    factor = max(LEAST_FACTOR, RELIABILITY_FACTORS[reliability])
    return float(relevance * gravity**GRAVITY_EXPONENT * factor)


def surrounding(own: Scores, likeness: Scores, places: Rows, share: float) -> Scores:
    """Return the cosine of a question with each memory and the one before it, from cosines with single memories.

    Parameters
    ----------
    own : float array of shape (n,), cosine of each memory with the question
    likeness : float array of shape (n,), cosine of each memory with the one before it
    places : int array of shape (n,), the one before it, or -1
    share : float >= 0, how much the one before counts

    Returns
    -------
    float array of shape (n,): the cosine of the question with normalise(v + share * v_before)

    Examples
    --------
    >>> surrounding(np.array([1.0, 0.0]), np.array([0.0, 0.0]), np.array([-1, 0]), 1.0).round(3).tolist()
    [1.0, 0.707]
    """
    shares = np.where(places >= 0, share, 0.0)
    mixed: Scores = (own + shares * neighbour(own, places)) / np.sqrt(1 + shares**2 + 2 * shares * likeness)
    return mixed


def cosines(matrix: Matrix, vector: Vector) -> Scores:
    """Cosines of a vector with each row, all of length 1.

    Examples
    --------
    >>> cosines(np.eye(2, dtype=np.float32), np.array([1, 0], dtype=np.float32)).tolist()
    [1.0, 0.0]
    """
    return (matrix @ vector).astype(np.float64)


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
