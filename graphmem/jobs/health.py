"""Health of graphmem and its jobs: what answers, how long the oldest waits, dead ones started again (spec 16)."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Any, Generic, TypeVar

from graphmem import metrics
from graphmem.app import Graphmem
from graphmem.errors import Conflict, GraphmemError, NotFound, Unavailable
from graphmem.jobs.runner import JOB_KINDS
from graphmem.model import Job, JobState, Usage, Who
from graphmem.store import jobs, schema, students, turns
from graphmem.validation import PAGE_SIZE, checked_as_of, checked_count, checked_cursor, checked_id, page_cursor

MEASURE_SECONDS = 15.0
"""Seconds between two readings of the gauges in a worker."""

HANGS_SECONDS = 30.0
"""Seconds after which a database that has not answered is no longer busy, but broken."""

T = TypeVar("T")


async def soon(gm: Graphmem, answer: Awaitable[T]) -> T:
    """An answer within `health_seconds`, else Unavailable: whoever asks for health does not wait for the database."""
    try:
        async with asyncio.timeout(gm.settings.health_seconds):
            return await answer
    except TimeoutError as e:
        raise Unavailable from e


class Probe(Generic[T]):
    """A question to the database, asked again once it is answered: it tells a busy database from a broken one.

    Parameters
    ----------
    gm : Graphmem
    ask : asks it
    """

    def __init__(self, gm: Graphmem, ask: Callable[[Graphmem], Coroutine[Any, Any, T]]) -> None:
        self._gm, self._ask = gm, ask
        self._asked: asyncio.Task[T] | None = None
        self._began = 0.0

    async def look(self) -> T | None:
        """The answer; None where it does not come within `health_seconds`.

        Raises
        ------
        GraphmemError   the question failed
        Unavailable     the answer is late, and the database cannot be reached, or has been silent for too long
        """
        if self._asked is None or self._asked.done():
            self._asked, self._began = asyncio.create_task(self._ask(self._gm)), monotonic()
        await asyncio.wait({self._asked}, timeout=self._gm.settings.health_seconds)
        if self._asked.done():
            return self._asked.result()
        if self._gm.graph.unreachable or monotonic() - self._began > HANGS_SECONDS:
            raise Unavailable
        return None


async def service_state(gm: Graphmem) -> tuple[float, float, str]:
    """Seconds that the oldest unanswered message and the oldest job have waited, and the state of the broker."""
    return await asyncio.gather(oldest_unanswered(gm), oldest_job(gm), broker_state(gm))


async def oldest_unanswered(gm: Graphmem) -> float:
    """Seconds that the oldest message without a reply has waited; 0.0 when none waits."""
    at = await turns.find_oldest_waiting(gm.graph)
    return 0.0 if at is None else max(0.0, (gm.clock() - at).total_seconds())


async def oldest_job(gm: Graphmem) -> float:
    """Seconds that the oldest job which could be run has waited; 0.0 when none waits.

    Not counted are jobs of locked students, those that wait for another try, and those nobody here can do.
    """
    since = await jobs.find_oldest_due(gm.graph, JOB_KINDS, gm.clock())
    return 0.0 if since is None else max(0.0, (gm.clock() - since).total_seconds())


async def broker_state(gm: Graphmem) -> str:
    """Kind of broker that tells workers of jobs: `memory`, `redis`, or `away`."""
    try:
        await soon(gm, gm.background.notifier.check())
    except Unavailable:
        return "away"
    return "memory" if gm.background.notifier.is_local else "redis"


async def check_database(gm: Graphmem) -> str:
    """Version and edition of the Neo4j that answers; Unavailable or SetupError when none fit does."""
    return await schema.check_server(gm.graph)


async def measure(gm: Graphmem) -> None:
    """Bring the gauges of `graphmem.metrics` up to date; those read from the database keep their values without it."""
    metrics.unlocked_students.set(len(gm.cache))
    metrics.held_bytes.set(gm.cache.nbytes)
    with suppress(GraphmemError):
        unanswered, job, sessions, counts = await soon(
            gm,
            asyncio.gather(
                oldest_unanswered(gm),
                oldest_job(gm),
                students.count_sessions(gm.graph, gm.clock()),
                jobs.count_by_state(gm.graph),
            ),
        )
        metrics.stranded_seconds.set(unanswered)
        metrics.job_seconds.set(job)
        metrics.open_sessions.set(sessions)
        for kind, state in ((kind, state) for kind in jobs.Kind for state in JobState):
            metrics.jobs.labels(kind.value, state.value).set(counts.get((kind.value, state.value), 0))


async def measure_forever(gm: Graphmem) -> None:
    """Bring the gauges up to date again and again, for a process without an API that is asked for them."""
    await measure(gm)
    while not await gm.background.stops_within(MEASURE_SECONDS):
        await measure(gm)


@dataclass(frozen=True)
class JobPage:
    """Some jobs, and where the next page begins, if there is one."""

    items: tuple[Job, ...]
    next: str | None


async def list_jobs(
    gm: Graphmem, institution: str, student_id: str | None, state: JobState | None, first: int, after: str | None
) -> JobPage:
    """A page of jobs, newest first; finished ones are there for `jobs_kept_hours`.

    Parameters
    ----------
    gm : Graphmem
    institution, student_id : whose; all students of the institution where that is None
    state : JobState, or None for all
    first : int, 1 to PAGE_SIZE
    after : str, `next` of the page before

    Raises
    ------
    InvalidInput    `first` or `after` will not do
    """
    checked_count("first", first, PAGE_SIZE)
    if student_id is not None:
        checked_id("studentId", student_id)
    place = None if after is None else checked_cursor(after)
    wanted = {"institution": institution, "student_id": student_id, "state": state}
    found = await jobs.list_job_page(gm.graph, wanted, place, first + 1, gm.clock())
    items = tuple(found[:first])
    return JobPage(items, page_cursor(items[-1].created_at, items[-1].ref) if len(found) > first else None)


async def count_jobs(gm: Graphmem, institution: str, student_id: str | None, state: JobState | None) -> int:
    """Count the jobs of an institution or of one of its students, in one state or in any."""
    wanted = {"institution": institution, "student_id": student_id, "state": state}
    return await jobs.count_all(gm.graph, wanted, gm.clock())


def student_of_job(ref: str) -> str:
    """Id of the student whose job a listed id names, `student/job`; empty where it names none.

    Examples
    --------
    >>> student_of_job("ann/form-1"), student_of_job("form-1")
    ('ann', '')
    """
    return ref.rpartition("/")[0]


async def retry_job(gm: Graphmem, institution: str, ref: str) -> Job:
    """Start a dead job again, with all its attempts; it runs when the student's session does.

    Parameters
    ----------
    gm : Graphmem
    institution : str, whose job
    ref : str, the job's id as it is listed, `student/job`

    Raises
    ------
    NotFound        there is no such job
    Conflict        it is not dead, or of a kind that this version does not have
    """
    student_id, _, job_id = ref.rpartition("/")
    found = await jobs.retry(gm.graph, Who(institution, student_id), job_id, gm.clock())
    if found is None:
        raise NotFound("There is no such job: take its id from the list of jobs.")
    job, retried = found
    if not retried and job.state is JobState.DEAD:
        raise Conflict(f"{jobs.NO_SUCH_KIND} It cannot be started.")
    if not retried:
        raise Conflict(f"This job is {job.state}, not dead: only dead jobs need to be started again.")
    return job


async def spent(gm: Graphmem, institution: str, student_id: str | None, since: datetime | None) -> Usage:
    """Language-model usage since the beginning of a day (UTC): turns and jobs, of one student or of all."""
    return sum((await spent_by_kind(gm, institution, student_id, since)).values(), Usage())


async def spent_by_kind(
    gm: Graphmem, institution: str, student_id: str | None, since: datetime | None
) -> dict[str, Usage]:
    """The same by what it was for: `turn`, or the kind of a job."""
    if student_id is not None:
        checked_id("studentId", student_id)
    return await jobs.by_kind(gm.graph, institution, student_id, checked_as_of(since, "since"))
