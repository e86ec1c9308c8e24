"""Background jobs in the graph: taking one, finishing it, leaving it for later (spec 16).

A job is written with the turn that causes it (`graphmem.store.turns.complete`), or with the observation
(`graphmem.store.sources.observe`). A worker that takes one holds a lease on it; when the lease runs out unfinished,
another worker takes it over, and later writes of the first one have no effect.

A new kind of job is a value of `Kind`, a payload dataclass, sealed with the student's key (as `FormJob`), a handler in
`graphmem.jobs.runner.HANDLERS`, and one statement that writes the job's results and finishes it, so that it takes
effect once: see `changes/begin`. Notices are jobs that report a concern or a dead job to an institution; they need no
session, and hold no content.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import uuid4

from pydantic import TypeAdapter

from graphmem.model import Concern, Danger, Job, JobState, Level, Observation, PromptUsage, Session, Usage, Who
from graphmem.sealing import Stored, StudentLock
from graphmem.store.graph import Graph, Row, Transaction
from graphmem.store.ledger import opened_concern
from graphmem.store.nodes import LAST, NodeSealer, from_row, moment, token_text

OTHER = "other"
"""Prompt name of usage counted without one, as by older versions."""


NO_SUCH_KIND = "This version has no jobs of this kind: another version wrote it."
ADDED_AT_ONCE = 200
"""Most notices of one kind that are added at once."""


async def add_usage(tx: Transaction, kind: str, usage: Usage, now: datetime) -> None:
    """Add the usage of a turn or a kind of job, if there is any; `usage/add`."""
    if usage.calls:
        total = PromptUsage(OTHER, usage.calls, usage.input_tokens, usage.output_tokens, usage.cost)
        prompts = [asdict(each) for each in usage.prompts or (total,)]
        await tx.run("usage/add", kind=kind, usage=asdict(total), prompts=prompts, now=now)


async def by_kind(graph: Graph, institution: str, student_id: str | None, since: datetime | None) -> dict[str, Usage]:
    """Usage since the day of a moment, by purpose: `turn` or the kind of a job; `usage/sum`.

    Of one student, or where that is None of the whole institution.
    """
    found: dict[str, Usage] = {}
    for row in await graph.run("usage/sum", institution=institution, student_id=student_id, since=since):
        kind, prompt = row.pop("kind"), row.pop("prompt")
        found[kind] = found.get(kind, Usage()) + Usage.of(PromptUsage(prompt or OTHER, **row))
    return found


@dataclass(frozen=True)
class Limits:
    """Daily limits of spending (UTC), of one student and of all together; 0 means no limit.

    Tokens of questions and answers together; cost in US dollars.
    """

    student_tokens: int = 0
    tokens: int = 0
    student_cost: float = 0.0
    cost: float = 0.0


@dataclass(frozen=True)
class Reserve:
    """Reservation for a question: at most so many tokens and so much money, on the day of `at`."""

    tokens: int
    cost: float
    at: datetime


async def reserve(graph: Graph, who: Who, job_id: str, limits: Limits, wanted: Reserve) -> bool:
    """Set something aside for a job, unless with it more than a limit would be spent that day; `budget/reserve`.

    What others have set aside counts as spent, so that workers at once cannot spend the same rest. A second time
    for the same job and day changes nothing: what a worker that died had set aside serves the next one.
    """
    amounts = {"wanted": asdict(wanted), "limits": asdict(limits)}
    return bool(await graph.value(bool, "budget/reserve", who, job_id=job_id, **amounts))


async def release_budget(graph: Graph, who: Who, job_id: str, reserved_at: datetime, now: datetime) -> None:
    """Release the budget reserved for a job, after its actual usage was counted; `budget/release`.

    A second time changes nothing.
    """
    await graph.run("budget/release", who, job_id=job_id, reserved_at=reserved_at, now=now)


class Kind(StrEnum):
    """Kind of a job; with a new one `SCHEMA_VERSION` rises, since a start parks the kinds that it does not know."""

    FORM = "form"  # forms memories from a message of a turn
    OBSERVE = "observe"  # forms memories from an observation, whose payload is a sealed box
    NOTIFY = "notify"  # tells an institution's webhook; without a payload, see `Notice`


@dataclass(frozen=True)
class FormJob:
    """A message of a turn to form memories from, with how it scored when it was said (spec 5, 6).

    activity : messages a minute
    features : of its importance, in the order of `graphmem.maths.importance.Features`
    danger : that the message tells of, where it raised a concern
    own_level : level that the message has without the danger; None where that is `level`
    false_alarm : it is like one that was taken back, so that no mind raises it again
    task : of the talk; nothing is formed from it
    reply : to the message; nothing is formed from that either
    tells : false of a message that is only checked for the ledger
    asks : it asks for memories
    predicted : the prediction, where it was violated
    begins : an episode begins with it
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
    danger: Danger | None = None
    own_level: Level | None = None
    false_alarm: bool = False
    task: str = ""
    reply: str = ""
    tells: bool = True
    asks: bool = False
    predicted: str | None = None
    begins: bool = False


