"""Erasing all that is kept of a student (spec 14)."""

from datetime import datetime

from graphmem.model import Erased, Who
from graphmem.store.graph import Graph


async def begin_erasure(graph: Graph, who: Who, now: datetime) -> Erased | None:
    """Delete a student's keys and session, so that nothing is written any more; `erasure/begin`.

    None where nothing is kept of anybody of this id.
    """
    rows = await graph.run("erasure/begin", who, now=now)
    return Erased(**rows[0]) if rows else None


async def delete_some(graph: Graph, who: Who, limit: int) -> Erased | None:
    """Delete at most `limit` nodes of each kind; `erasure/delete_some`. None where no erasure has begun."""
    rows = await graph.run("erasure/delete_some", who, limit=limit)
    return Erased(**rows[0]) if rows else None


async def finish_erasure(graph: Graph, who: Who) -> None:
    """Let the id be enrolled again; `erasure/finish`."""
    await graph.run("erasure/finish", who)


async def list_unfinished_erasures(graph: Graph, before: datetime, limit: int = 100) -> list[Who]:
    """Students whose erasure began before a moment and has not ended; `erasure/list`."""
    rows = await graph.run("erasure/list", before=before, limit=limit)
    return [Who(row["institution"], row["student_id"]) for row in rows]
