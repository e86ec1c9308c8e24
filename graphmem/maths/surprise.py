"""How unexpected a message is, and what level of surprise that makes (spec 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphmem.model import Level, Matrix, Vector

KNOWN_ENOUGH = 5
"""With fewer messages than this everything is new."""
UNKNOWN_SURPRISE = 0.8
THRESHOLDS = {Level.BOUNDARY: 0.65, Level.COGNITIVE_DISSONANCE: 0.85, Level.PARADIGM_SHIFT: 0.90}


@dataclass(frozen=True)
class History:
    """The numbers of the last 50 messages, oldest first, that a new one is compared with.

    vectors : float32 array of shape (m, d), rows of length 1, of the messages that can be compared
    gaps : seconds between the messages of the new one's author
    authors : one name a message
    lengths : characters of the messages of the new one's author
    """

    vectors: Matrix
    gaps: Sequence[float]
    authors: Sequence[str]
    lengths: Sequence[int]


def message_surprise(history: History, vector: Vector, gap: float, author: str, length: int) -> float:
    """Surprise of a message against the recent conversation.

    Parameters
    ----------
    history : History
    vector : float32 array of shape (d,), of length 1
    gap : float >= 0, seconds since the author's previous message
    author : str
    length : int >= 0, characters

    Returns
    -------
    float in [0, 1]: 0.4 semantic + 0.2 temporal + 0.2 author + 0.2 length, each in [0, 1];
    0.8 while fewer than 5 messages are known

    Notes
    -----
    Gaps and lengths are compared among the messages of one author: a tutor writes longer and
    answers faster than a student, and that alone should surprise nobody.

    Source: spec 5.

    Examples
    --------
    >>> import numpy as np
    >>> same = History(np.ones((6, 1), dtype=np.float32), [10.0] * 5, ["ann"] * 6, [20] * 6)
    >>> message_surprise(same, np.ones(1, dtype=np.float32), 10.0, "ann", 20)
    0.0
    >>> message_surprise(same, -np.ones(1, dtype=np.float32), 60.0, "bob", 900)
    1.0
    """
    if len(history.authors) < KNOWN_ENOUGH:
        return UNKNOWN_SURPRISE
    nearby = history.vectors[-5:] @ vector
    semantic = 1.0 - float(np.mean(nearby)) if len(nearby) else 1.0
    last = history.authors[-10:]
    strange_author = 1.0 - sum(a == author for a in last) / len(last)
    parts = (semantic, _deviation(history.gaps, gap), strange_author, _z_score(history.lengths, length) / 2)
    return _capped(float(np.dot((0.4, 0.2, 0.2, 0.2), [_capped(p) for p in parts])))


def signal(message: float, match: float | None) -> float:
    """Message surprise, halved with the prediction error where there was a prediction.

    Parameters
    ----------
    message : float in [0, 1]
    match : float in [0, 1], how well the prediction fitted; None without a prediction

    Returns
    -------
    float in [0, 1]

    Source: spec 5.

    Examples
    --------
    >>> signal(0.5, match=None), signal(0.5, match=0.0), signal(0.5, match=1.0)
    (0.5, 0.75, 0.25)
    """
    return message if match is None else 0.5 * message + 0.5 * (1.0 - match)


def level(signal: float) -> Level:
    """The level of a surprise signal in [0, 1]; each level begins at its threshold.

    Source: spec 5.

    Examples
    --------
    >>> level(0.6499), level(0.65)
    (<Level.NORMAL: 'normal'>, <Level.BOUNDARY: 'boundary'>)
    >>> level(0.85), level(0.9)
    (<Level.COGNITIVE_DISSONANCE: 'cognitive_dissonance'>, <Level.PARADIGM_SHIFT: 'paradigm_shift'>)
    """
    reached = [name for name, start in THRESHOLDS.items() if signal >= start]
    return reached[-1] if reached else Level.NORMAL


def _capped(value: float) -> float:
    return min(1.0, max(0.0, value))


def _deviation(known: Sequence[float], value: float) -> float:
    """|value - mean| as a share of the mean; 0 without anything to compare with."""
    if not known:
        return 0.0
    mean = float(np.mean(known))
    if mean == 0.0:
        return 0.0 if value == 0.0 else 1.0
    return abs(value - mean) / mean


def _z_score(known: Sequence[int], value: int) -> float:
    """|z| of a value; a deviation from values that never varied counts as extreme."""
    if not known:
        return 0.0
    mean, spread = float(np.mean(known)), float(np.std(known))
    if spread == 0.0:
        return 0.0 if value == mean else float("inf")
    return abs(value - mean) / spread