@dataclass(frozen=True)
class NewJob:
    """A job to be written with its cause; `seq` numbers its results, within the student and kind."""

    id: str
    work: FormJob = field(repr=False)
    seq: int


_FORM_JOB, _OBSERVATION = TypeAdapter(FormJob), TypeAdapter(Observation)


@dataclass(frozen=True)
class Claimed:
    """A job this worker holds; `attempts` have failed before, `payload` is sealed, `seq` as in `NewJob`."""

    id: str
    kind: Kind
    attempts: int
    lease: str
    payload: Stored = field(repr=False)
    seq: int = 0


@dataclass(frozen=True)
class Finished:
    """A finished job with the usage of its questions; `facts_kept` is the size of the ring of facts."""

    job: Claimed
    usage: Usage
    facts_kept: int = 0


@dataclass(frozen=True)
class Failure:
    """Outcome of an attempt at a job; `error`, of one that failed, holds nothing that anybody said."""

    state: JobState
    attempts: int
    run_after: datetime
    error: str | None


async def claim(
    graph: Graph,
    session: Session,
    kinds: Sequence[Kind],
    limit: int,
    lease_until: datetime,
    now: datetime,
    *,
    alone: bool = False,
    lease: str | None = None,
) -> list[Claimed]:
    """Take the student's longest due jobs; `job/claim`. None of them when none is free or the session has ended.

    Writes the lease on each: a name of its own, or the given one. Of two workers at once only one gets a job, and
    with `alone` none while another one holds any job of the student: two of them would only be in each other's way.
    """
    lease = lease or f"{os.getpid()}-{uuid4().hex}"
    given: dict[str, Any] = {"lease": lease, "lease_until": lease_until, "alone": alone, "now": now}
    rows = await graph.run("job/claim", session, kinds=kinds, limit=limit, **given)
    return [Claimed(r["id"], Kind(r["kind"]), r["attempts"], lease, _stored(r["payload"]), r["seq"] or 0) for r in rows]


async def release(graph: Graph, session: Session, lease: str, now: datetime) -> None:
    """Give back jobs that this worker will not get to; `job/release`."""
    await graph.run("job/release", session, lease=lease, now=now)


def sealed_job(session: Session, job: NewJob, now: datetime) -> dict[str, Any]:
    """Return the properties of a new job."""
    work = _FORM_JOB.dump_json(job.work).decode()
    payload = NodeSealer(session.keys, session, "Job", job.id).seal("payload", work)
    return waiting_job(job.id, Kind.FORM, payload, now) | {"seq": job.seq}


def waiting_job(job_id: str, kind: Kind, payload: Stored, now: datetime) -> dict[str, Any]:
    """Return the properties of a job nobody has tried yet."""
    waiting = {"id": job_id, "kind": kind, "state": JobState.WAITING, "attempts": 0}
    return waiting | {"created_at": now, "run_after": now, "payload": payload}


def opened_payload(session: Session, claimed: Claimed) -> FormJob:
    """Decrypt the payload of a claimed job of a message; Tampered when it does not open."""
    return _FORM_JOB.validate_json(
        NodeSealer(session.keys, session, "Job", claimed.id).text("payload", claimed.payload)
    )


