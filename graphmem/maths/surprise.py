"""Surprise of a message, and the level of surprise that it makes (spec 5)."""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphmem.model import Correction, Level, Matrix, Vector, Verdict

THRESHOLDS: Mapping[Level, float] = {
    Level.BOUNDARY: 0.65,
    Level.COGNITIVE_DISSONANCE: 0.85,
    Level.PARADIGM_SHIFT: 0.90,
}
HIGHEST = 0.99
"""No correction raises a threshold above this."""
LOWERED = 0.1
"""No correction lowers a threshold further than this below its default."""
STEP = 0.5
"""Share of the way that a threshold goes at one correction."""
BEYOND = 0.02
"""How far beyond the signal in question that way leads, so that a few equal corrections suffice."""
UNUSUAL = 0.9
"""From this quantile on a part of message surprise is named when a surprise is explained."""
WEIGHTS: Mapping[str, float] = {"topic": 0.4, "gap": 0.2, "author": 0.2, "length": 0.2}
"""Weights of the parts of message surprise; one that is missing leaves its weight to the others."""
FEW = 3
"""Fewer gaps or lengths than this are no habit; fewer authors than this take turns."""
SMALLEST_SPREAD = 0.25
"""Least standard deviation of lengths, as a share of their mean: short messages do not surprise by a letter."""
TOLD_WEIGHT = 0.3
"""Weight of a message's content beside its surprise."""
OWN_COUNTS = 50
"""So many signals of the student's own count as much as all ordinary talk."""
ORDINARY_FILE = Path(__file__).with_name("ordinary.json")
"""Surprise of ordinary talk, made by `scripts/train/surprise.py`: values at the shares of messages below them."""
ORDINARY: Mapping[str, Sequence[float]] = json.loads(ORDINARY_FILE.read_text("utf-8"))
ORDINARY_SHARES = ORDINARY["shares"]
KNOTS = ((0.0, 0.80, 0.95, 0.98, 1.0), (0.0, 0.65, 0.85, 0.90, 1.0))
"""Quantiles in ordinary talk, and the signals they become."""


@dataclass(frozen=True)
class History:
    """The numbers of the last 50 messages, oldest first, that a new one is compared with.

    vectors : float32 array of shape (m, d), rows of length 1, of the messages that can be compared
    gaps : seconds between the messages of the new one's author
    authors : one name a message
    lengths : characters of the messages of the new one's author
    task : embedding of the talk's task, of shape (d,) and length 1; None without a task
    """

    vectors: Matrix
    gaps: Sequence[float]
    authors: Sequence[str]
    lengths: Sequence[int]
    task: Vector | None = None


@dataclass(frozen=True)
class MessageParts:
    """Parts of message surprise before calibration, each from 0; None where there is nothing to compare with."""

    topic: float | None = None
    gap: float | None = None
    author: float | None = None
    length: float | None = None


def message_parts(history: History, vector: Vector, gap: float, author: str, length: int) -> MessageParts:
    """The parts of a message's surprise against the recent conversation.

    Parameters
    ----------
    history : History
    vector : float32 array of shape (d,), of length 1
    gap : float >= 0, seconds since the author's previous message
    author : str
    length : int >= 0, characters

    Returns
    -------
    MessageParts: 1 - mean cosine with the last 5 messages and the task; deviation of the gap from its mean, as a share
    of it; 1 - share of the last 10 messages, where three or more speak; |z| / 2 of the length

    Notes
    -----
    Gaps and lengths are compared among the messages of one author: a tutor writes longer and
    answers faster than a student, and that alone should surprise nobody.

    Source: spec 5.

    Examples
    --------
    >>> import numpy as np
    >>> same = History(np.ones((6, 1), dtype=np.float32), [10.0] * 5, ["ann", "bob"] * 3, [20] * 6)
    >>> message_parts(same, np.ones(1, dtype=np.float32), 30.0, "ann", 20)
    MessageParts(topic=0.0, gap=2.0, author=None, length=0.0)
    """
    return MessageParts(
        topic=_distance(history, vector),
        gap=_deviation(history.gaps, gap),
        author=_strangeness(history.authors, author),
        length=_z_score(history.lengths, length),
    )


