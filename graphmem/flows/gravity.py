"""Gravity of a memory at a moment, and its decay written down for analysts (spec 9)."""

from graphmem.app import Graphmem
from graphmem.errors import NotFound
from graphmem.maths.gravity import HALF_LIFE, RESIDUE, SPEEDS, UNCONSOLIDATED_SPEED
from graphmem.model import Who
from graphmem.store import memories, students
from graphmem.store.memories import Curve, Moment

CURVE = Curve(HALF_LIFE, RESIDUE, SPEEDS, UNCONSOLIDATED_SPEED)
"""The forgetting curve for statements that compute gravity themselves."""


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
