"""Background jobs in the graph: taking one, finishing it, leaving it for later (spec 16).

A job is written with the turn that causes it (`graphmem.store.turns.complete`). Whoever takes one holds a
lease on it; when the lease runs out unfinished, somebody else takes it over, and what the first one still
writes about it has no effect.
"""

from dataclasses import asdict, dataclass, field
from datetime import datetime
from uuid import uuid4

from graphmem.model import JobState, Lesson, Session, Usage
from graphmem.store.graph import Graph
from graphmem.store.rows import Place
from graphmem.store.turns import DistilJob

DISTIL = "distil"
"""The kind of job that has a fact put into better words."""


@dataclass(frozen=True)
class Claimed:
    """A job this worker holds; `attempts` have failed before, `payload` is sealed."""

    id: str
    attempts: int
    lease: str
    payload: bytes = field(repr=False)


@dataclass(frozen=True)
class Failure:
    """How a job goes on after an attempt failed; `error` holds nothing that anybody said."""

    state: JobState
    attempts: int
    run_after: datetime
    error: str


async def claim(graph: Graph, session: Session, kind: str, lease_until: datetime, now: datetime) -> Claimed | None:
    """Take the student's longest due job of a kind; `job_claim`. None when none is free or the session has ended.

    Writes the lease on the job. Of two workers at once only one gets it.
    """
    lease = uuid4().hex
    rows = await graph.run(
        "job_claim", session, session_id=session.session_id, kind=kind, lease=lease, lease_until=lease_until, now=now
    )
    if not rows:
        return None
    (row,) = rows
    return Claimed(row["id"], row["attempts"], lease, bytes(row["payload"]))


def opened_distil(session: Session, claimed: Claimed) -> DistilJob:
    """What a claimed job is about; Tampered when its payload does not open."""
    payload = Place(session.keys, session, claimed.id).json("payload", claimed.payload)
    return DistilJob(claimed.id, payload["fact_id"], payload["predicted"], payload["actual"], payload["asked"])


async def finish_distil(
    graph: Graph, session: Session, claimed: Claimed, fact_id: str, lesson: Lesson, usage: Usage, now: datetime
) -> int | None:
    """Rewrite a fact, add up what it cost and finish its job; `job_finish_distil`.

    The student's new version; None when the job is no longer this worker's. A fact that was trimmed
    meanwhile stays away.
    """
    place = Place(session.keys, session, fact_id)
    rows = await graph.run(
        "job_finish_distil",
        session,
        job_id=claimed.id,
        lease=claimed.lease,
        fact_id=fact_id,
        text=place.seal("text", lesson.text),
        tags=place.seal_json("tags", lesson.tags),
        usage=asdict(usage),
        now=now,
    )
    return int(rows[0]["version"]) if rows else None


async def postpone(
    graph: Graph, session: Session, claimed: Claimed, failure: Failure, usage: Usage, now: datetime
) -> None:
    """Leave a failed job for later or for good and add up what it cost; `job_postpone`."""
    await graph.run(
        "job_postpone",
        session,
        job_id=claimed.id,
        lease=claimed.lease,
        state=failure.state.value,
        attempts=failure.attempts,
        run_after=failure.run_after,
        error=failure.error,
        usage=asdict(usage),
        now=now,
    )


async def list_due_sessions(graph: Graph, now: datetime, limit: int = 100) -> list[str]:
    """Session tokens of students who have a job to be run; `sessions_list_due`."""
    rows = await graph.run("sessions_list_due", now=now, limit=limit)
    return [bytes(r["token"]).decode() for r in rows]
