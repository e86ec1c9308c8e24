"""A session for as long as a command takes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graphmem.app import Graphmem
from graphmem.flows import students
from graphmem.jobs.sessions import close_session
from graphmem.model import Session, Who


@asynccontextmanager
async def unlocked(gm: Graphmem, who: Who, password: str) -> AsyncIterator[Session]:
    """A student's session; closed at the end, unless an app had it open before.

    Raises
    ------
    Locked          the password is wrong or there is no such student
    """
    before = await students.find_student(gm, who)
    _, session = await students.open_session(gm, who, password)
    try:
        yield session
    finally:
        if before is None or before.session_id != session.session_id:
            await close_session(gm, session)
