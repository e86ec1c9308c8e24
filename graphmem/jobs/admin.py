"""Background work as people see it: the jobs there are, dead ones started again, what models cost (spec 16, 17)."""

from dataclasses import dataclass
from datetime import datetime

from graphmem.app import Graphmem
from graphmem.errors import Conflict, NotFound
from graphmem.model import Job, JobState, Usage, Who
from graphmem.store import jobs, usage
from graphmem.store.jobs import JobFilter
from graphmem.validation import PAGE_SIZE, checked_as_of, checked_count, checked_cursor, checked_id, page_cursor


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
    wanted = JobFilter(institution, student_id, state)
    found = await jobs.list_job_page(gm.graph, wanted, place, first + 1, gm.clock())
    items = tuple(found[:first])
    return JobPage(items, page_cursor(items[-1].created_at, items[-1].ref) if len(found) > first else None)


async def count_jobs(gm: Graphmem, institution: str, student_id: str | None, state: JobState | None) -> int:
    """Count the jobs of an institution or of one of its students, in one state or in any."""
    return await jobs.count_all(gm.graph, JobFilter(institution, student_id, state), gm.clock())


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
    return await usage.by_kind(gm.graph, institution, student_id, checked_as_of(since, "since"))
