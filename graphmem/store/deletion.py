"""Deleting all that is kept of a student, and what nobody needs any more (spec 14, 16)."""

from dataclasses import asdict, dataclass
from datetime import datetime

from graphmem.model import Erased, Who
from graphmem.store.graph import Graph
from graphmem.store.nodes import from_row


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
    """Return students whose erasure began before a moment and has not ended; `erasure/list`."""
    rows = await graph.run("erasure/list", before=before, limit=limit)
    return [from_row(Who, row) for row in rows]


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
        moments = {name: at for name, at in asdict(retention).items() if name != "questions_before"}
        (row,) = await graph.run("retention/delete_old", limit=limit, **moments)
        gone = int(row["deleted"]) + await _delete_old_questions(graph, retention.questions_before, limit)
        if not gone:
            return deleted
        deleted += gone


async def _delete_old_questions(graph: Graph, before: datetime, limit: int) -> int:
    """Delete answered questions and reflections, student by student; `question/list_old`, `question/delete_old`."""
    deleted = 0
    for row in await graph.run("question/list_old", before=before, limit=limit):
        who = from_row(Who, row)
        found = await graph.run("question/delete_old", who, ids=row["ids"], before=before)
        deleted += sum(each["deleted"] for each in found)
    return deleted
