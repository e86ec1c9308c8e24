"""Reading the facts that violated expectations taught."""

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput, Locked
from graphmem.model import Fact, Session
from graphmem.store import students, turns


async def list_facts(gm: Graphmem, session: Session, first: int) -> list[Fact]:
    """A student's facts, newest first.

    Parameters
    ----------
    gm : Graphmem
    session : Session, open
    first : int, 1 to settings.page_size

    Raises
    ------
    InvalidInput    `first` is out of range
    Locked          the session has ended
    """
    if not 1 <= first <= gm.settings.page_size:
        raise InvalidInput(f"first must lie between 1 and {gm.settings.page_size}.")
    enrolled = await students.find(gm.graph, session, gm.clock())
    if enrolled is None or enrolled.student.session_id != session.session_id:
        raise Locked("This session has ended: open a new one.")
    return await turns.list_facts(gm.graph, session, first)
