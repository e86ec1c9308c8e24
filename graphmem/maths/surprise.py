"""Surprise of a message, and the level of surprise that it makes (spec 5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graphmem.model import Correction, Level, Matrix, Vector, Verdict

KNOWN_ENOUGH = 5
"""With fewer messages than this everything is new."""
UNKNOWN_SURPRISE = 0.8
THRESHOLDS: Mapping[Level, float] = {
    Level.BOUNDARY: 0.65,
    Level.COGNITIVE_DISSONANCE: 0.85,
    Level.PARADIGM_SHIFT: 0.90,
}
PERCENTILES = {Level.BOUNDARY: 80, Level.COGNITIVE_DISSONANCE: 95, Level.PARADIGM_SHIFT: 98}
ADAPTS_FROM = 50
"""With fewer signals than this the thresholds of a student are the defaults."""
HIGHEST = 0.99
"""No correction raises a threshold above this."""
LOWERED = 0.1
"""No correction lowers a threshold further than this below its default."""
STEP = 0.5
"""Share of the way that a threshold goes at one correction."""
BEYOND = 0.02
"""How far beyond the signal in question that way leads, so that a few equal corrections suffice."""
UNUSUAL = 0.75
"""From this on a part of message surprise is named when a surprise is explained."""
_PARTS = ("topic", "gap", "author", "length")


@dataclass(frozen=True)
class History:
    """The numbers of the last 50 messages, oldest first, that a new one is compared with.

    vectors : float32 array of shape (m, d), rows of length 1, of the messages that can be compared
    gaps : seconds between the messages of the new one's author
    authors : one name a message
    lengths : characters of the messages of the new one's author
    task : vector of what the talk is about, of shape (d,) and length 1; None where nobody said
    """

    vectors: Matrix
    gaps: Sequence[float]
    authors: Sequence[str]
    lengths: Sequence[int]
    task: Vector | None = None


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
    return _capped(float(np.dot((0.4, 0.2, 0.2, 0.2), _parts(history, vector, gap, author, length))))


def unusual(history: History, vector: Vector, gap: float, author: str, length: int) -> tuple[str, ...]:
    """Unusual aspects of a message; arguments as of `message_surprise`.

    Returns
    -------
    those of `topic`, `gap`, `author`, `length` whose part of message surprise is at least 0.75; none while fewer than
    5 messages are known, as then there is nothing ordinary yet

    Source: spec 5.

    Examples
    --------
    >>> import numpy as np
    >>> same = History(np.ones((6, 1), dtype=np.float32), [10.0] * 5, ["ann"] * 6, [20] * 6)
    >>> unusual(same, np.ones(1, dtype=np.float32), 60.0, "ann", 20)
    ('gap',)
    """
    if len(history.authors) < KNOWN_ENOUGH:
        return ()
    parts = _parts(history, vector, gap, author, length)
    return tuple(name for name, part in zip(_PARTS, parts, strict=True) if part >= UNUSUAL)


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


def level(signal: float, thresholds: Mapping[Level, float] = THRESHOLDS) -> Level:
    """The level of a surprise signal; each level begins at its threshold.

    Parameters
    ----------
    signal : float in [0, 1]
    thresholds : mapping of the levels above normal to floats, by default those of a student of whom little is known

    Source: spec 5.

    Examples
    --------
    >>> level(0.6499), level(0.65)
    (<Level.NORMAL: 'normal'>, <Level.BOUNDARY: 'boundary'>)
    >>> level(0.85), level(0.9)
    (<Level.COGNITIVE_DISSONANCE: 'cognitive_dissonance'>, <Level.PARADIGM_SHIFT: 'paradigm_shift'>)
    """
    reached = [name for name in THRESHOLDS if signal >= thresholds[name]]
    return reached[-1] if reached else Level.NORMAL


def thresholds(signals: Sequence[float], corrections: Sequence[Correction] = ()) -> dict[Level, float]:
    """Thresholds of the levels of surprise for one student.

    Parameters
    ----------
    signals : sequence of float in [0, 1], the student's signals so far, in any order
    corrections : sequence of Correction, what was said of surprises afterwards, oldest first

    Returns
    -------
    dict of the levels above normal, lowest first, to floats that never fall from level to level. Without corrections
    each is its default and, from 50 signals on, at least the student's own 80th, 95th or 98th percentile (linear
    interpolation)

    Notes
    -----
    "Was not important" on a surprise of level L moves the threshold of L half the way to 0.02 above its signal, where
    it is not there already; so after three or four such verdicts a signal like it no longer reaches L. "Was important"
    moves the threshold of the next higher level half the way to 0.02 below the signal (a surprise of the highest level
    was taken as important already). No verdict raises a threshold above 0.99 or lowers it to less than 0.1 below its
    default. A further "was not important" never lowers any threshold, a further "was important" never raises any,
    wherever in the sequence it stands. Last, a threshold below that of a lower level is lifted to it.

    Source: spec 5; the percentiles are those of `numpy.percentile`.

    Examples
    --------
    >>> list(thresholds([0.7] * 49).values())
    [0.65, 0.85, 0.9]
    >>> {str(name): round(start, 2) for name, start in thresholds([0.7] * 90 + [0.95] * 10).items()}
    {'boundary': 0.7, 'cognitive_dissonance': 0.95, 'paradigm_shift': 0.95}
    >>> noise = Correction(0.92, Level.PARADIGM_SHIFT, Verdict.WAS_NOT_IMPORTANT)
    >>> [round(thresholds([], [noise] * n)[Level.PARADIGM_SHIFT], 3) for n in (0, 1, 2, 3)]
    [0.9, 0.92, 0.93, 0.935]
    """
    known = len(signals) >= ADAPTS_FROM
    own = np.percentile(signals, list(PERCENTILES.values())) if known else np.zeros(len(PERCENTILES))
    found: dict[Level, float] = {}
    for (name, default), share in zip(THRESHOLDS.items(), own, strict=True):
        start = _corrected(max(default, float(share)), name, corrections)
        found[name] = max(start, *found.values()) if found else start
    return found


def _corrected(start: float, name: Level, corrections: Sequence[Correction]) -> float:
    """The threshold of a level after all that was said of surprises."""
    floor = THRESHOLDS[name] - LOWERED
    for correction in corrections:
        if correction.verdict is Verdict.WAS_NOT_IMPORTANT and correction.level is name:
            goal = min(HIGHEST, correction.signal + BEYOND)
            start += STEP * max(0.0, goal - start)
        elif correction.verdict is Verdict.WAS_IMPORTANT and _next(correction.level) is name:
            goal = max(floor, correction.signal - BEYOND)
            start -= STEP * max(0.0, start - goal)
    return start


def _next(name: Level) -> Level | None:
    order = list(Level)
    place = order.index(name) + 1
    return order[place] if place < len(order) else None


def _parts(history: History, vector: Vector, gap: float, author: str, length: int) -> tuple[float, ...]:
    """Semantic, temporal, author and length surprise, each in [0, 1]."""
    known = history.vectors[-5:]
    nearby = (known if history.task is None else np.vstack([known, history.task])) @ vector
    semantic = 1.0 - float(np.mean(nearby)) if len(nearby) else 1.0
    last = history.authors[-10:]
    strange_author = 1.0 - sum(a == author for a in last) / len(last)
    parts = (semantic, _deviation(history.gaps, gap), strange_author, _z_score(history.lengths, length) / 2)
    return tuple(map(_capped, parts))


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
