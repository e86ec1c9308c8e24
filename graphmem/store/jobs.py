"""Background jobs in the graph: taking one, finishing it, leaving it for later (spec 16).

A job is written with the turn that causes it (`graphmem.store.turns.complete`), or with what was observed
(`graphmem.store.sources.observe`). Whoever takes one holds a lease on it; when the lease runs out unfinished,
somebody else takes it over, and what the first one still writes about it has no effect.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import uuid4

from pydantic import TypeAdapter

from graphmem.model import JobState, Lesson, Level, Observation, Session, Usage, Who
from graphmem.sealing import Lock, open_sealed_box
from graphmem.store.graph import Graph
from graphmem.store.rows import Place


class Kind(StrEnum):
    """What a job does."""

    DISTIL = "distil"  # has a fact put into better words
    FORM = "form"  # forms memories from a message of a turn
    OBSERVE = "observe"  # forms memories from an observation, whose payload is a sealed box


@dataclass(frozen=True)
class DistilJob:
    """A fact that a language model should word better, and what it was learned from."""

    fact_id: str
    predicted: str
    actual: str
    asked: str


@dataclass(frozen=True)
class FormJob:
    """A message of a turn to form memories from, with how it scored when it was said (spec 5, 6).

    activity : messages a minute
    features : of its importance, in the order of `graphmem.maths.importance.Features`
    """

    turn_id: str
    text: str
    before: str
    at: datetime
    importance: float
    surprise: float
    level: Level
    activity: float
    features: tuple[float, ...]


@dataclass(frozen=True)
class NewJob:
    """A job to be written with what causes it."""

    id: str
    work: DistilJob | FormJob = field(repr=False)

    @property
    def kind(self) -> Kind:
        """What it does."""
        return Kind.DISTIL if isinstance(self.work, DistilJob) else Kind.FORM


_DISTIL = TypeAdapter(DistilJob)
_FORM = TypeAdapter(FormJob)
_OBSERVATION = TypeAdapter(Observation)


@dataclass(frozen=True)
class Claimed:
    """A job this worker holds; `attempts` have failed before, `payload` is sealed."""

    id: str
    kind: Kind
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


async def claim(
    graph: Graph, session: Session, kinds: Sequence[Kind], limit: int, lease_until: datetime, now: datetime
) -> list[Claimed]:
    """Take the student's longest due jobs; `jobs_claim`. None of them when none is free or the session has ended.

    Writes the lease on each. Of two workers at once only one gets a job.
    """
    lease = uuid4().hex
    rows = await graph.run(
        "jobs_claim",
        session,
        session_id=session.session_id,
        kinds=[kind.value for kind in kinds],
        limit=limit,
        lease=lease,
        lease_until=lease_until,
        now=now,
    )
    return [Claimed(r["id"], Kind(r["kind"]), r["attempts"], lease, bytes(r["payload"])) for r in rows]


def sealed_job(session: Session, job: NewJob, now: datetime) -> dict[str, Any]:
    """The properties of a new job."""
    adapter: TypeAdapter[Any] = _DISTIL if isinstance(job.work, DistilJob) else _FORM
    payload = Place(session.keys, session, job.id).seal("payload", adapter.dump_json(job.work))
    return waiting_job(job.id, job.kind, payload, now)


def waiting_job(job_id: str, kind: Kind, payload: bytes, now: datetime) -> dict[str, Any]:
    """The properties of a job nobody has tried yet."""
    return {
        "id": job_id,
        "kind": kind.value,
        "state": JobState.WAITING.value,
        "attempts": 0,
        "created_at": now,
        "run_after": now,
        "payload": payload,
    }


def opened_distil(session: Session, claimed: Claimed) -> DistilJob:
    """What a claimed job is about; Tampered when its payload does not open."""
    return _DISTIL.validate_json(Place(session.keys, session, claimed.id).opened("payload", claimed.payload))


def opened_form(session: Session, claimed: Claimed) -> FormJob:
    """What a claimed job is about; Tampered when its payload does not open."""
    return _FORM.validate_json(Place(session.keys, session, claimed.id).opened("payload", claimed.payload))


def opened_observation(session: Session, lock: Lock, claimed: Claimed) -> Observation:
    """What was observed; Tampered when its sealed box does not open."""
    return _OBSERVATION.validate_json(open_sealed_box(session.keys, session, lock, claimed.payload))


def observation_text(observation: Observation) -> str:
    """An observation as it is put into a sealed box."""
    return _OBSERVATION.dump_json(observation).decode()


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


async def wait(graph: Graph, who: Who) -> bool:
    """Whether a job of a student waits; `jobs_wait`."""
    (row,) = await graph.run("jobs_wait", who)
    return bool(row["waits"])


async def list_due_sessions(graph: Graph, now: datetime, limit: int = 100) -> list[str]:
    """Session tokens of students who have a job to be run, read in pages; `sessions_list_due`.

    All of them: one whose jobs cannot be run must not stand in front of the others for ever.
    """
    return [token async for token in tokens(graph, "sessions_list_due", limit, now=now)]


async def tokens(graph: Graph, name: str, limit: int, **params: Any) -> AsyncIterator[str]:
    """Session tokens, page by page, of a statement that lists them by session id."""
    after = ""
    while rows := await graph.run(name, after=after, limit=limit, **params):
        for row in rows:
            yield bytes(row["token"]).decode()
        after = rows[-1]["id"]
