"""Compressing a student's memories by hand."""

from graphmem.app import Graphmem
from graphmem.commands.unlocked import unlocked
from graphmem.jobs.compressing import compress_within_budget
from graphmem.model import Compression, Who


async def compressed(gm: Graphmem, who: Who, password: str, preview: bool, to: int | None) -> Compression:
    """What a compression did, or would do.

    Raises
    ------
    Locked          the password is wrong or there is no such student
    InvalidInput    `to` will not do
    """
    async with unlocked(gm, who, password) as session:
        return await compress_within_budget(gm, session, to=to, preview=preview)


def compression_line(done: Compression) -> str:
    """A compression in one line."""
    verb = "would become" if done.id is None else "became"
    return (
        f"{done.nodes_before} memories {verb} {done.nodes_after} ({done.pruned} pruned, {done.merged} merged into "
        f"summaries), {done.edges_before} edges {verb} {done.edges_after}, in {done.cycles} cycles."
    )
