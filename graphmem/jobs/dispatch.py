"""Job dispatch: behind the reply in a quiet moment, by a worker, or by whoever finds the jobs (spec 16)."""

import asyncio
import random

from graphmem.app import Graphmem
from graphmem.errors import Locked
from graphmem.jobs.runner import JOB_KINDS, run_jobs, trouble_logged
from graphmem.jobs.sessions import finish_closings
from graphmem.model import Session, Who
from graphmem.store import jobs, students

JOBS_POLL = 1.0
"""Seconds between two looks of a worker that has no Redis."""


def start_jobs(gm: Graphmem, session: Session) -> None:
    """Have the due jobs of one student run in the background; what goes wrong is left to the sweepers.

    Where this process runs them, they wait until no turn has been under way for `jobs_quiet` seconds, but no
    longer than `jobs_patience` seconds.
    """
    if session.session_id in gm.background.starting:
        return
    gm.background.starting.add(session.session_id)

    async def start() -> None:
        local = gm.background.notifier.is_local
        if local:
            await gm.background.gate.wait(gm.settings.jobs_quiet, gm.settings.jobs_patience)
        gm.background.starting.discard(session.session_id)
        if not gm.background.stopping.is_set():
            await (run_jobs_of(gm, session) if local else gm.background.notifier.send(session))

    gm.background.keep(asyncio.create_task(start()))


async def run_jobs_of(gm: Graphmem, who: Who) -> None:
    """Run the due jobs of a student whose session runs or closes, as one of few at once; trouble is logged."""
    with trouble_logged():
        token = await jobs.find_token(gm.graph, who, gm.clock())
        if token is not None:
            async with gm.background.slots:
                await run_jobs(gm, gm.opened_session(token), yield_to_turns=True)
                await finish_closings(gm, who)


async def listen_for_jobs(gm: Graphmem, at_once: int) -> None:
    """Run the jobs that this process is told of, of so many students side by side, until it ends; needs Redis."""

    async def run(institution: str, student_id: str) -> None:
        if (task := asyncio.current_task()) is not None:
            gm.background.keep(task)
        await run_jobs_of(gm, Who(institution, student_id))

    await gm.background.notifier.listen(run, at_once, gm.background.stopping)


async def run_due_jobs(gm: Graphmem, undecryptable: set[str] | None = None) -> None:
    """Run the due jobs of every student whose session runs; one student's trouble stops nobody else's.

    They wait for a quiet moment, as those of one student do (`start_jobs`): a crowd is answered first.

    Parameters
    ----------
    gm : Graphmem
    undecryptable : ids of sessions that this process cannot open, kept from call to call: each is reported once
    """
    undecryptable = set() if undecryptable is None else undecryptable
    await gm.background.gate.wait(gm.settings.jobs_quiet, gm.settings.jobs_patience)
    due = await jobs.list_due(gm.graph, JOB_KINDS, gm.clock())
    # Workers that look at the same time begin with different students.
    random.shuffle(due)
    await asyncio.gather(
        *(_run_due(gm, id_, token, undecryptable) for _, id_, token in due if id_ not in undecryptable)
    )


async def _run_due(gm: Graphmem, session_id: str, token: str, undecryptable: set[str]) -> None:
    async with gm.background.slots:
        if gm.background.stopping.is_set():
            return
        with trouble_logged():
            try:
                session = gm.opened_session(token)
            except Locked:
                undecryptable.add(session_id)
                raise
            await run_jobs(gm, session, yield_to_turns=True)


async def remind(gm: Graphmem) -> None:
    """Re-publish notifications for all due jobs and closing sessions: messages may have been lost."""
    due = [who for who, *_ in await jobs.list_due(gm.graph, JOB_KINDS, gm.clock())]
    for who in dict.fromkeys((*due, *await students.list_closing(gm.graph, gm.clock()))):
        if not await gm.background.notifier.send(who):
            return


async def run_due_jobs_forever(gm: Graphmem) -> None:
    """Look for due jobs again and again, as a worker does whom nobody tells of them."""
    undecryptable: set[str] = set()
    while not await gm.background.stops_within(JOBS_POLL):
        with trouble_logged():
            await run_due_jobs(gm, undecryptable)
