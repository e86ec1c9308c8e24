"""Retention: what is deleted some time after it was needed (spec 16)."""

from dataclasses import asdict, dataclass
from datetime import datetime

from graphmem.model import Who
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
        who = Who(row["institution"], row["student_id"])
        found = await graph.run("question/delete_old", who, ids=row["ids"], before=before)
        deleted += sum(each["deleted"] for each in found)
    return deleted
