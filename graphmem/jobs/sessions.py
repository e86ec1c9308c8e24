"""The end of sessions: background work after the student's last one closes, in bounded time (spec 14, 16).

Its keys lie in a closing session, sealed with the server secret, until it is done or its time is over. What a process
leaves behind when it dies the sweeper of another one takes up.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta

from graphmem import sealing
from graphmem.app import Graphmem
from graphmem.errors import Conflict, GraphmemError, Locked, Unavailable
from graphmem.flows.consolidation import consolidate
from graphmem.flows.session_cache import ENDED
from graphmem.flows.students import keep_up
from graphmem.flows.turn import answer_waiting
from graphmem.flows.uncertainty import reconcile
from graphmem.jobs.runner import compress_beyond_limit, run_jobs, trouble_logged
from graphmem.logs import log_ids
from graphmem.model import CompressionTrigger, Session, Who
from graphmem.store import students

CLOSE_SECONDS = 120.0
"""Seconds after closing in which is formed, consolidated, compared, compressed; then the keys go."""

log = logging.getLogger(__name__)

CLOSING_LEASE = timedelta(seconds=30)
"""Time after which another process takes up a closing session whose process no longer renews it."""


def closing_start(gm: Graphmem, session: Session, *, here: bool) -> tuple[Session, str, datetime | None]:
    """The closing session that follows a session, its token, and until when this process is at it, if it is `here`."""
    now = gm.clock()
    ends_at = now + timedelta(seconds=CLOSE_SECONDS)
    closing = replace(session, session_id=f"{session.session_id}-closing", expires_at=ends_at)
    return closing, sealing.session_token(gm.secret, closing), now + CLOSING_LEASE if here else None


async def finish_closings(gm: Graphmem, who: Who) -> None:
    """Finish a student's closing sessions that no process works on."""
    now = gm.clock()
    found = await students.claim_closing(gm.graph, who, now + CLOSING_LEASE, now)
    closings = [gm.opened_session(token) for token, _ in found]
    async with held(gm, closings):
        for closing, (_, since) in zip(closings, found, strict=True):
            await finish_closing(gm, closing, since)


async def finish_closing(gm: Graphmem, closing: Session, since: datetime) -> None:
    """Form, consolidate, compare and compress the memories of a conversation, as far as its time goes; then lock.

    Parameters
    ----------
    gm : Graphmem
    closing : Session, a closing one
    since : datetime, when the conversation ended

    Raises
    ------
    Unavailable     Neo4j does not answer; a sweep takes it up, as long as the keys are there
    """
    left = (closing.expires_at - gm.clock()).total_seconds()
    with suppress(TimeoutError):
        # Each of its writes is whole by itself.
        async with asyncio.timeout(max(0.0, left)):
            await _worked_off(gm, closing, since)
    await students.delete_closing(gm.graph, closing, gm.clock())
    # Whoever is reading memories right now would put them back.
    async with gm.memory_lock(closing):
        gm.dismiss(closing)
    await keep_up(gm, closing)


async def finish_in_background(gm: Graphmem, closing: Session, since: datetime) -> None:
    """`finish_closing`, as one of few at once; trouble is logged and left to the sweeper."""
    async with held(gm, [closing]), gm.background.slots:
        with log_ids(student=closing.student_id), trouble_logged():
            await finish_closing(gm, closing, since)


async def finish_all_closings(gm: Graphmem) -> None:
    """Finish all closing sessions that no process works on, a few students side by side."""

    async def finish(who: Who) -> None:
        async with gm.background.slots:
            if not gm.background.stopping.is_set():
                with log_ids(student=who.student_id), trouble_logged():
                    await finish_closings(gm, who)

    await asyncio.gather(*map(finish, await students.list_closing(gm.graph, gm.clock())))


@asynccontextmanager
async def held(gm: Graphmem, closings: list[Session]) -> AsyncIterator[None]:
    """Renew the leases of closing sessions meanwhile, so that no other process takes them up."""

    async def renew() -> None:
        while True:
            await asyncio.sleep(CLOSING_LEASE.total_seconds() / 3)
            for closing in closings:
                # While Neo4j is away nobody takes them up either.
                with suppress(Unavailable):
                    await students.keep_closing(gm.graph, closing, gm.clock() + CLOSING_LEASE)

    renewing = asyncio.create_task(renew())
    try:
        yield
    finally:
        renewing.cancel()
        with suppress(asyncio.CancelledError):
            await renewing


async def _worked_off(gm: Graphmem, closing: Session, since: datetime) -> None:
    """Run the steps that end a conversation, one after the other."""
    try:
        await answer_waiting(gm, closing)
    except GraphmemError as error:
        # They wait for the next session.
        log.warning("messages that wait for a reply go on waiting: %s", error.code)
    await run_jobs(gm, closing)
    enrolled = await students.find_enrolled(gm.graph, closing, gm.clock())
    running = enrolled is not None and enrolled.student.session_ids
    # Messages of a session opened meanwhile are considered at its own end.
    await consolidate(gm, closing, since if running else None)
    with suppress(Conflict):
        # Changes that conflict now wait for the next cycle.
        await reconcile(gm, closing)
    await compress_beyond_limit(
        gm, closing, CompressionTrigger.NODE_LIMIT if running else CompressionTrigger.SESSION_END
    )


async def close_session(gm: Graphmem, session: Session, *, wait: bool = False) -> None:
    """End a session; while others of the student run, that is all, and the conversation goes on in them.

    With the last one the conversation ends. Nothing can be done with the session any more when this returns; behind it
    what still waits is answered, what was said is formed, consolidated and compressed, then keys and raw turns go, here
    and in the graph, after `close_seconds` at the latest. What is not formed then waits as jobs for the next session,
    and so do jobs that cannot be done now; they hold what they need, sealed. What was not considered for consolidation
    is left to a drift cycle, compression to the next session.

    Parameters
    ----------
    gm : Graphmem
    session : Session
    wait : return when what follows the last session is done, too

    Raises
    ------
    Locked          this session has ended
    """
    here = wait or gm.background.runs_jobs
    start, since = closing_start(gm, session, here=here), gm.clock()
    closing = start[0]
    async with gm.lock(session):
        last = await students.delete_session(gm.graph, session, start, since)
        if last is None:
            raise Locked(ENDED)
        # Whoever is reading memories right now would put them back.
        async with gm.memory_lock(session):
            if last and here:
                gm.cache.admit(closing, closing.expires_at)
            gm.dismiss(session)
    if not last:
        await keep_up(gm, session)
    elif wait:
        async with held(gm, [closing]):
            await finish_closing(gm, closing, since)
    elif here:
        gm.background.keep(asyncio.create_task(finish_in_background(gm, closing, since)))
    else:
        await gm.background.notifier.send(session)


async def drop_ended(gm: Graphmem) -> int:
    """Drop what this process holds of students whose session another process has ended, or whom it erased; how many."""
    known = gm.cache.students()
    running = await students.list_running(gm.graph, known, gm.clock()) if known else set()
    ended = [who for who in known if who not in running]
    for who in ended:
        gm.lock_up(who)
    return len(ended)


async def expire_sessions(gm: Graphmem) -> None:
    """End every session whose time is over.

    With a student's last one the conversation ends; its messages that are not formed yet wait for the next one.
    """
    now = gm.clock()
    while expired := await students.list_expired_sessions(gm.graph, now):
        for who, session_id in expired:
            if await students.expire_session(gm.graph, who, session_id, now):
                await consolidate(gm, who)
                gm.lock_up(who)
            await keep_up(gm, who)
