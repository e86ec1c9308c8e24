"""Check that a session is the student's running one (spec 14)."""

from graphmem.app import Graphmem
from graphmem.errors import Locked
from graphmem.flows.session_cache import ENDED
from graphmem.model import Session
from graphmem.store import students


async def check_running(gm: Graphmem, session: Session) -> None:
    """Raise Locked unless a session is the student's running one."""
    enrolled = await students.find_enrolled(gm.graph, session, gm.clock())
    if enrolled is None or enrolled.student.session_id != session.session_id:
        raise Locked(ENDED)
