"""Background work: what follows a turn, after its reply (spec 16).

A job waits in the graph until its student's session runs, since only the session has the keys. It runs at
least once and takes effect once. One that fails is tried again later, and parked as dead in the end.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import NamedTuple

from graphmem.app import Graphmem
from graphmem.errors import Conflict, GraphmemError, Locked, MindError, Tampered, Unavailable, place
from graphmem.flows.budget import within_budget
from graphmem.flows.formation import form_messages, form_observations
from graphmem.flows.session_cache import open_memories
from graphmem.llm.summary import SHOWN_STATEMENT
from graphmem.logs import log_ids
from graphmem.model import MESSAGES_AT_ONCE, Compression, CompressionTrigger, JobState, Session, Usage
from graphmem.store import jobs
from graphmem.store.jobs import Claimed, Kind
from graphmem.store.tampering import report

TALK_PAUSE = 120.0
"""Seconds without a message after which a language model reads fewer turns than it can; pupils think for a minute."""
log = logging.getLogger(__name__)
MOST_ATTEMPTS = 5
"""Failures after which a job is dead."""
FIRST_WAIT = 30.0
"""Seconds until a failed job is tried again; doubles with each further failure."""
LONGEST_WAIT = 3600.0
JOBS_AT_ONCE = 20
"""Jobs taken at once where a mind reads messages one by one."""
YIELD_SECONDS = 0.25
"""Seconds for which a job lets turns go first."""
RUNNING_POLL = 0.05
"""Seconds between two checks whether another worker has finished its job."""
RUNNING_POLLS = 20


async def compress_within_budget(
    gm: Graphmem,
    session: Session,
    *,
    trigger: CompressionTrigger = CompressionTrigger.MANUAL,
    to: int | None = None,
    preview: bool = False,
) -> Compression:
    """Compress a student's memories, see `graphmem.flows.compression`; where the budget is spent rules summarise."""
    # It needs scipy, which takes most of a second to import: a command that compresses nothing should not wait for it.
    from graphmem.flows import compression
    from graphmem.flows.compression import MOST_TOGETHER

    # About the bytes of statements that one question is about.
    asked = compression.GROUPS_AT_ONCE * MOST_TOGETHER * SHOWN_STATEMENT
    async with within_budget(gm, session, "compress", asked, compression.MODEL_QUESTIONS) as able:
        return await compression.compress(able, session, trigger=trigger, to=to, preview=preview)


async def compress_beyond_limit(gm: Graphmem, session: Session, trigger: CompressionTrigger) -> Compression | None:
    """Compress where the student has more memories than the limit; None where that need not be, or has to wait.

    At the end of a session, which takes a limited time, rules summarise: a language model would not be done.
    """
    if trigger is CompressionTrigger.SESSION_END:
        gm = replace(gm, mind=gm.offline)
    held = await open_memories(gm, session)
    if len(held.index) > gm.settings.memories_limit:
        with suppress(Conflict):
            return await compress_within_budget(gm, session, trigger=trigger)
    return None


class JobHandler(NamedTuple):
    """Handler of a kind of job.

    run : does one or several jobs of one student and returns how many of them took effect. It asks `gm.mind` one
        question, for which the offline mind stands in where the day's budget is spent; it writes the answer and
        finishes the jobs in one statement that has no effect without their lease; what it raises leaves all for later
    at_once : most jobs that one question can be asked about
    """

    run: Callable[[Graphmem, Session, Sequence[Claimed]], Awaitable[int]]
    at_once: int


class _Apart(Exception):
    """One of several jobs does not open: each is run by itself."""


class _Away(Exception):
    """The language model is away: for the next job, too."""


