"""Erasing a student: everything goes, the key first, so that what a backup still holds opens no more (spec 14)."""

from datetime import timedelta

from graphmem.app import Graphmem
from graphmem.errors import NotFound
from graphmem.model import Erased, Who
from graphmem.store import erasure
from graphmem.validation import checked_id

NODES_AT_ONCE = 1_000
"""Most nodes of each kind that one transaction deletes."""
TAKEN_UP_AFTER = timedelta(minutes=5)
"""Age from which an erasure that another process began is taken for cut short."""


async def erase_student(gm: Graphmem, who: Who) -> Erased:
    """Delete all that is kept of a student; somebody new may be enrolled by the id afterwards.

    First the student and its keys go, in one transaction: from then on no turn, job or observation can write anything.
    The rest is deleted in batches; what is cut short is finished by the next call, or by the sweeper.

    Returns
    -------
    Erased, how much was deleted by this call

    Raises
    ------
    NotFound        nothing is kept of anybody of this id
    Unavailable     Neo4j does not answer; ask again

    Source: spec 14.
    """
    checked_id("studentId", who.student_id)
    async with gm.lock(who), gm.memory_lock(who):
        began = await erasure.begin_erasure(gm.graph, who, gm.clock())
        gm.lock_up(who)
    if began is None:
        raise NotFound("There is no such student.")
    erased = began + await finish_erasure_of(gm, who)
    await gm.background.notifier.forget(who)
    return erased


async def finish_erasures(gm: Graphmem) -> int:
    """Finish erasures that were cut short, and erase what imports cut short have left; how many."""
    unfinished = await erasure.list_unfinished_erasures(gm.graph, gm.clock() - TAKEN_UP_AFTER)
    for who in unfinished:
        await finish_erasure_of(gm, who)
    return len(unfinished)


async def finish_erasure_of(gm: Graphmem, who: Who) -> Erased:
    """Delete what is left of a student whose erasure has begun, or whose import was cut short; how much."""
    erased = Erased()
    while (some := await erasure.delete_some(gm.graph, who, NODES_AT_ONCE)) is not None:
        erased += some
        if not some.total:
            await erasure.finish_erasure(gm.graph, who)
            break
    return erased
