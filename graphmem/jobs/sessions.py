"""The end of sessions: what was said is formed and consolidated, then keys and raw turns go (spec 14)."""

from graphmem.app import Graphmem
from graphmem.errors import Conflict
from graphmem.flows.consolidation import consolidate
from graphmem.flows.turn import answer_waiting
from graphmem.jobs.runner import run_jobs
from graphmem.model import Session
from graphmem.store import students


async def close_session(gm: Graphmem, session: Session) -> None:
    """Answer what still waits, form what was said, then lock: key and raw turns go, here and in the graph.

    Jobs that cannot be done now wait for the next session; they hold what they need, sealed.

    Raises
    ------
    Conflict        a message came in while the session was being closed
    """
    await answer_waiting(gm, session)
    await run_jobs(gm, session)
    await consolidate(gm, session)
    async with gm.lock(session):
        if not await students.close_session(gm.graph, session, session.session_id):
            raise Conflict("A message came in meanwhile: close the session again.")
        # Whoever is reading memories right now would put them back.
        async with gm.memory_lock(session):
            gm.lock_up(session)


async def expire_sessions(gm: Graphmem) -> None:
    """End every session whose time is over; what was said in it and not formed waits for the next one."""
    now = gm.clock()
    while expired := await students.list_expired_sessions(gm.graph, now):
        for who, session_id in expired:
            await students.expire_session(gm.graph, who, session_id, now)
            await consolidate(gm, who)
            gm.lock_up(who)