def opened_observation(session: Session, lock: StudentLock, claimed: Claimed) -> Observation:
    """Decrypt an observation; Tampered when its sealed box does not open."""
    place = NodeSealer(session.keys, session, "Job", claimed.id)
    return _OBSERVATION.validate_python(place.boxed("payload", claimed.payload, lock))


def check_payload(kind: str, payload: Any) -> None:
    """Raise ValueError unless a payload is one of a kind of job, as JSON has it."""
    (_OBSERVATION if Kind(kind) is Kind.OBSERVE else _FORM_JOB).validate_python(payload)


def observation_text(observation: Observation) -> str:
    """Return an observation as it is put into a sealed box."""
    return _OBSERVATION.dump_json(observation).decode()


async def postpone(
    graph: Graph, session: Session, claimed: Claimed, failure: Failure, usage: Usage, now: datetime
) -> bool:
    """Leave a failed job for later or for good and add its usage to the totals; `job/postpone`.

    False, and nothing was added up, when another worker has taken it over.
    """

    async def work(tx: Transaction) -> bool | None:
        given = {"job_id": claimed.id, "lease": claimed.lease, "failure": asdict(failure)}
        if not await tx.run("job/postpone", now=now, **given):
            return None
        await add_usage(tx, claimed.kind, usage, now)
        return True

    return bool(await graph.transact(session, work))


async def list_unformed(graph: Graph, who: Who, held: Sequence[str], limit: int) -> tuple[list[str], list[Claimed]]:
    """Return the newest jobs that wait to form memories, newest first, read-only; `job/list_unformed`.

    Returns
    -------
    ids of all of them, and the jobs whose ids are not in `held`
    """
    kinds = (Kind.FORM, Kind.OBSERVE)
    (row,) = await graph.run("job/list_unformed", who, kinds=kinds, held=held, limit=limit)
    found = [
        Claimed(id, Kind(kind), 0, "", _stored(payload)) for id, kind, payload in row["jobs"] if payload is not None
    ]
    return [id for id, *_ in row["jobs"]], found


async def count_waiting_talk(graph: Graph, who: Who) -> tuple[int, datetime | None]:
    """Return how many turns of a student wait to be formed, and when the newest came; `job/count_waiting_talk`."""
    (row,) = await graph.run("job/count_waiting_talk", who, kind=Kind.FORM)
    return row["turns"], row["newest"] and moment(row["newest"])


async def list_existing(graph: Graph, who: Who, ids: Sequence[str]) -> set[str]:
    """Return which of some ids are jobs of a student; `job/list_existing`."""
    return {row["id"] for row in await graph.run("job/list_existing", who, ids=ids)}


async def wait(graph: Graph, who: Who) -> bool:
    """Return whether a job of a student waits; `job/any_waiting`."""
    return bool(await graph.value(bool, "job/any_waiting", who))


async def runs(graph: Graph, who: Who, now: datetime) -> bool:
    """Return whether somebody runs a job of a student at this moment; `job/any_running`."""
    return bool(await graph.value(bool, "job/any_running", who, now=now))


async def list_due(graph: Graph, kinds: Sequence[Kind], now: datetime, limit: int = 100) -> list[tuple[Who, str, str]]:
    """Return students who have a job to be run, with id and token of the running session, in pages; `session/list_due`.

    All of them: one whose jobs cannot be run must not stand in front of the others for ever. Only those of whom
    nobody runs a job already.
    """
    rows = graph.pages("session/list_due", limit, kinds=kinds, now=now)
    return [(from_row(Who, r), r["id"], token_text(r["token"])) async for r in rows]


async def find_token(graph: Graph, who: Who, now: datetime) -> str | None:
    """Return the token of a student's running session, if one runs; `session/find_token`."""
    return await graph.value(token_text, "session/find_token", who, now=now)


async def find_oldest_due(graph: Graph, kinds: Sequence[Kind], now: datetime) -> datetime | None:
    """Since when the oldest job that can be run waits, if one does; `job/find_oldest_due`."""
    return await graph.value(moment, "job/find_oldest_due", kinds=kinds, now=now)


