"""Numbers read off a message and its conversation, for importance and surprise (spec 5, 6)."""

import re
from collections.abc import Iterable, Sequence

import numpy as np

from graphmem.model import Matrix, Vector

RATE_WINDOW = 600.0
"""Seconds over which messages a minute are averaged."""
GAP = 3600.0
"""Seconds between two messages from which on they belong to different sittings."""
DATES = frozenset(
    """
    yesterday today tonight tomorrow ago last week weeks weekend weekends month months year years recently since
    monday mondays tuesday tuesdays wednesday wednesdays thursday thursdays friday fridays saturday saturdays sunday
    sundays january february march april june july august september october november december summer winter autumn
    birthday christmas easter mon tue tues wed thu thur thurs fri sat jan feb mar apr jun jul aug sept sep oct nov dec
    """.split()  # noqa: SIM905
)
"""Words that say when."""

_ADDRESS = re.compile(r"\b(you|your|yours|yourself|u|ur)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")


def addressed(text: str, names: Iterable[str]) -> bool:
    """Whether a message speaks to the companion ("you") or names it or somebody known.

    Examples
    --------
    >>> addressed("Can you help me?", []), addressed("I met Bello.", ["Bello"]), addressed("Hm.", ["Bello"])
    (True, True, False)
    """
    if _ADDRESS.search(text):
        return True
    words = {w.casefold() for w in _WORD.findall(text)}
    return any(w.casefold() in words for name in names for w in _WORD.findall(name))


def overlap(text: str, topics: Sequence[str]) -> float:
    """Share of a companion's topics whose words all occur in a message; in [0, 1], 0 without topics.

    Examples
    --------
    >>> overlap("Is a common fraction a number?", ["common fraction", "geometry"])
    0.5
    """
    words = {w.casefold() for w in _WORD.findall(text)}
    hits = [{w.casefold() for w in _WORD.findall(t.replace("-", " "))} <= words for t in topics if t.strip()]
    return sum(hits) / len(hits) if hits else 0.0


def dated(text: str) -> bool:
    """Whether a text names a day, a month, a season or a time from now, in English.

    Examples
    --------
    >>> dated("We moved last summer."), dated("We moved.")
    (True, False)
    """
    return not DATES.isdisjoint(_WORD.findall(text.lower()))


def novelty(known: Matrix, vector: Vector) -> float:
    """Distance in meaning to the nearest known message, in [0, 1]; 1 when nothing is known.

    Parameters
    ----------
    known : float32 array of shape (n, d), rows of length 1
    vector : float32 array of shape (d,), of length 1

    Examples
    --------
    >>> import numpy as np
    >>> novelty(np.eye(3, dtype=np.float32), np.array([0, 1, 0], dtype=np.float32))
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
    """exp(-age / 5 minutes), age in seconds; 1 for what is not in the past.

    Examples
    --------
    >>> recency(0.0), round(recency(300.0), 3)
    (1.0, 0.368)
    """
    return float(np.exp(-max(0.0, age) / 300.0))


def messages_per_minute(times: Sequence[float], now: float) -> float:
    """Messages a minute over the ten minutes up to `now`.

    Parameters
    ----------
    times : seconds, of each message, in any order
    now : seconds

    Examples
    --------
    >>> messages_per_minute([0.0, 590.0, 595.0, 600.0, 601.0], now=601.0)
    0.4
    """
    return sum(0.0 <= now - t < RATE_WINDOW for t in times) / (RATE_WINDOW / 60.0)
