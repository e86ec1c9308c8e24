"""Gravity: how present a memory still is, some days after it was last used (spec 9)."""

from graphmem.errors import InvalidInput
from graphmem.model import Reliability

HALF_LIFE = 7.0
"""Days in which the gravity of a reliable memory halves."""
RESIDUE = 0.1
"""Share of a memory's salience that its gravity never falls below."""
LIFT = 0.1
"""Share of the gap to 1 that one use restores."""
SPEEDS = {
    Reliability.RELIABLE: 1.0,
    Reliability.UNCERTAIN: 1.5,
    Reliability.CONTRADICTED: 2.0,
    Reliability.SUPERSEDED: 3.0,
}
UNCONSOLIDATED_SPEED = 2.0
"""How many times faster a memory fades that is not consolidated (spec 6)."""


def speed(reliability: Reliability, *, lasting: bool = False, consolidated: bool = True) -> float:
    """Speed of fading, relative to a reliable and consolidated memory.

    Parameters
    ----------
    reliability : Reliability
    lasting : a flashbulb or ledger-linked memory, which does not fade
    consolidated : False fades twice as fast

    Returns
    -------
    float >= 0

    Source: spec 6, 9.

    Examples
    --------
    >>> speed(Reliability.CONTRADICTED), speed(Reliability.CONTRADICTED, lasting=True)
    (2.0, 0.0)
    >>> speed(Reliability.RELIABLE, consolidated=False)
    2.0
    """
    if lasting:
        return 0.0
    return SPEEDS[reliability] * (1.0 if consolidated else UNCONSOLIDATED_SPEED)


def gravity(last: float, days: float, *, salience: float, speed: float) -> float:
    """Gravity now, from the value at the last access.

    Parameters
    ----------
    last : float in [0, 1]          at the last access, never one already computed: asking twice equals asking once
    days : float >= 0, days         since the last access
    salience : float in [0, 1]      a tenth of it is never undercut
    speed : float >= 0              see `speed`

    Returns
    -------
    float in [0.1 * salience, 1]

    Raises
    ------
    InvalidInput                    negative days

    Source: spec 9.

    Examples
    --------
    >>> [round(gravity(1.0, days, salience=1.0, speed=1.0), 2) for days in (0.0, 7.0, 14.0, 30.0)]
    [1.0, 0.5, 0.25, 0.1]
    >>> gravity(0.8, 365.0, salience=1.0, speed=0.0)
    0.8
    """
    if days < 0:
        raise InvalidInput("Days since the last access cannot be negative: ask about a later moment.")
    return float(max(RESIDUE * salience, last * 0.5 ** (days * speed / HALF_LIFE)))


def boosted(now: float) -> float:
    """Return the gravity after use in a context: a tenth of the gap to 1 is restored.

    Parameters
    ----------
    now : float in [0, 1]           the gravity of this moment

    Examples
    --------
    >>> round(boosted(0.5), 3), boosted(1.0)
    (0.55, 1.0)
    """
    return min(1.0, now + LIFT * (1.0 - now))