async def run_jobs(gm: Graphmem, session: Session, *, yield_to_turns: bool = False) -> int:
    """Run the due jobs of one student, one after the other.

    Parameters
    ----------
    gm : Graphmem
    session : Session; when it has ended, its jobs wait for the next one
    yield_to_turns : in the background: let turns go first, for a while before each job, and leave to other workers what
        they are at; else they are waited for, for a moment

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
        while not (yield_to_turns and gm.background.stopping.is_set()):
            claimed = await _claimed(gm, session, await _wanted_kinds(gm, session) if yield_to_turns else JOB_KINDS)
            if not claimed:
                break
            done, all_tried = await _run_all(gm, session, claimed, yield_to_turns)
            finished += done
            if not all_tried:
                return finished
        if finished:
            await compress_beyond_limit(gm, session, CompressionTrigger.NODE_LIMIT)
    if not yield_to_turns:
        await _others(gm, session)
    return finished


async def _wanted_kinds(gm: Graphmem, session: Session) -> list[Kind]:
    """The kinds of jobs that are done in the background now.

    Jobs that a mind reads together wait until there are several turns, or the talk pauses.
    """
    if gm.mind.together == 1:
        return JOB_KINDS
    turns, newest = await jobs.count_waiting_talk(gm.graph, session)
    paused = newest is None or (gm.clock() - newest).total_seconds() >= TALK_PAUSE
    if paused or turns >= MESSAGES_AT_ONCE:
        return JOB_KINDS
    return [kind for kind in JOB_KINDS if kind is not Kind.FORM]


async def _claimed(gm: Graphmem, session: Session, wanted: Sequence[Kind]) -> list[Claimed]:
    """The next jobs. Whoever is stopped while taking them gives them back: Neo4j may have leased them already."""
    taking = asyncio.create_task(_next_group(gm, session, wanted))
    try:
        return await asyncio.shield(taking)
    except asyncio.CancelledError:
        with suppress(GraphmemError):
            if claimed := await taking:
                await jobs.release(gm.graph, session, claimed[0].lease, gm.clock())
        raise


async def _next_group(gm: Graphmem, session: Session, wanted: Sequence[Kind]) -> list[Claimed]:
    """The next jobs: many at once, or as many as the mind reads in one question."""
    asks = gm.mind.together > 1
    now = gm.clock()
    until = now + lease(gm)
    claimed = await jobs.claim(gm.graph, session, wanted, 1 if asks else JOBS_AT_ONCE, until, now, alone=True)
    if asks and claimed and (more := HANDLERS[claimed[0].kind].at_once - 1):
        first = claimed[0]
        claimed += await jobs.claim(gm.graph, session, [first.kind], more, until, now, alone=True, lease=first.lease)
    return claimed


def lease(gm: Graphmem) -> timedelta:
    """Lease time of the jobs a worker has taken: their question may take its time."""
    return timedelta(seconds=gm.mind.seconds + gm.settings.jobs_lease)


async def _run_all(
    gm: Graphmem, session: Session, claimed: Sequence[Claimed], yield_to_turns: bool
) -> tuple[int, bool]:
    """Run claimed jobs; return how many were finished and whether all were tried. Untried ones are given back."""
    finished = 0
    try:
        for group in grouped(claimed):
            if yield_to_turns:
                await gm.background.gate.wait(0.0, YIELD_SECONDS)
                if gm.background.stopping.is_set():
                    break
            finished += await _run_group(gm, session, group)
        else:
            return finished, True
    except _Away:
        pass
    except (Unavailable, Locked, asyncio.CancelledError):
        # Whoever was out of time has not failed: the next session takes them up at once.
        with suppress(GraphmemError):
            await jobs.release(gm.graph, session, claimed[0].lease, gm.clock())
        raise
    await jobs.release(gm.graph, session, claimed[0].lease, gm.clock())
    return finished, False


def grouped(claimed: Sequence[Claimed]) -> list[list[Claimed]]:
    """Return jobs in their order, consecutive ones of one kind grouped where they are done together.

    Examples
    --------
    >>> told = [Claimed("a", Kind.FORM, 0, "", b""), Claimed("b", Kind.FORM, 0, "", b"")]
    >>> [[job.id for job in group] for group in grouped(told)]
    [['a', 'b']]
    """
    groups = []
    for kind, alike in groupby(claimed, lambda job: job.kind):
        same, most = list(alike), HANDLERS[kind].at_once
        groups += [same[start : start + most] for start in range(0, len(same), most)]
    return groups


async def _run_group(gm: Graphmem, session: Session, group: Sequence[Claimed]) -> int:
    """Run jobs that are done together; how many took effect."""
    handler, first = HANDLERS[group[0].kind], group[0]
    with log_ids(student=session.student_id, job=first.id):
        try:
            return await _run_with(gm, session, group, handler)
        except _Apart:
            return sum([await _run_with(gm, session, [each], handler) for each in group])


async def _run_with(gm: Graphmem, session: Session, group: Sequence[Claimed], handler: JobHandler) -> int:
    # Jobs that are done together are known by their first one.
    size = sum(len(job.payload) for job in group)
    async with within_budget(gm, session, group[0].id, size, 1) as able:
        try:
            return await handler.run(able, session, group)
        except (Unavailable, Locked):
            raise
        except Tampered as error:
            if len(group) > 1:
                raise _Apart from error
            await report(gm.graph, session, [error])
            await _postpone(gm, session, group, error)
        except Exception as error:
            await _postpone(gm, session, group, error)
            if isinstance(error, MindError) and error.away:
                raise _Away from error
    return 0


async def _others(gm: Graphmem, session: Session) -> None:
    """Wait briefly for another worker's jobs, so that the caller finds the latest messages."""
    for _ in range(RUNNING_POLLS):
        if not await jobs.runs(gm.graph, session, gm.clock()):
            return
        await asyncio.sleep(RUNNING_POLL)