async def list_job_page(
    graph: Graph, wanted: Mapping[str, Any], after: tuple[datetime, str] | None, limit: int, now: datetime
) -> list[Job]:
    """Return some jobs, newest first, after one of a time and ref; `job/list_page`.

    Parameters
    ----------
    wanted : of which `institution`, `student_id` and `state` they are; None means any
    """
    given: dict[str, Any] = dict(zip(("before_time", "before_ref"), after or (LAST, ""), strict=True))
    return [from_row(Job, row) for row in await graph.run("job/list_page", limit=limit, now=now, **given, **wanted)]


async def count_all(graph: Graph, wanted: Mapping[str, Any], now: datetime) -> int:
    """Count the jobs that `list_job_page` lists; `job/count`."""
    return await graph.value(int, "job/count", now=now, **wanted) or 0


async def park_unknown(graph: Graph) -> None:
    """Mark the waiting jobs of kinds that this version does not know as dead; `job/park_unknown`."""
    await graph.run("job/park_unknown", kinds=tuple(Kind), error=NO_SUCH_KIND)


async def retry(graph: Graph, who: Who, job_id: str, now: datetime) -> tuple[Job, bool] | None:
    """Start a dead job of a known kind again; `job/retry`.

    Returns
    -------
    the job, and whether it was started; None when there is no such job
    """
    rows = await graph.run("job/retry", who, job_id=job_id, kinds=tuple(Kind), now=now)
    return (from_row(Job, rows[0]), rows[0]["retried"]) if rows else None


async def delete_done(graph: Graph, before: datetime, notices_before: datetime, limit: int = 1000) -> int:
    """Delete jobs that were finished before some time, notices only if made before another; `job/delete_done`."""
    deleted = 0
    while True:
        (row,) = await graph.run("job/delete_done", before=before, notices_before=notices_before, limit=limit)
        deleted += int(row["deleted"])
        if row["deleted"] < limit:
            return deleted


def _stored(payload: Any) -> Stored:
    """Return a payload as the driver gives it; sealed ones become hashable."""
    return payload if isinstance(payload, str) else bytes(payload)


async def count_by_state(graph: Graph) -> dict[tuple[str, str], int]:
    """Return jobs of all students, by kind and state; `job/count_by_state`."""
    return {(row["kind"], row["state"]): row["jobs"] for row in await graph.run("job/count_by_state")}


@dataclass(frozen=True)
class Notice:
    """A notice that this process has taken; about nothing where the concern was taken back or the job started again.

    about : a concern, or `id`, `kind` and `attempts` of a job that nobody will try again by itself
    """

    who: Who
    id: str
    attempts: int
    about: Concern | Row | None


async def enqueue_notices(graph: Graph, institutions: Sequence[str], since: datetime, now: datetime) -> int:
    """Add missing notices of events since a moment; `notice/enqueue_concerns`, `notice/enqueue_dead`.

    Adding twice has no further effect. Returns how many were added.
    """
    given: dict[str, Any] = {"institutions": institutions, "since": since, "now": now, "limit": ADDED_AT_ONCE}
    concerns = await graph.value(int, "notice/enqueue_concerns", **given) or 0
    return concerns + (await graph.value(int, "notice/enqueue_dead", **given) or 0)


async def claim_notices(
    graph: Graph, institutions: Sequence[str], until: datetime, now: datetime, limit: int
) -> list[Notice]:
    """Take due notices; another process gets them only after `until`; `notice/claim`."""
    rows = await graph.run("notice/claim", institutions=institutions, until=until, now=now, limit=limit)
    about = [opened_concern(row["concern"]) if row["concern"] else row["dead"] for row in rows]
    return [Notice(from_row(Who, row), row["id"], row["attempts"], it) for row, it in zip(rows, about, strict=True)]


async def finish_notice(graph: Graph, notice: Notice, outcome: Failure, now: datetime) -> None:
    """Finish a notice, leave it for later, or mark it dead; `notice/finish`."""
    await graph.run("notice/finish", notice.who, id=notice.id, outcome=asdict(outcome), now=now)
