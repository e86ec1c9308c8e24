"""The integrity hash: kept up in the background, verified on demand, accepted by an administrator (spec 14)."""

import logging

from graphmem.app import Graphmem
from graphmem.errors import GraphmemError, NotFound, Tampered
from graphmem.model import Integrity, Who
from graphmem.store import integrity
from graphmem.store.tampering import forget_noticed

INTEGRITY_SECONDS = 1.0
"""Seconds after which a write is taken into the integrity hash."""

log = logging.getLogger(__name__)

NO_STUDENT = "There is no such student: enrol the student first."


async def verify_integrity(gm: Graphmem, who: Who) -> Integrity:
    """Compare the stored data of a student with the service's writes; no key of the student is needed.

    Raises
    ------
    NotFound        there is no such student
    Conflict        the student was written to each time that it was read

    Source: spec 14.
    """
    found = await integrity.verify(gm.graph, who, gm.clock())
    if found is None:
        raise NotFound(NO_STUDENT)
    return found


async def accept_integrity(gm: Graphmem, who: Who) -> Integrity:
    """Accept the stored data of a student as written by the service, whoever wrote it; return the state after that.

    Raises
    ------
    NotFound        there is no such student
    """
    if not await integrity.accept(gm.graph, who, gm.clock()):
        raise NotFound(NO_STUDENT)
    await forget_noticed(gm.graph, who)
    return await verify_integrity(gm, who)


async def keep_up(gm: Graphmem, who: Who) -> None:
    """Take in the recent writes of a student, if it can be done now; `graphmem.store.integrity.take_in`."""
    try:
        await integrity.take_in(gm.graph, who, gm.clock())
    except Tampered as error:
        log.error("the integrity hash of student %s is not kept up: %s", who.student_id, error)
    except GraphmemError as error:
        # The write is not lost: its note waits.
        log.warning("the integrity hash of student %s is left to the next sweep: %s", who.student_id, error.code)


async def keep_all_up(gm: Graphmem) -> None:
    """Take in the recent writes of every student."""
    last = None
    # Page by page: students whose notes cannot be taken in block no others.
    while found := await integrity.list_noted(gm.graph, last):
        for who in found:
            await keep_up(gm, who)
        last = found[-1]


async def keep_up_forever(gm: Graphmem) -> None:
    """Take in this process's writes soon after them, until it ends; errors are left to the sweep."""
    while True:
        ends = await gm.background.stops_within(INTEGRITY_SECONDS)
        while gm.graph.noted:
            await keep_up(gm, gm.graph.noted.pop())
        if ends:
            return
