"""Decisions of detection in the turn, as pure functions: the doubt that a message raises, and its other side (spec 12).

A turn knows only the message; the memory that is formed of it becomes the other side of the doubt, later.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from graphmem.flows.uncertainty_plan import earlier_of, least_severity, quoted_memory, severity_of
from graphmem.model import (
    DetectionContext,
    EdgeType,
    Memory,
    MemoryKind,
    PairVerdict,
    Reliability,
    Resolution,
    Severity,
    Uncertainty,
    UncertaintyState,
    UncertaintyType,
    Woven,
)
from graphmem.search.index import SearchIndex
from graphmem.store.changes import Changes, NewEdge, merged, renewed
from graphmem.store.uncertainties import Recorded, Undo
from graphmem.text.sanitize import quoted

DETECTION_SECONDS = 0.6
"""Seconds that a turn gives to detection once there is a candidate; formation or drift finds what takes longer."""
OWN_ENOUGH = 0.5
"""Chance from which a message tells of the student, so that it may contradict what is known, where it fills no slot."""
_SEVERITIES = tuple(Severity)


def noticed_id(memory_id: str, key: str) -> str:
    """Id of the doubt that a turn's message raises about a memory; `key` is what its memories are made with."""
    return f"uncertainty-{memory_id}-turn-{key}"


def noticed_doubt(memory: Memory, verdict: PairVerdict, text: str, seq: int, at: datetime) -> Uncertainty:
    """The doubt that a message raises about a memory; its other side is not formed yet.

    Source: spec 12 (ingestion).
    """
    return Uncertainty(
        id=noticed_id(memory.id, str(seq)),
        type=UncertaintyType.CONTRADICTION,
        severity=severity_of(memory.kind, memory.kind),
        detection_context=DetectionContext.INGESTION,
        temporal_signal=False,
        a_id=memory.id,
        b_id=None,
        created_at=at,
        reasoning=verdict.reasoning,
        surface_context=verdict.surface_context or text,
    )


def may_interrupt(memory: Memory, doubt: Uncertainty, tolerance: float) -> bool:
    """True if a doubt just noticed may be raised in the reply: by its severity, and never about an episode."""
    grave = _SEVERITIES.index(doubt.severity) >= _SEVERITIES.index(least_severity(tolerance))
    return grave and memory.is_own_word and memory.kind is not MemoryKind.EPISODE


def woven_at_once(doubt: Uncertainty, memory: Memory, text: str) -> Woven:
    """A doubt as the reply to the message that raised it puts it.

    Examples
    --------
    >>> ask_at_once("I love liquorice.")
    'You told me before: “I love liquorice”. What is so now?'
    """
    told = quoted_memory(memory)
    return Woven(doubt, told, text, ask_at_once(told))


def ask_at_once(told: str) -> str:
    """The question that settles a doubt just noticed."""
    return f"You told me before: {quoted(told)}. What is so now?"


def completed(changes: Changes, key: str, at: datetime, doubts: Iterable[Uncertainty], known: SearchIndex) -> Changes:
    """What is formed of a message, with the other side of the doubts that its turn raised.

    A doubt is settled where the message has ended the memory, and fades where nothing was formed that contradicts it.

    Parameters
    ----------
    changes : planned by formation
    key : of the message
    at : when it was said
    doubts : not settled
    known : SearchIndex, only read
    """
    for doubt in doubts:
        old = known.get(doubt.a_id)
        if doubt.b_id is None and old is not None and doubt.id == noticed_id(old.id, key):
            changes = _completed(changes, doubt, old, at, known)
    return changes


def _completed(changes: Changes, doubt: Uncertainty, old: Memory, at: datetime, known: SearchIndex) -> Changes:
    if old.id in changes.ended:
        edges = tuple((e.from_id, e.to_id, e.type) for e in changes.edges if e.from_id == old.id)
        done = replace(doubt, state=UncertaintyState.RESOLVED, resolution=Resolution.TEMPORAL_SUPERSEDE, resolved_at=at)
        settled = Recorded(done, Undo((earlier_of(old),), edges))
        return replace(changes, settled=(*changes.settled, settled))
    own, vector = changes.new, known.vector(old.id)
    again = {each.memory.id for each in changes.reinforced}
    if not own or vector is None or old.id in again:
        faded = replace(doubt, state=UncertaintyState.DECAYED, resolution=Resolution.DECAYED, resolved_at=at)
        return replace(changes, settled=(*changes.settled, Recorded(faded)))
    other = max(own, key=lambda new: (float(new.vector @ vector), new.memory.id)).memory
    pair = {old.id, other.id}
    # One doubt between two memories is enough.
    others = tuple(each for each in changes.doubts if {each.uncertainty.a_id, each.uncertainty.b_id} != pair)
    whole = replace(doubt, b_id=other.id, severity=severity_of(old.kind, other.kind))
    return replace(
        changes,
        updated=merged((*changes.updated, *renewed(tuple(sorted(pair)), reliability=Reliability.CONTRADICTED))),
        edges=(*changes.edges, *_new_edge(changes, NewEdge(other.id, old.id, EdgeType.CONTRADICTS, 1.0))),
        doubts=(*others, Recorded(whole)),
    )


def _new_edge(changes: Changes, edge: NewEdge) -> tuple[NewEdge, ...]:
    known = {(each.from_id, each.to_id, each.type) for each in changes.edges}
    return () if (edge.from_id, edge.to_id, edge.type) in known else (edge,)