def message_surprise(parts: MessageParts) -> float:
    """Surprise of a message: the weighted mean of its parts' quantiles in ordinary talk.

    Returns
    -------
    float in [0, 1]: 0.4 semantic + 0.2 temporal + 0.2 author + 0.2 length, a missing part leaving its weight to the
    others; 0.5 where there is nothing to compare with

    Source: spec 5.

    Examples
    --------
    >>> message_surprise(MessageParts()), message_surprise(MessageParts(topic=0.0)), message_surprise(MessageParts(2.0))
    (0.5, 0.0, 1.0)
    """
    known = _calibrated_parts(parts)
    if not known:
        return 0.5
    return sum(WEIGHTS[name] * value for name, value in known.items()) / sum(WEIGHTS[name] for name in known)


def unusual(parts: MessageParts) -> tuple[str, ...]:
    """The parts of a message's surprise that nine of ten ordinary messages do not reach.

    Source: spec 5.

    Examples
    --------
    >>> unusual(MessageParts(topic=2.0, gap=0.0))
    ('topic',)
    """
    return tuple(name for name, value in _calibrated_parts(parts).items() if value >= UNUSUAL)


def prediction_error(match: float, chance: float = 1.0) -> float:
    """How wrong a prediction was.

    Parameters
    ----------
    match : float in [0, 1], chance that the prediction came true
    chance : float in (0, 1], predicted chance, as a share of the likeliest alternative's

    Returns
    -------
    float in [0, 1]; a prediction that came true but was thought unlikely is an error, too

    Source: spec 4.

    Examples
    --------
    >>> prediction_error(1.0), prediction_error(0.8, chance=0.5)
    (0.0, 0.6)
    """
    return 1.0 - match * chance


def combined(message: float, error: float | None, told: float) -> float:
    """Return the weighted sum of message surprise, prediction error and content, before calibration.

    Parameters
    ----------
    message : float in [0, 1]
    error : float in [0, 1]; None without a prediction
    told : float in [0, 1], the chance that a message's content is grave

    Returns
    -------
    float in [0, 1]: half message surprise, half the quantile of the error; of that 0.7, and 0.3 of `told`

    Source: spec 5.

    Examples
    --------
    >>> round(combined(0.5, None, 1.0), 3), round(combined(0.5, 2.0, 1.0), 3)
    (0.65, 0.825)
    """
    surprise = message if error is None else 0.5 * message + 0.5 * quantile(error, ORDINARY["error"])
    return (1 - TOLD_WEIGHT) * surprise + TOLD_WEIGHT * told


def signal(value: float, own: Sequence[float] = ()) -> float:
    """The surprise signal: how few ordinary messages reach such a sum.

    Parameters
    ----------
    value : float in [0, 1], as `combined` gives it
    own : the same of the student's earlier messages, which count n / (n + 50)

    Returns
    -------
    float in [0, 1]: 0.65, 0.85 and 0.90 are reached by about 20, 5 and 2 % of ordinary messages

    Source: spec 5.

    Examples
    --------
    >>> signal(0.0), signal(1.0)
    (0.0, 1.0)
    >>> signal(0.6, [0.5] * 100) > signal(0.6) > signal(0.6, [0.7] * 100)
    True
    """
    share = len(own) / (len(own) + OWN_COUNTS)
    below = 0.0
    if own:
        values = np.asarray(own)
        below = float(np.mean(values < value) + 0.5 * np.mean(values == value))
    rank = (1 - share) * quantile(value, ORDINARY["sum"]) + share * below
    return float(np.interp(rank, *KNOTS))


