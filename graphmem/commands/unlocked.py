"""A session for as long as a command takes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graphmem.app import Graphmem
from graphmem.flows import students
from graphmem.jobs.sessions import close_session
from graphmem.model import Session, Who


@asynccontextmanager
async def unlocked(gm: Graphmem, who: Who, password: str) -> AsyncIterator[Session]:
    """A student's session of the command's own, closed at the end; those of apps go on.

    Raises
    ------
    Locked          the password is wrong or there is no such student
    """
    _, session = await students.open_session(gm, who, password)
    try:
        yield session
    finally:
        await close_session(gm, session, wait=True)
