"""Background work: what follows a turn, after its reply (spec 16).

A job waits in the graph until its student's session runs, since only the session has the keys. It runs at
least once and takes effect once. One that fails is tried again later, and parked as dead in the end.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta

from graphmem.app import Graphmem
from graphmem.errors import Conflict, GraphmemError, Locked, MindError, Tampered, Unavailable
from graphmem.flows.formation import form_message, form_observation
from graphmem.model import Answer, JobState, Lesson, Mismatch, Session, Unlocked, Usage
from graphmem.sealing import opened_token
from graphmem.store import jobs
from graphmem.store.jobs import DistilJob, Kind

log = logging.getLogger(__name__)

MOST_ATTEMPTS = 5
"""Failures after which a job is dead."""
FIRST_WAIT = 30.0
"""Seconds until a failed job is tried again; doubles with each further failure."""
LONGEST_WAIT = 3600.0
LEASE_SLACK = 120.0
"""Seconds of a lease beyond the model's time limit: a turn may be under way when the fact is to be rewritten."""
AT_ONCE = 20
"""Jobs taken at once where none of them asks a language model."""
GLANCE = 0.005
"""Seconds between two looks whether a turn is under way."""
GLANCES = 50
"""Looks after which a job takes its share of the processor all the same."""
STUDENTS_AT_ONCE = 4
"""Students whose jobs a sweep runs side by side."""


async def run_jobs(gm: Graphmem, session: Session, *, politely: bool = False) -> int:
    """Run the due jobs of one student, one after the other.

    Parameters
    ----------
    gm : Graphmem; with the offline mind alone no fact is put into better words, since there is nobody to do it
    session : Session; when it has ended, its jobs wait for the next one
    politely : let turns go first, for a while before each job

    Returns
    -------
    int, how many jobs were finished

    Raises
    ------
    Unavailable     Neo4j does not answer; a job under way is taken up again when its lease runs out

    Source: spec 4, 7, 16.
    """
    finished = 0
    async with gm.job_lock(session):
        while claimed := await _claimed(gm, session):
            for each in claimed:
                if politely:
                    await _let_turns_go_first(gm)
                try:
                    finished += await HANDLERS[each.kind](gm, session, each)
                except (Unavailable, Locked):
                    raise
                except Exception as error:
                    await _postpone(gm, session, each, error)
                    # Who is away for one job is away for the next one, too.
                    if isinstance(error, MindError) and error.away:
                        return finished
    return finished


async def _claimed(gm: Graphmem, session: Session) -> list[jobs.Claimed]:
    """The next jobs: one by one where each asks a language model, and so takes its time."""
    alone = gm.mind is not gm.offline
    kinds = [kind for kind in HANDLERS if alone or kind is not Kind.DISTIL]
    lease = timedelta(seconds=gm.settings.model_timeout + LEASE_SLACK)
    return await jobs.claim(gm.graph, session, kinds, 1 if alone else AT_ONCE, gm.clock() + lease, gm.clock())


async def _let_turns_go_first(gm: Graphmem) -> None:
    for _ in range(GLANCES):
        if not gm.replying:
            return
        await asyncio.sleep(GLANCE)


def start_jobs(gm: Graphmem, session: Session) -> None:
    """Run the due jobs of one student in the background; what goes wrong is left to the sweeper."""
    if session.session_id in gm.starting:
        return
    gm.starting.add(session.session_id)

    async def run() -> None:
        with _trouble_logged():
            await _let_turns_go_first(gm)
            gm.starting.discard(session.session_id)
            await run_jobs(gm, session, politely=True)

    task = asyncio.create_task(run())
    gm.background.add(task)
    task.add_done_callback(gm.background.discard)


async def run_due_jobs(gm: Graphmem) -> None:
    """Run the due jobs of every student whose session runs; one student's trouble stops nobody else's."""
    now, slots = gm.clock(), asyncio.Semaphore(STUDENTS_AT_ONCE)

    async def run(token: str) -> None:
        async with slots:
            with _trouble_logged():
                await run_jobs(gm, opened_token(gm.secret, token, now), politely=True)

    await asyncio.gather(*map(run, await jobs.list_due_sessions(gm.graph, now)))


def failure(attempts: int, error: str, now: datetime) -> jobs.Failure:
    """How a job goes on after it failed once more: later, or not at all.

    Parameters
    ----------
    attempts : int >= 0, failures before this one
    error : str, the reason, without anything that anybody said
    now : datetime

    Source: spec 16.

    Examples
    --------
    >>> now = datetime(2026, 1, 5)
    >>> [(failure(n, "", now).run_after - now).seconds for n in (0, 1, 2, 7)]
    [30, 60, 120, 3600]
    >>> failure(3, "", now).state, failure(4, "", now).state
    (<JobState.WAITING: 'waiting'>, <JobState.DEAD: 'dead'>)
    """
    failures = attempts + 1
    wait = timedelta(seconds=min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempts))
    return jobs.Failure(JobState.DEAD if failures >= MOST_ATTEMPTS else JobState.WAITING, failures, now + wait, error)


async def _distil(gm: Graphmem, session: Session, claimed: jobs.Claimed) -> bool:
    """Ask for better words and write them; False when the job had gone to another worker."""
    job = jobs.opened_distil(session, claimed)
    answer = await gm.mind.distil(Mismatch(job.predicted, job.actual, job.asked))
    # A turn under way would find its student changed, so it is let through first.
    async with gm.lock(session):
        version = await jobs.finish_distil(
            gm.graph, session, claimed, job.fact_id, answer.value, answer.usage, gm.clock()
        )
        if version is not None:
            _keep_in_step(gm, session, version, job, answer)
    return version is not None


async def _postpone(gm: Graphmem, session: Session, claimed: jobs.Claimed, error: Exception) -> None:
    now = gm.clock()
    # The message of any other error may quote what a student wrote.
    reason = str(error) if isinstance(error, (MindError, Tampered, Conflict)) else f"Unexpected {type(error).__name__}."
    later = failure(claimed.attempts, reason, now)
    spent = error.usage if isinstance(error, MindError) else None
    await jobs.postpone(gm.graph, session, claimed, later, spent or Usage(), now)
    log.warning("a job has failed %d times and is %s: %s", later.attempts, later.state, later.error)


@contextmanager
def _trouble_logged() -> Iterator[None]:
    try:
        yield
    except GraphmemError as e:
        log.warning("jobs were left to the next sweep: %s", e.code)
    except Exception as e:
        log.error("jobs were cut short by an unexpected %s", type(e).__name__)


def _keep_in_step(gm: Graphmem, session: Session, version: int, job: DistilJob, answer: Answer[Lesson]) -> None:
    """Change what this process holds as the graph was changed, or drop it when it was stale already."""
    key = (session.institution, session.student_id)
    held = gm.unlocked.get(key)
    if held is None or held.state.version != version - 1:
        gm.drop(session)
    else:
        gm.unlocked[key] = improved(held, version, job.fact_id, answer.value)


def improved(unlocked: Unlocked, version: int, fact_id: str, lesson: Lesson) -> Unlocked:
    """What is held in memory after a fact was put into better words."""
    return replace(
        unlocked,
        state=replace(unlocked.state, version=version),
        facts=tuple(replace(f, text=lesson.text, tags=lesson.tags) if f.id == fact_id else f for f in unlocked.facts),
    )


HANDLERS: Mapping[Kind, Callable[[Graphmem, Session, jobs.Claimed], Awaitable[bool]]] = {
    Kind.FORM: form_message,
    Kind.OBSERVE: form_observation,
    Kind.DISTIL: _distil,
}
"""Who does which kind of job."""