def failure(attempts: int, error: str, now: datetime, most: int = MOST_ATTEMPTS) -> jobs.Failure:
    """Outcome of a job that failed once more: tried again later, or not at all.

    Parameters
    ----------
    attempts : int >= 0, failures before this one
    error : str, the reason, without anything that anybody said
    now : datetime
    most : int >= 1, failures after which it is dead

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
    return jobs.Failure(JobState.DEAD if failures >= most else JobState.WAITING, failures, now + wait, error)


async def _postpone(gm: Graphmem, session: Session, group: Sequence[Claimed], error: Exception) -> None:
    now = gm.clock()
    # The message of any other error may quote what a student wrote.
    reason = (
        str(error)
        if isinstance(error, (MindError, Tampered, Conflict))
        else f"Unexpected {type(error).__name__} at {place(error)}."
    )
    spent = error.usage if isinstance(error, MindError) and error.usage else Usage()
    away = isinstance(error, MindError) and error.away
    for claimed in group:
        # Away is no attempt: the job waits for the mind, however long.
        later = (
            jobs.Failure(JobState.WAITING, claimed.attempts, now + timedelta(seconds=FIRST_WAIT), reason)
            if away
            else failure(claimed.attempts, reason, now)
        )
        if not await jobs.postpone(gm.graph, session, claimed, later, spent, now):
            continue
        # The usage of a question about several jobs is counted once.
        spent = Usage()
        if not away:
            log.warning("a job has failed %d times and is %s: %s", later.attempts, later.state, later.error)


@contextmanager
def trouble_logged() -> Iterator[None]:
    """Log errors of background work, for which nobody waits, without any message text."""
    try:
        yield
    except GraphmemError as e:
        log.warning("jobs were left to the next sweep: %s", e.code)
    except Exception as e:
        log.error("jobs were cut short by an unexpected %s at %s", type(e).__name__, place(e))


HANDLERS: Mapping[Kind, JobHandler] = {
    Kind.FORM: JobHandler(form_messages, MESSAGES_AT_ONCE),
    Kind.OBSERVE: JobHandler(form_observations, MESSAGES_AT_ONCE),
}
"""The handler of each kind of job."""
JOB_KINDS = list(HANDLERS)
"""The kinds of jobs that workers do."""
