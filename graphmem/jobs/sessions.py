"""The end of sessions: what was said is formed and consolidated after the last one, then raw turns go (spec 14)."""

import asyncio

from graphmem.app import Graphmem
from graphmem.errors import Locked
from graphmem.flows.consolidation import consolidate
from graphmem.flows.integrity import keep_up
from graphmem.flows.session_cache import ENDED
from graphmem.jobs.closing import closing_start, finish_closing, finish_in_background, held
from graphmem.jobs.dispatch import serve_jobs
from graphmem.model import Session
from graphmem.store import students


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
    async with gm.lock(session):
        last = await students.delete_session(gm.graph, session, start, since)
        if last is None:
            raise Locked(ENDED)
        # Whoever is reading memories right now would put them back.
        async with gm.memory_lock(session):
            if last and here:
                gm.cache.admit(start.session, start.session.expires_at)
            gm.dismiss(session)
    if not last:
        await keep_up(gm, session)
    elif wait:
        async with held(gm, [start.session]):
            await finish_closing(gm, start.session, since)
    elif here:
        gm.background.keep(asyncio.create_task(finish_in_background(gm, start.session, since)))
    else:
        serve_jobs(gm)
        await gm.background.notifier.send(session)


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
