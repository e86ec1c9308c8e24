"""Gravity of a memory at a moment (spec 9)."""

from datetime import datetime, timedelta

from graphmem.maths.gravity import HALF_LIFE, RESIDUE, SPEEDS, gravity, speed
from graphmem.model import Memory, Reliability
from graphmem.store.memories import Curve

CURVE = Curve(HALF_LIFE, RESIDUE, SPEEDS)
"""The forgetting curve for statements that compute gravity themselves."""
_DAY = timedelta(days=1)


def gravity_now(memory: Memory, now: datetime) -> float:
    """A memory's gravity at a moment; what was last used after it counts as used just now."""
    lasting = memory.flashbulb or memory.in_ledger
    return faded(memory.gravity, memory.last_accessed, memory.reliability, memory.salience, now, lasting)


def faded(
    last: float, last_accessed: datetime, reliability: Reliability, salience: float, now: datetime, lasting: bool
) -> float:
    """Gravity at a moment from what it was when it was last used.

    Examples
    --------
    >>> from datetime import UTC
    >>> used = datetime(2026, 1, 1, tzinfo=UTC)
    >>> faded(1.0, used, Reliability.RELIABLE, 0.5, used + timedelta(days=7), lasting=False)
    0.5
    """
    days = max(0.0, (now - last_accessed) / _DAY)
    return gravity(last, days, salience=salience, speed=speed(reliability, lasting=lasting))
