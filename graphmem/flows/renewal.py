"""Renewal of sessions by use: as long as a session is used it does not run out (spec 14)."""

from contextlib import suppress
from datetime import timedelta

from graphmem.app import Graphmem
from graphmem.errors import GraphmemError
from graphmem.flows.students import renew_session
from graphmem.model import Session

LONGEST_STEP = timedelta(minutes=1)
"""Longest time between two renewals of a session that is used all the time."""


async def renew_if_due(gm: Graphmem, session: Session) -> None:
    """Renew a session that has just been used, unless this process did a moment ago.

    What goes wrong is left to the next use: the request that used the session was answered.
    """
    step = min(LONGEST_STEP, timedelta(minutes=gm.settings.session_minutes) / 20)
    last = gm.renewals.get(session.session_id)
    if last is None or gm.clock() - last >= step:
        with suppress(GraphmemError):
            await renew_session(gm, session)
