"""Background repair: sessions that ran out, unanswered messages, due jobs (spec 3, 14, 16)."""

import logging
from datetime import datetime, timedelta

from graphmem.app import Graphmem
from graphmem.errors import GraphmemError, ModelUnavailable, Unavailable, place
from graphmem.flows.erasure import finish_erasures
from graphmem.flows.integrity import keep_all_up
from graphmem.flows.turn import answer_waiting
from graphmem.jobs.closing import finish_all_closings
from graphmem.jobs.dispatch import remind, run_due_jobs
from graphmem.jobs.drift import drift_due
from graphmem.jobs.sessions import drop_ended, expire_sessions
from graphmem.jobs.webhooks import NOTICES_KEPT, send_notices
from graphmem.settings import Settings
from graphmem.store import jobs, turns
from graphmem.store.retention import Retention, delete_old

log = logging.getLogger(__name__)


async def sweep(gm: Graphmem) -> None:
    """End sessions whose time is over, finish what was left behind, run jobs and drift cycles that are due, notify.

    Left behind are messages without an answer, ends of conversations, and erasures. Where workers run jobs they are
    told of them once more.
    """
    now = gm.clock()
    await expire_sessions(gm)
    gm.cache.expire(now)
    await drop_ended(gm)
    await finish_erasures(gm)
    before = now - timedelta(seconds=gm.settings.stranded_after)
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
    await jobs.delete_done(gm.graph, now - timedelta(hours=gm.settings.jobs_kept_hours), now - NOTICES_KEPT)
    await delete_old(gm.graph, retention_of(gm.settings, now))
    await keep_all_up(gm)
    if gm.background.runs_jobs:
        await finish_all_closings(gm)
        await run_due_jobs(gm)
        await drift_due(gm)
    else:
        await remind(gm)


def retention_of(settings: Settings, now: datetime) -> Retention:
    """The moments before which things are deleted, by the settings.

    Examples
    --------
    >>> from datetime import UTC
    >>> retention_of(Settings(dead_jobs_kept_days=2), datetime(2026, 1, 15, tzinfo=UTC)).jobs_before.day
    13
    """
    return Retention(
        tries_before=now - timedelta(days=settings.password_tries_kept_days),
        usage_before=now - timedelta(days=settings.usage_kept_days),
        questions_before=now - timedelta(days=settings.questions_kept_days),
        jobs_before=now - timedelta(days=settings.dead_jobs_kept_days),
    )


async def sweep_forever(gm: Graphmem) -> None:
    """Sweep again and again until this process ends; what goes wrong is logged and tried again the next time."""
    while not await gm.background.stops_within(gm.settings.sweep_seconds):
        try:
            await sweep(gm)
        except GraphmemError as e:
            log.warning("a sweep was cut short: %s", e.code)
        except Exception as e:
            # Its message may quote what a student wrote, and the sweeper must outlive it.
            log.error("a sweep was cut short by an unexpected %s at %s", type(e).__name__, place(e))
