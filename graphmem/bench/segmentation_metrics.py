"""Metrics and simple baselines for the segmentation of conversations into episodes (spec 5, Measured by).

A segmentation of n turns is a 0/1 sequence of length n: 1 where a new episode begins with that turn. The first turn
begins none: a boundary lies between two turns, so the first value should be 0 and is not looked at.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import InvalidInput
from graphmem.model import Matrix

Boundaries = Sequence[int] | NDArray[np.int64] | NDArray[np.bool_]
Signal = NDArray[np.float64]
"""One number a turn, of shape (n,); larger where a boundary is likelier, 0 for the first turn."""

TILING_BLOCK = 2
"""Turns on either side that TextTiling compares."""
NARROWEST = 2
"""With a window of one turn Pk and WindowDiff would forgive nothing, and be the plain error rate."""


class Exact(NamedTuple):
    """Precision, recall and F1 of boundaries found at their exact positions; each in [0, 1]."""

    precision: float
    recall: float
    f1: float


def exact(gold: Sequence[Boundaries], found: Sequence[Boundaries]) -> Exact:
    """Precision, recall and F1 of boundaries over several talks, counted together.

    Parameters
    ----------
    gold : segmentations of people, one a talk
    found : as many, of the same lengths

    Returns
    -------
    Exact, all 0 where no boundary was found rightly

    Raises
    ------
    InvalidInput                        lengths differ

    Source: spec 5, Measured by.

    Examples
    --------
    >>> exact([[0, 0, 1, 0, 1]], [[0, 0, 1, 1, 0]])
    Exact(precision=0.5, recall=0.5, f1=0.5)
    """
    if len(gold) != len(found):
        raise InvalidInput(f"{len(gold)} talks cannot be compared with {len(found)}: give one guess a talk.")
    pairs = [_compared(g, f) for g, f in zip(gold, found, strict=True)]
    right = sum(int((g & f).sum()) for g, f in pairs)
    if right == 0:
        return Exact(0.0, 0.0, 0.0)
    there, said = (sum(int(pair[side].sum()) for pair in pairs) for side in (0, 1))
    return Exact(right / said, right / there, 2 * right / (there + said))


def metric_window(gold: Boundaries) -> int:
    """Turns that Pk and WindowDiff look across: half the mean length of the gold segments, at least 2.

    Examples
    --------
    >>> metric_window([0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]), metric_window([0, 1, 1])
    (3, 2)
    """
    turns = len(gold)
    segments = 1 + int(np.sum(np.asarray(gold[1:], dtype=bool)))
    return max(NARROWEST, round(turns / (2 * segments)))


def pk(gold: Boundaries, found: Boundaries) -> float:
    """Share of pairs of turns, `window(gold)` apart, of which the guess wrongly says whether a boundary parts them.

    Parameters
    ----------
    gold, found : segmentations of length n

    Returns
    -------
    float in [0, 1]; 0 is perfect, also for talks too short to hold a pair

    Raises
    ------
    InvalidInput                        lengths differ

    Source: Beeferman, Berger and Lafferty 1999, Statistical models for text segmentation.

    Examples
    --------
    >>> pk([0, 0, 0, 1, 0, 0], [0, 0, 0, 1, 0, 0]), pk([0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0])
    (0.0, 0.5)
    """
    return _windowed(gold, found, lambda a, b: (a > 0) != (b > 0))


def windowdiff(gold: Boundaries, found: Boundaries) -> float:
    """Share of windows of `window(gold)` turns in which the guess has another number of boundaries.

    Parameters and errors as for `pk`, which it is never below.

    Returns
    -------
    float in [0, 1]; 0 is perfect

    Source: Pevzner and Hearst 2002, A critique and improvement of an evaluation metric for text segmentation.

    Examples
    --------
    >>> two, one = [0, 0, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    >>> pk(two, one), windowdiff(two, one)
    (0.125, 0.25)
    """
    return _windowed(gold, found, lambda a, b: a != b)


def surprises(vectors: Matrix, before: int) -> Signal:
    """Dissimilarity of each turn to the turns just before it, looking back only.

    Parameters
    ----------
    vectors : float32 array of shape (n, d), rows of length 1
    before : int > 0, turns

    Returns
    -------
    float array of shape (n,): 1 minus the mean cosine, in [0, 2]; 0 for the first turn

    Source: spec 5 (the semantic part of message surprise).

    Examples
    --------
    >>> surprises(np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32), before=2).tolist()
    [0.0, 0.0, 1.0]
    """
    turns = len(vectors)
    values = [1.0 - float(np.mean(vectors[max(0, i - before) : i] @ vectors[i])) for i in range(1, turns)]
    return np.array([0.0, *values][:turns])


def depths(vectors: Matrix) -> Signal:
    """TextTiling's depth scores between blocks of two turns; sees the whole talk.

    Parameters
    ----------
    vectors : float32 array of shape (n, d)

    Returns
    -------
    float array of shape (n,), each >= 0: how far likeness falls there from the peaks left and right of it

    Source: Hearst 1997, TextTiling: segmenting text into multi-paragraph subtopic passages.

    Examples
    --------
    >>> depths(np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32)).round(2).tolist()
    [0.0, 0.0, 1.41, 0.0]
    """
    turns = len(vectors)
    alike = [_likeness(vectors[max(0, i - TILING_BLOCK) : i], vectors[i : i + TILING_BLOCK]) for i in range(1, turns)]
    values = [_peak(alike[i::-1]) + _peak(alike[i:]) - 2 * alike[i] for i in range(len(alike))]
    return np.array([0.0, *values][:turns])


def above_threshold(signal: Signal, threshold: float) -> NDArray[np.bool_]:
    """Boundaries where a signal reaches a fixed threshold; never with the first turn.

    Examples
    --------
    >>> above_threshold(np.array([0.0, 0.5, 0.9]), 0.6).tolist()
    [False, False, True]
    """
    found = np.asarray(signal, dtype=np.float64) >= threshold
    found[:1] = False
    return found


def above_mean(signal: Signal, deviations: float = 2.0) -> NDArray[np.bool_]:
    """Boundaries where a signal exceeds its own mean in this talk by so many standard deviations.

    Parameters
    ----------
    signal : float array of shape (n,)
    deviations : float; EM-LLM's gamma

    Returns
    -------
    bool array of shape (n,), the first False; nothing in a talk whose signal never varies

    Source: Fountas et al. 2024, Human-inspired episodic memory for infinite context LLMs (EM-LLM).

    Examples
    --------
    >>> above_mean(np.array([0.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.9])).tolist()
    [False, False, False, False, False, False, True]
    """
    found = np.zeros(len(signal), dtype=bool)
    if len(signal) > 1:
        rest = np.asarray(signal[1:], dtype=np.float64)
        found[1:] = rest > rest.mean() + deviations * rest.std()
    return found


def _compared(gold: Boundaries, found: Boundaries) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    if len(gold) != len(found):
        raise InvalidInput(f"A talk of {len(gold)} turns cannot be compared with a guess about {len(found)}.")
    return np.asarray(gold[1:], dtype=bool), np.asarray(found[1:], dtype=bool)


def _windowed(
    gold: Boundaries, found: Boundaries, differ: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]
) -> float:
    """Share of windows in which the two numbers of boundaries differ, in one sense or another."""
    size = metric_window(gold)
    counts = [np.cumsum([0, *each]) for each in _compared(gold, found)]
    if len(counts[0]) <= size:
        return 0.0
    between = [count[size:] - count[:-size] for count in counts]
    return float(np.mean(differ(between[0], between[1])))


def _likeness(left: Matrix, right: Matrix) -> float:
    a, b = left.sum(axis=0), right.sum(axis=0)
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 0.0


def _peak(values: Sequence[float]) -> float:
    """The first value, or the highest that is reached from it without going down."""
    highest = values[0]
    for value in values[1:]:
        if value < highest:
            break
        highest = value
    return highest
