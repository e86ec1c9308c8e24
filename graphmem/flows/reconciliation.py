"""A drift cycle: a few memories are compared with their nearest, and what cannot both be so is noticed (spec 12)."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from graphmem.app import Graphmem
from graphmem.cache import OpenMemories
from graphmem.errors import Conflict
from graphmem.flows import reconciliation_plan as plan
from graphmem.flows.conflict_plan import pair_of
from graphmem.flows.lone_doubt_plan import doubted_alone, doubted_ids
from graphmem.flows.related import with_feedback
from graphmem.flows.relationship_plan import MOST_RELATIONSHIPS, opposed_relationships
from graphmem.flows.session_cache import open_memories, write_changes
from graphmem.model import ANYONE, Classify, DetectionContext, Resolution, Session, Uncertainty
from graphmem.store import uncertainties
from graphmem.store.changes import Changes

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
    await open_memories(gm, session)
    begun = await uncertainties.begin_cycle(gm.graph, session, before, now)
    if begun is None:
        return ()
    cycle, version = begun
    # What another process wrote is read first: otherwise a contradiction in it would have to wait for the next cycle.
    held = await open_memories(gm, session, version)
    for _ in range(CYCLE_ATTEMPTS):
        sample, pairs = await asyncio.to_thread(_pairs, held, cycle, gm)
        asked = Classify(tuple(pair_of(pair.old, pair.new) for pair in pairs))
        answer = await gm.mind.ask(asked)
        judged = [plan.Judged(pair, verdict) for pair, verdict in zip(pairs, answer.value, strict=True)]
        judged = await asyncio.to_thread(plan.supported, judged)
        opposed = await uncertainties.list_opposed_edges(gm.graph, session, sample, MOST_RELATIONSHIPS)
        policy = Resolution(gm.settings.conflicts)
        changes = plan.joined(
            plan.reconciled(judged, held.version, now, held.tolerance),
            opposed_relationships(opposed, policy, held.version, now, held.doubts),
        )
        changes = plan.joined(changes, await asyncio.to_thread(_alone, held, sample, changes, now))
        if not changes.doubts:
            return ()
        changes = await with_feedback(gm, session, changes, held)
        if await write_changes(gm, session, changes):
            return tuple(each.uncertainty for each in changes.doubts)
        held = await open_memories(gm, session)
    raise Conflict("Memories of this student keep changing: reconcile them again.")


def _alone(held: OpenMemories, sample: Sequence[str], changes: Changes, now: datetime) -> Changes:
    """Doubts about memories that were looked at and are in no other doubt; off the event loop."""
    touched = {update.memory_id for update in changes.updated} | doubted_ids(held.doubts)
    memories = [memory for memory in map(held.index.get, sample) if memory is not None and memory.id not in touched]
    return doubted_alone(memories, held.name or ANYONE, DetectionContext.DRIFT, held.version, now)


def _pairs(held: OpenMemories, cycle: int, gm: Graphmem) -> tuple[list[str], list[plan.MemoryPair]]:
    """Choose memories, and pairs of each with others; off the event loop."""
    sample = plan.sampled(held.index, cycle, held.tolerance, gm.clock())
    return [memory.id for memory in sample], plan.candidates(sample, held.index, held.doubts)
