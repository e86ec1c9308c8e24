"""A drift cycle: a few memories are compared with their nearest, and what cannot both be so is noticed (spec 12)."""

import asyncio
from collections.abc import Sequence

from graphmem.app import Graphmem
from graphmem.cache import OpenMemories
from graphmem.errors import Conflict
from graphmem.flows import reconciliation_plan as plan
from graphmem.flows.session_cache import open_memories, write_changes
from graphmem.model import Memory, Session, Uncertainty
from graphmem.store import uncertainties
from graphmem.text.contradiction import load_pair_network

CYCLE_ATTEMPTS = 3
"""Times a cycle is planned again when memories changed meanwhile."""


async def reconcile(gm: Graphmem, session: Session, *, by_hand: bool = False) -> tuple[Uncertainty, ...]:
    """Run a drift cycle; the doubts it found, those that it settled by itself included.

    Parameters
    ----------
    gm : Graphmem
    session : Session, open
    by_hand : somebody asks for it, so that there need not be half an hour since the last one

    Raises
    ------
    Locked          the session has ended
    Conflict        memories kept changing; nothing was written

    Source: spec 12 (drift).
    """
    now = gm.clock()
    before = None if by_hand else now - plan.COOL_DOWN
    held = await open_memories(gm, session)
    cycle = await uncertainties.begin_cycle(gm.graph, session, before, now)
    if cycle is None:
        return ()
    for _ in range(CYCLE_ATTEMPTS):
        judged = await asyncio.to_thread(_judged, held, cycle, gm)
        changes = plan.reconciled(judged, held.version, now, held.tolerance)
        if not changes.doubts:
            return ()
        if await write_changes(gm, session, changes):
            return tuple(each.uncertainty for each in changes.doubts)
        held = await open_memories(gm, session)
    raise Conflict("Memories of this student keep changing: reconcile them again.")


def _judged(held: OpenMemories, cycle: int, gm: Graphmem) -> Sequence[plan.Judged]:
    """Choose and read pairs; off the event loop."""
    sample = plan.sampled(held.index, cycle, held.tolerance, gm.clock())
    pairs = plan.candidates(sample, held.index, held.doubts)
    if not pairs:
        return []
    readings = load_pair_network().read([(_words(pair.old), _words(pair.new)) for pair in pairs])
    return [plan.Judged(pair, reading) for pair, reading in zip(pairs, readings, strict=True)]


def _words(memory: Memory) -> str:
    return memory.quote or memory.content or ""
