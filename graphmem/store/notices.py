"""Notices: jobs that tell an institution of a concern or a dead job; they need no session, and hold no content."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem.model import Concern, Who
from graphmem.store.concerns import opened_concern
from graphmem.store.graph import Graph
from graphmem.store.jobs import Failure

ADDED_AT_ONCE = 200
"""Most notices of one kind that are added at once."""


@dataclass(frozen=True)
class DeadJob:
    """A job that nobody will try again by itself."""

    id: str
    kind: str
    attempts: int


@dataclass(frozen=True)
class Notice:
    """A notice that this process has taken; about nothing where the concern was taken back or the job started again."""

    who: Who
    id: str
    attempts: int
    about: Concern | DeadJob | None


async def enqueue(graph: Graph, institutions: Sequence[str], since: datetime, now: datetime) -> int:
    """Add notices of what has happened since a moment and has none; `notice/enqueue_concerns`, `notice/enqueue_dead`.

    Twice is as once. How many were added.
    """
    given: dict[str, Any] = {"institutions": list(institutions), "since": since, "now": now, "limit": ADDED_AT_ONCE}
    (concerns,) = await graph.run("notice/enqueue_concerns", **given)
    (dead,) = await graph.run("notice/enqueue_dead", **given)
    return int(concerns["added"] + dead["added"])


async def claim_notices(
    graph: Graph, institutions: Sequence[str], until: datetime, now: datetime, limit: int
) -> list[Notice]:
    """Take due notices; another process gets them only after `until`; `notice/claim`."""
    rows = await graph.run("notice/claim", institutions=list(institutions), until=until, now=now, limit=limit)
    return [
        Notice(
            Who(row["institution"], row["student_id"]),
            row["id"],
            row["attempts"],
            opened_concern(row["concern"]) if row["concern"] else DeadJob(**row["dead"]) if row["dead"] else None,
        )
        for row in rows
    ]


async def finish_notice(graph: Graph, notice: Notice, outcome: Failure, now: datetime) -> None:
    """Finish a notice, leave it for later, or mark it dead; `notice/finish`."""
    await graph.run(
        "notice/finish",
        notice.who,
        id=notice.id,
        state=outcome.state.value,
        attempts=outcome.attempts,
        run_after=outcome.run_after,
        error=outcome.error or None,
        now=now,
    )
