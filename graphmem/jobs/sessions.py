"""The end of sessions: with the last one what was said is formed and consolidated, then raw turns go (spec 14)."""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress

from graphmem.app import Graphmem
from graphmem.errors import Conflict, Locked
from graphmem.flows.consolidation import consolidate
from graphmem.flows.integrity import keep_up
from graphmem.flows.reconciliation import reconcile
from graphmem.flows.session_cache import ENDED
from graphmem.flows.turn import answer_waiting
from graphmem.jobs.compressing import compress_beyond_limit
from graphmem.jobs.runner import run_jobs
from graphmem.model import CompressionTrigger, Session
from graphmem.store import students


async def close_session(gm: Graphmem, session: Session) -> None:
    """End a session; while others of the student run, that is all, and the conversation goes on in them.

    With the last one the conversation ends: what still waits is answered, what was said is formed and consolidated,
    then raw turns go, here and in the graph. All that takes `close_seconds` at most. What is not formed then waits as
    jobs for the next session, and so do jobs that cannot be done now; they hold what they need, sealed. What was not
    considered for consolidation is left to a drift cycle, compression to the next session.

    Raises
    ------
    Conflict        a message came in while the session was being closed
    Locked          this session has ended; a session that runs by now is left alone
    """
    if await _left(gm, session, prepared=False):
        return
    await answer_waiting(gm, session)
    await _within(gm.settings.close_seconds, _worked_off(gm, session))
    if not await _left(gm, session, prepared=True):
        raise Conflict("A message came in meanwhile: close the session again.")


async def _left(gm: Graphmem, session: Session, *, prepared: bool) -> bool:
    """End a session, here and in the graph; False where it is the last one and cannot end yet."""
    async with gm.lock(session):
        end = await students.delete_session(gm.graph, session, gm.clock(), prepared=prepared)
        if end is None:
            raise Locked(ENDED)
        if end.closed:
            # Whoever is reading memories right now would put them back.
            async with gm.memory_lock(session):
                (gm.lock_up if end.last else gm.dismiss)(session)
    if end.closed:
        await keep_up(gm, session)
    return end.closed


async def _worked_off(gm: Graphmem, session: Session) -> None:
    """What the end of a conversation brings, one thing after the other."""
    await run_jobs(gm, session)
    await consolidate(gm, session)
    await _reconcile(gm, session)
    await compress_beyond_limit(gm, session, CompressionTrigger.SESSION_END)


async def _reconcile(gm: Graphmem, session: Session) -> None:
    """A drift cycle, where the last one is long enough ago; what it cannot write now waits for the next one."""
    with suppress(Conflict):
        await reconcile(gm, session)


async def _within(seconds: float, work: Awaitable[object]) -> None:
    """Work as far as it comes in some seconds; each of its writes is whole by itself."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await work


async def drop_ended(gm: Graphmem) -> int:
    """Drop what this process holds of students whose session another process has ended, or whom it erased; how many."""
    held = gm.cache.students()
    running = await students.list_running(gm.graph, held, gm.clock()) if held else set()
    ended = [who for who in held if who not in running]
    for who in ended:
        gm.lock_up(who)
    return len(ended)


async def expire_sessions(gm: Graphmem) -> None:
    """End every session whose time is over.

    With a student's last one the conversation ends; what was said in it and not formed waits for the next one.
    """
    now = gm.clock()
    while expired := await students.list_expired_sessions(gm.graph, now):
        for who, session_id in expired:
            if await students.expire_session(gm.graph, who, session_id, now):
                await consolidate(gm, who)
                gm.lock_up(who)
            await keep_up(gm, who)
