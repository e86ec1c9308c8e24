"""Doubts about one memory alone, as pure functions: what nobody confirmed, may be so no longer, or says too little.

Source: spec 12 (unverified, stale, ambiguous).
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from graphmem.flows.conflict_plan import words_of
from graphmem.flows.uncertainty_plan import severity_of
from graphmem.model import (
    DetectionContext,
    Memory,
    MemoryRole,
    Reliability,
    Uncertainty,
    UncertaintyType,
)
from graphmem.store.changes import Changes, renewed
from graphmem.store.uncertainties import Recorded
from graphmem.text.doc import Doc
from graphmem.text.references import is_whole
from graphmem.text.slots import may_change, slot_of

STALE_AFTER = timedelta(days=365)
"""Time since it was last said after which an attribute may have another value: a home, a school, a favourite."""
UNCONFIRMED_AFTER = timedelta(days=30)
"""Time after which what was inferred and never said is in doubt, where nothing rests on it."""
MOST_LONE_DOUBTS = 2
"""New ones in a drift cycle."""
_REASONS = {
    UncertaintyType.UNVERIFIED: "It was inferred, and the student has not said so.",
    UncertaintyType.STALE: "It was said long ago, and may be otherwise by now.",
    UncertaintyType.AMBIGUOUS: "It does not say what it is about.",
}


def lone_type(memory: Memory, student: str, now: datetime, *, acted_on: bool) -> UncertaintyType | None:
    """The reason to doubt a memory that nothing contradicts; None where there is none.

    Parameters
    ----------
    memory : opened
    student : whom the memories tell of, by name
    now : datetime
    acted_on : an action rests on it, so that it must be sure at once, and say what it is about

    Notes
    -----
    What says too little is left to recall, which finds it by the talk around it, until something is to rest on it.
    """
    if memory.reliability is not Reliability.RELIABLE or memory.invalid_at is not None or memory.content is None:
        return None
    if memory.role is MemoryRole.BELIEF:
        unsure = acted_on or now - last_said(memory) >= UNCONFIRMED_AFTER
        return UncertaintyType.UNVERIFIED if unsure and memory.reinforcement_count == 0 else None
    if memory.role is not MemoryRole.SAID:
        return None
    slot = slot_of(Doc(words_of(memory)), memory.speaker)
    if now - last_said(memory) >= STALE_AFTER and slot is not None and may_change(slot):
        return UncertaintyType.STALE
    pointing = acted_on and not is_whole(memory.content, memory.speaker or student, memory.quote)
    return UncertaintyType.AMBIGUOUS if pointing and memory.reinforcement_count == 0 else None


def doubted_ids(doubts: Iterable[Uncertainty]) -> set[str]:
    """Ids of the memories that some doubts are about."""
    return {i for doubt in doubts for i in (doubt.a_id, doubt.b_id) if i is not None}


def last_said(memory: Memory) -> datetime:
    """The time when a memory was said last."""
    return max(filter(None, (memory.timestamp, memory.last_reinforced_at)))


def doubted_alone(
    memories: Iterable[Memory], student: str, context: DetectionContext, version: int, now: datetime
) -> Changes:
    """Everything that doubting memories one by one writes; each is uncertain from now on.

    In a drift cycle a few are doubted, and none that must not fade; before an action all that it rests on.

    Parameters
    ----------
    memories : opened, the most urgent first
    student : whom they tell of, by name
    context : `drift` or `pre_action`
    version : int, of the student's memories
    now : datetime
    """
    acted_on, doubts = context is DetectionContext.PRE_ACTION, list[Recorded]()
    for memory in memories:
        if not acted_on and (memory.flashbulb or memory.in_ledger or len(doubts) == MOST_LONE_DOUBTS):
            continue
        kind = lone_type(memory, student, now, acted_on=acted_on)
        if kind is not None:
            doubts.append(Recorded(_lone_doubt(memory, kind, context, now)))
    ids = [each.uncertainty.a_id for each in doubts]
    return Changes(
        version, context.value, updated=renewed(ids, reliability=Reliability.UNCERTAIN), doubts=tuple(doubts)
    )


def _lone_doubt(memory: Memory, kind: UncertaintyType, context: DetectionContext, now: datetime) -> Uncertainty:
    return Uncertainty(
        # Said again and in doubt again a year later it is another doubt.
        id=f"uncertainty-{memory.id}-{kind.value}-{last_said(memory):%Y%m%d}",
        type=kind,
        severity=severity_of(memory.kind, None),
        detection_context=context,
        temporal_signal=kind is UncertaintyType.STALE,
        a_id=memory.id,
        b_id=None,
        created_at=now,
        reasoning=_REASONS[kind],
        surface_context=memory.content,
    )
