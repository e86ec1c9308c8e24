"""How a memory stands at a moment (spec 9)."""

from datetime import datetime, timedelta

from graphmem.maths.gravity import gravity, speed
from graphmem.model import Memory

_DAY = timedelta(days=1)


def gravity_now(memory: Memory, now: datetime) -> float:
    """A memory's gravity at a moment; what was last used after it counts as used just now."""
    return gravity(
        memory.gravity,
        max(0.0, (now - memory.last_accessed) / _DAY),
        salience=memory.salience,
        speed=speed(memory.reliability, lasting=memory.flashbulb or memory.in_ledger),
    )
