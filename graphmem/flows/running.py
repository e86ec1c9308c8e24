"""Check that a session is one of the student's running ones (spec 14)."""

from graphmem.app import Graphmem
from graphmem.errors import Locked
from graphmem.flows.session_cache import ENDED
from graphmem.model import Session
from graphmem.store import students


async def check_running(gm: Graphmem, session: Session) -> None:
    """Raise Locked unless a session is one of the student's running ones."""
    enrolled = await students.find_enrolled(gm.graph, session, gm.clock())
    if enrolled is None or session.session_id not in enrolled.student.session_ids:
        raise Locked(ENDED)
