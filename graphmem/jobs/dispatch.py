"""When and where jobs are run: behind the reply in a quiet moment, by a worker, or by whoever finds them (spec 16)."""

import asyncio
import random
from typing import Any

from graphmem.app import Graphmem
from graphmem.errors import Locked
from graphmem.jobs.runner import kinds, run_jobs, trouble_logged
from graphmem.model import Session, Who
from graphmem.sealing import opened_token
from graphmem.store import jobs
from graphmem.store.jobs import Due


def serve_jobs(gm: Graphmem) -> None:
    """Get ready to send jobs, and to run them where this process does."""

    async def run(institution: str, student_id: str) -> None:
        if (task := asyncio.current_task()) is not None:
            _in_background(gm, task)
        await run_jobs_of(gm, Who(institution, student_id))

    gm.carrier.serve(run)


def start_jobs(gm: Graphmem, session: Session) -> None:
    """Have the due jobs of one student run in the background; what goes wrong is left to the sweepers.

    Where this process runs them, they wait until no turn has been under way for `jobs_quiet` seconds, but no
    longer than `jobs_patience` seconds.
    """
    if session.session_id in gm.starting:
        return
    gm.starting.add(session.session_id)
    serve_jobs(gm)

    async def start() -> None:
        if gm.carrier.here:
            await gm.calm.wait(gm.settings.jobs_quiet, gm.settings.jobs_patience)
        gm.starting.discard(session.session_id)
        if not gm.stopping.is_set():
            await gm.carrier.send(session)

    _in_background(gm, asyncio.create_task(start()))


def _in_background(gm: Graphmem, task: asyncio.Task[Any]) -> None:
    """Have the end of this process wait for a task."""
    gm.background.add(task)
    task.add_done_callback(gm.background.discard)


async def run_jobs_of(gm: Graphmem, who: Who) -> None:
    """Run the due jobs of a student whose session runs, as one of few at once; trouble is logged."""
    with trouble_logged():
        token = await jobs.find_token(gm.graph, who, gm.clock())
        if token is not None:
            async with gm.job_slots:
                await run_jobs(gm, opened_token(gm.secret, token, gm.clock()), politely=True)


async def run_due_jobs(gm: Graphmem, hopeless: set[str] | None = None) -> None:
    """Run the due jobs of every student whose session runs; one student's trouble stops nobody else's.

    Parameters
    ----------
    gm : Graphmem
    hopeless : ids of sessions that this process cannot open, kept from call to call: each is reported once
    """
    hopeless = set() if hopeless is None else hopeless
    due = await jobs.list_due(gm.graph, kinds(gm), gm.clock())
    # Workers that look at the same time begin with different students.
    random.shuffle(due)
    await asyncio.gather(*(_run_due(gm, each, hopeless) for each in due if each.session_id not in hopeless))


async def _run_due(gm: Graphmem, due: Due, hopeless: set[str]) -> None:
    async with gm.job_slots:
        if gm.stopping.is_set():
            return
        with trouble_logged():
            try:
                session = opened_token(gm.secret, due.token, gm.clock())
            except Locked:
                hopeless.add(due.session_id)
                raise
            await run_jobs(gm, session, politely=True)


async def remind(gm: Graphmem) -> None:
    """Say again of every student who has due jobs that there are some: messages may have been lost."""
    serve_jobs(gm)
    for due in await jobs.list_due(gm.graph, kinds(gm), gm.clock()):
        if not await gm.carrier.send(due.who):
            return


async def run_due_jobs_forever(gm: Graphmem) -> None:
    """Look for due jobs again and again, as a worker does whom nobody tells of them."""
    hopeless: set[str] = set()
    while not await gm.stops_within(gm.settings.jobs_poll):
        with trouble_logged():
            await run_due_jobs(gm, hopeless)
