"""Gravity of a memory at a moment (spec 9)."""

from datetime import datetime, timedelta

from graphmem.maths.gravity import HALF_LIFE, RESIDUE, SPEEDS, UNCONSOLIDATED_SPEED, gravity, speed
from graphmem.model import Memory, Reliability
from graphmem.store.memories import Curve

CURVE = Curve(HALF_LIFE, RESIDUE, SPEEDS, UNCONSOLIDATED_SPEED)
"""The forgetting curve for statements that compute gravity themselves."""
_DAY = timedelta(days=1)


def gravity_now(memory: Memory, now: datetime) -> float:
    """A memory's gravity at a moment; what was last used after it counts as used just now."""
    return faded(memory, memory.gravity, memory.last_accessed, memory.reliability, now)


def faded(memory: Memory, last: float, last_accessed: datetime, reliability: Reliability, now: datetime) -> float:
    """Gravity of a memory at a moment, from its value, last use and reliability as another place holds them.

    Parameters
    ----------
    memory : Memory, of which salience, consolidation and what keeps it from fading are taken
    last : float in [0, 1], at the last use
    last_accessed : datetime
    reliability : Reliability
    now : datetime

    Returns
    -------
    float in [0, 1]

    Source: spec 6, 9.
    """
    days = max(0.0, (now - last_accessed) / _DAY)
    lasting = memory.flashbulb or memory.in_ledger
    own = speed(reliability, lasting=lasting, consolidated=memory.consolidated)
    return gravity(last, days, salience=memory.salience, speed=own)
