"""Gravity of a memory at a moment, and its decay written down for analysts (spec 9)."""

from datetime import datetime, timedelta

from graphmem.app import Graphmem
from graphmem.errors import NotFound
from graphmem.maths.gravity import HALF_LIFE, RESIDUE, SPEEDS, UNCONSOLIDATED_SPEED, gravity, speed
from graphmem.model import Memory, Who
from graphmem.store import memories, students
from graphmem.store.memories import Curve, Moment

CURVE = Curve(HALF_LIFE, RESIDUE, SPEEDS, UNCONSOLIDATED_SPEED)
"""The forgetting curve for statements that compute gravity themselves."""
_DAY = timedelta(days=1)


def gravity_now(memory: Memory, now: datetime) -> float:
    """A memory's gravity at a moment, in [0, 1]; what was last used after it counts as used just now (spec 6, 9)."""
    days = max(0.0, (now - memory.last_accessed) / _DAY)
    lasting = memory.flashbulb or memory.in_ledger
    own = speed(memory.reliability, lasting=lasting, consolidated=memory.consolidated)
    return gravity(memory.gravity, days, salience=memory.salience, speed=own)


async def decay(gm: Graphmem, who: Who) -> tuple[int, int]:
    """Materialise each memory's gravity of now as `gravity_now`; what it is computed from stays as it is.

    Superseded, contradicted and uncertain memories that have faded to their residue are deleted, and doubts
    about them count as decayed. Running it twice at one moment equals running it once.

    Returns
    -------
    how many memories the student had, and how many of them were deleted

    Raises
    ------
    NotFound        there is no such student
    """
    if await students.find_enrolled(gm.graph, who, gm.clock()) is None:
        raise NotFound("There is no such student.")
    return await memories.save_decay(gm.graph, who, Moment(gm.clock(), CURVE))
