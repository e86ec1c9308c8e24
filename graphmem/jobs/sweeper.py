"""Background repair: sessions that ran out, unanswered messages, due jobs (spec 3, 14, 16)."""

import logging
from datetime import timedelta

from graphmem.app import Graphmem
from graphmem.errors import GraphmemError, ModelUnavailable, Unavailable, place
from graphmem.flows.students import finish_erasures, keep_all_up
from graphmem.flows.turn import answer_waiting
from graphmem.jobs.dispatch import remind, run_due_jobs
from graphmem.jobs.drift import drift_due
from graphmem.jobs.sessions import drop_ended, expire_sessions, finish_all_closings
from graphmem.jobs.webhooks import NOTICES_KEPT, send_notices
from graphmem.store import jobs, turns
from graphmem.store.students import delete_old

STRANDED_AFTER = 120.0
"""Seconds after which an unanswered turn is completed by the sweeper."""

KEPT_DAYS = {"tries": 1.0, "usage": 400.0, "questions": 400.0, "jobs": 90.0}
"""Days until wrong passwords (spec 14), usage of language models, answered questions and dead jobs are deleted."""

JOBS_KEPT_HOURS = 24.0
"""Hours until a finished job is deleted."""

log = logging.getLogger(__name__)


async def sweep(gm: Graphmem) -> None:
    """End expired sessions, finish interrupted work, run due jobs and drift cycles, send notices.

    Interrupted work is messages without an answer, ends of conversations, and erasures. Where workers run jobs they
    are notified of them once more.
    """
    now = gm.clock()
    await expire_sessions(gm)
    gm.cache.expire(now)
    await drop_ended(gm)
    await finish_erasures(gm)
    before = now - timedelta(seconds=STRANDED_AFTER)
    for token in await turns.list_stranded(gm.graph, before, now):
        # One student's trouble must not keep the others waiting.
        try:
            await answer_waiting(gm, gm.opened_session(token))
        except ModelUnavailable as e:
            # For the next student it is away, too.
            log.warning("messages that wait for a reply go on waiting: %s", e)
            break
        except Unavailable:
            raise
        except GraphmemError as e:
            log.warning("messages that wait for a reply could not be answered: %s", e.code)
    await send_notices(gm)
    await jobs.delete_done(gm.graph, now - timedelta(hours=JOBS_KEPT_HOURS), now - NOTICES_KEPT)
    await delete_old(gm.graph, {what: now - timedelta(days=days) for what, days in KEPT_DAYS.items()})
    await keep_all_up(gm)
    if gm.background.runs_jobs:
        await finish_all_closings(gm)
        await run_due_jobs(gm)
        await drift_due(gm)
    else:
        await remind(gm)


async def sweep_forever(gm: Graphmem) -> None:
    """Sweep again and again until this process ends; errors are logged and the work is tried again the next time."""
    while not await gm.background.stops_within(gm.settings.sweep_seconds):
        try:
            await sweep(gm)
        except GraphmemError as e:
            log.warning("a sweep was cut short: %s", e.code)
        except Exception as e:
            # Its message may quote what a student wrote, and the sweeper must outlive it.
            log.error("a sweep was cut short by an unexpected %s at %s", type(e).__name__, place(e))
