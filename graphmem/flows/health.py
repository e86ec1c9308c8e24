"""Whether graphmem is well: what answers, and how long the oldest message has been waiting (spec 16)."""

from graphmem.app import Graphmem
from graphmem.store import schema, turns


async def oldest_unanswered(gm: Graphmem) -> float:
    """Seconds that the oldest message without a reply has waited; 0.0 when none waits."""
    at = await turns.find_oldest_waiting(gm.graph)
    return 0.0 if at is None else max(0.0, (gm.clock() - at).total_seconds())


async def check_database(gm: Graphmem) -> str:
    """Version and edition of the Neo4j that answers; Unavailable or SetupError when none fit does."""
    return await schema.check_server(gm.graph)
