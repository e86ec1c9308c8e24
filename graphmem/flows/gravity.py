"""Gravity of a memory at a moment (spec 9)."""

from datetime import datetime, timedelta

from graphmem.maths.gravity import HALF_LIFE, RESIDUE, SPEEDS, UNCONSOLIDATED_SPEED, gravity, speed
from graphmem.model import Memory
from graphmem.store.memories import Curve

CURVE = Curve(HALF_LIFE, RESIDUE, SPEEDS, UNCONSOLIDATED_SPEED)
"""The forgetting curve for statements that compute gravity themselves."""
_DAY = timedelta(days=1)


def gravity_now(memory: Memory, now: datetime) -> float:
    """A memory's gravity at a moment, in [0, 1]; what was last used after it counts as used just now (spec 6, 9)."""
    days = max(0.0, (now - memory.last_accessed) / _DAY)
    lasting = memory.flashbulb or memory.in_ledger
    own = speed(memory.reliability, lasting=lasting, consolidated=memory.consolidated)
    return gravity(memory.gravity, days, salience=memory.salience, speed=own)
