"""Reading the facts that violated expectations taught."""

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput
from graphmem.flows.running import check_running
from graphmem.model import Fact, Session
from graphmem.store import turns


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
    await check_running(gm, session)
    return await turns.list_ring(gm.graph, session, first)
