"""Retention: what is deleted some time after it was needed (spec 16)."""

from dataclasses import asdict, dataclass
from datetime import datetime

from graphmem.store.graph import Graph


@dataclass(frozen=True)
class Retention:
    """Moments before which password tries, usage, answered questions with reflections, and dead jobs are deleted."""

    tries_before: datetime
    usage_before: datetime
    questions_before: datetime
    jobs_before: datetime


async def delete_old(graph: Graph, retention: Retention, limit: int = 1000) -> int:
    """Delete what is older than its retention, of any student; how many nodes; `retention/delete_old`.

    At most `limit` of each kind are deleted at once.
    """
    deleted = 0
    while True:
        (row,) = await graph.run("retention/delete_old", limit=limit, **asdict(retention))
        if not row["deleted"]:
            return deleted
        deleted += int(row["deleted"])
