"""The memories around what is settled, as they change with it (spec 12)."""

from graphmem.app import Graphmem
from graphmem.cache import OpenMemories
from graphmem.flows.related_plan import settled_sides, with_related
from graphmem.model import Session
from graphmem.store import memories
from graphmem.store.changes import Changes


async def with_feedback(gm: Graphmem, session: Session, changes: Changes, held: OpenMemories) -> Changes:
    """The same changes, with what settling doubts means for the memories around; nothing is read where none is."""
    sides = settled_sides(changes)
    return with_related(changes, await memories.list_edges(gm.graph, session, sides), held.index) if sides else changes