def quantile(value: float, table: Sequence[float]) -> float:
    """The share of ordinary values below one, ties half.

    Parameters
    ----------
    value : float
    table : ascending values at the shares `ORDINARY_SHARES`

    Examples
    --------
    >>> quantile(0.5, ORDINARY_SHARES), quantile(-1.0, ORDINARY_SHARES), quantile(2.0, ORDINARY_SHARES)
    (0.5, 0.0, 1.0)
    """
    first, after = bisect_left(table, value), bisect_right(table, value)
    if first < after:
        return (ORDINARY_SHARES[first] + ORDINARY_SHARES[after - 1]) / 2
    if first in (0, len(table)):
        return float(first > 0)
    return float(np.interp(value, table[first - 1 : first + 1], ORDINARY_SHARES[first - 1 : first + 1]))


def novelty(distance: float) -> float:
    """How new a message is beside ordinary talk: the share of its messages that are nearer to what was known before.

    Parameters
    ----------
    distance : float in [0, 1], in meaning, to the nearest message or memory (`graphmem.maths.importance.distance`)

    Source: spec 6.

    Examples
    --------
    >>> novelty(-0.1), novelty(1.0), novelty(0.4) < novelty(0.5)
    (0.0, 1.0, True)
    """
    return quantile(distance, ORDINARY["novelty"])


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


def thresholds(corrections: Sequence[Correction] = ()) -> dict[Level, float]:
    """Thresholds of the levels of surprise for one student.

    Parameters
    ----------
    corrections : sequence of Correction, later verdicts on surprises, oldest first

    Returns
    -------
    dict of the levels above normal, lowest first, to floats that never fall from level to level; without corrections
    each is its default, since it is the signal that a student's own history changes

    Notes
    -----
    "Was not important" on a surprise of level L moves the threshold of L half the way to 0.02 above its signal, where
    it is not there already; so after three or four such verdicts a signal like it no longer reaches L. "Was important"
    moves the threshold of the next higher level half the way to 0.02 below the signal (a surprise of the highest level
    was taken as important already). No verdict raises a threshold above 0.99 or lowers it to less than 0.1 below its
    default. A further "was not important" never lowers any threshold, a further "was important" never raises any,
    wherever in the sequence it stands. Last, a threshold below that of a lower level is lifted to it.

    Source: spec 5.

    Examples
    --------
    >>> list(thresholds().values())
    [0.65, 0.85, 0.9]
    >>> noise = Correction(0.92, Level.PARADIGM_SHIFT, Verdict.WAS_NOT_IMPORTANT)
    >>> [round(thresholds([noise] * n)[Level.PARADIGM_SHIFT], 3) for n in (0, 1, 2, 3)]
    [0.9, 0.92, 0.93, 0.935]
    """
    found: dict[Level, float] = {}
    for name, default in THRESHOLDS.items():
        start = _corrected(default, name, corrections)
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


def _calibrated_parts(parts: MessageParts) -> dict[str, float]:
    """The quantile in ordinary talk of each part that is known; of the author's there is none, since two take turns."""
    known = {name: value for name in WEIGHTS if (value := getattr(parts, name)) is not None}
    return {name: value if name == "author" else quantile(value, ORDINARY[name]) for name, value in known.items()}


def _distance(history: History, vector: Vector) -> float | None:
    known = history.vectors[-5:]
    nearby = (known if history.task is None else np.vstack([known, history.task])) @ vector
    return 1.0 - float(np.mean(nearby)) if len(nearby) else None


def _strangeness(authors: Sequence[str], author: str) -> float | None:
    last = authors[-10:]
    return 1.0 - sum(a == author for a in last) / len(last) if len({*last, author}) >= FEW else None


def _deviation(known: Sequence[float], value: float) -> float | None:
    """|value - mean| as a share of the mean."""
    mean = float(np.mean(known)) if len(known) >= FEW else 0.0
    return abs(value - mean) / mean if mean > 0.0 else None


def _z_score(known: Sequence[int], value: int) -> float | None:
    """|z| / 2 of a value."""
    if len(known) < FEW:
        return None
    mean = float(np.mean(known))
    return abs(value - mean) / max(float(np.std(known)), SMALLEST_SPREAD * mean, 1.0) / 2
