"""What a student knows of the world, revealed by hand."""

from collections.abc import Sequence

from graphmem.app import Graphmem
from graphmem.commands.unlocked import unlocked
from graphmem.flows.overlay import reveal
from graphmem.model import Who


async def revealed(gm: Graphmem, who: Who, password: str, ids: Sequence[str], through_grade: int | None) -> int:
    """Reveal concepts to a student; the number of concepts that the student knows by then.

    Raises
    ------
    Locked          the password is wrong or there is no such student
    InvalidInput    an id is not of the world
    """
    async with unlocked(gm, who, password) as session:
        return (await reveal(gm, session, ids, through_grade=through_grade)).total
