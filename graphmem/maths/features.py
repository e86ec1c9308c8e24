"""Numbers of a message and its conversation, for importance and surprise (spec 5, 6)."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np

from graphmem.model import Matrix, Vector

RATE_WINDOW = 600.0
"""Seconds over which messages a minute are averaged."""
RATE_LEAST = 30.0
"""Seconds of a talk that has only begun: a second message after one second is no busy time yet."""
SEGMENT_GAP = 3600.0
"""Seconds between two messages from which on they belong to different sessions."""


def distance(known: Matrix, vector: Vector) -> float:
    """Distance in meaning to the nearest known message, in [0, 1]; 1 when nothing is known.

    Parameters
    ----------
    known : float32 array of shape (n, d), rows of length 1
    vector : float32 array of shape (d,), of length 1

    Examples
    --------
    >>> import numpy as np
    >>> distance(np.eye(3, dtype=np.float32), np.array([0, 1, 0], dtype=np.float32))
    0.0
    """
    if len(known) == 0:
        return 1.0
    return float(min(1.0, max(0.0, 1.0 - np.max(known @ vector))))


def emotion(valence: float, arousal: float) -> float:
    """Strength of feeling: distance from a neutral, calm reading, in [0, 1].

    Parameters
    ----------
    valence : float in [-1, 1]
    arousal : float in [0, 1], 0.5 in the middle

    Notes
    -----
    Readers, and models of them, shy away from extremes: a valence of 0.5 or an arousal of 0.75 counts as full.

    Examples
    --------
    >>> emotion(0.0, 0.5), emotion(-0.25, 0.5), emotion(0.9, 0.9)
    (0.0, 0.5, 1.0)
    """
    return min(1.0, float(np.hypot(2.0 * valence, 4.0 * (arousal - 0.5))))


def recency(age: float) -> float:
    """Return exp(-age / 5 minutes), age in seconds; 1 for a moment that is not in the past.

    Examples
    --------
    >>> recency(0.0), round(recency(300.0), 3)
    (1.0, 0.368)
    """
    return float(np.exp(-max(0.0, age) / 300.0))


def messages_per_minute(times: Sequence[float], now: float) -> float:
    """Messages a minute over the ten minutes up to `now`, or over so much of them as there was a talk.

    A talk of four minutes is averaged over its own length; averaged over ten it would always be a quiet one.

    Parameters
    ----------
    times : seconds, of each message, in any order
    now : seconds

    Examples
    --------
    >>> messages_per_minute([0.0, 590.0, 595.0, 600.0, 601.0], now=601.0)
    0.4
    >>> messages_per_minute([0.0, 30.0, 60.0], now=60.0), messages_per_minute([], now=0.0)
    (3.0, 0.0)
    """
    said = sum(0.0 <= now - t < RATE_WINDOW for t in times)
    talked = now - min(times, default=now)
    return said * 60.0 / min(RATE_WINDOW, max(RATE_LEAST, talked))


def sitting(times: Sequence[float], at: float) -> Sequence[float]:
    """Return the message times of a moment's session: less than an hour passes between two of them.

    Parameters
    ----------
    times : seconds, in order, `at` among them
    at : seconds

    Examples
    --------
    >>> sitting([0.0, 9000.0, 9060.0, 9100.0, 20000.0], at=9060.0)
    [9000.0, 9060.0, 9100.0]
    """
    first, last = bisect_left(times, at), bisect_right(times, at) - 1
    while first > 0 and times[first] - times[first - 1] < SEGMENT_GAP:
        first -= 1
    while last + 1 < len(times) and times[last + 1] - times[last] < SEGMENT_GAP:
        last += 1
    return times[first : last + 1]
