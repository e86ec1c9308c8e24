"""Decisions of a drift cycle, as pure functions: which memories are looked at, and what follows from a verdict.

The cost of a cycle does not grow with the student's memories: a few are drawn, each compared with its nearest.

Source: spec 12 (drift).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from graphmem.flows.conflict_plan import (
    SAME_MATTER,
    is_change,
    is_contradiction,
    slots_differ,
    states_something,
    words_of,
)
from graphmem.flows.uncertainty_plan import DOMINANCE, Settling, evidence, is_explicit, settled, severity_of
from graphmem.model import (
    DetectionContext,
    Domain,
    Memory,
    PairClass,
    PairVerdict,
    Reliability,
    Resolution,
    Uncertainty,
    UncertaintyType,
)
from graphmem.search.index import SearchIndex
from graphmem.store.changes import Changes, merged, renewed
from graphmem.store.uncertainties import Recorded
from graphmem.text.ending import ended_chance

COOL_DOWN = timedelta(minutes=30)
"""Time between two cycles of one student that nobody asked for."""
FEWEST, MOST = 10, 20
"""Memories looked at in a cycle; a tolerant companion looks at fewer."""
POOL = 100
"""Newest memories, and memories drawn by lot, that a cycle chooses from."""
NEIGHBOURS = 4
"""Nearest memories that each is compared with."""
LIKELY_CHANGED = 0.5
"""Chance that the older statement has ended from which a verdict of change is followed."""
MOST_PAIRS = 40
"""Pairs judged in one cycle, the nearest."""


@dataclass(frozen=True)
class MemoryPair:
    """Two memories that could replace each other, the older one first."""

    old: Memory
    new: Memory


@dataclass(frozen=True)
class Judged:
    """A pair, and a mind's verdict on it."""

    pair: MemoryPair
    verdict: PairVerdict


def cycle_size(tolerance: float) -> int:
    """Memories looked at in a cycle.

    Examples
    --------
    >>> cycle_size(0.2), cycle_size(0.5), cycle_size(0.8)
    (20, 15, 10)
    """
    return round(MOST - (MOST - FEWEST) * (tolerance - 0.2) / 0.6)


def sampled(known: SearchIndex, cycle: int, tolerance: float, now: datetime) -> list[Memory]:
    """Memories that a cycle looks at: recent, often used and recently changed ones first, one domain before others.

    Parameters
    ----------
    known : SearchIndex; only read
    cycle : int, how many cycles there were; it turns the domains round, and seeds the lot
    tolerance : of the companion, 0.2 to 0.8
    now : datetime
    """
    pool = {m.id: m for m in (*known.latest(POOL), *known.drawn(POOL, cycle)) if states_something(m)}
    domain = tuple(Domain)[cycle % len(Domain)]

    def urgency(memory: Memory) -> float:
        changed = max(filter(None, (memory.timestamp, memory.last_reinforced_at)))
        days = max(0.0, (now - changed) / timedelta(days=1))
        return 2.0 * (memory.domain is domain) + 1.0 / (1.0 + days) + min(memory.access_count, 10) / 10

    ordered = sorted(pool.values(), key=lambda memory: (-urgency(memory), memory.id))
    return ordered[: cycle_size(tolerance)]


def candidates(sample: Sequence[Memory], known: SearchIndex, doubts: Iterable[Uncertainty]) -> list[MemoryPair]:
    """Pairs worth comparing: of one slot, or near in meaning; nothing that is in doubt already."""
    doubted = {frozenset((doubt.a_id, doubt.b_id)) for doubt in doubts}
    found: dict[frozenset[str], tuple[float, MemoryPair]] = {}
    nearest_to = known.nearest_of([memory.id for memory in sample], NEIGHBOURS)
    for memory in sample:
        near = [(m, cosine) for m, cosine in nearest_to.get(memory.id, ()) if cosine >= SAME_MATTER]
        slot = [(m, 1.0) for m in known.of_slot(memory.slot_key)] if memory.slot_key else []
        for other, cosine in (*near, *slot[-NEIGHBOURS:]):
            key = frozenset((memory.id, other.id))
            of_one = other.speaker == memory.speaker and not slots_differ(memory.slot_key, other.slot_key)
            if other.id != memory.id and of_one and states_something(other) and key not in doubted:
                old, new = sorted((memory, other), key=lambda m: (m.timestamp, m.id))
                found[key] = max(
                    found.get(key, (0.0, MemoryPair(old, new))), (cosine, MemoryPair(old, new)), key=lambda f: f[0]
                )
    nearest = sorted(found.values(), key=lambda each: (-each[0], each[1].old.id, each[1].new.id))
    return [pair for _, pair in nearest[:MOST_PAIRS]]


def supported(judged: Sequence[Judged]) -> list[Judged]:
    """The verdicts without changes of life that what tells endings finds unlikely.

    What compares pairs has learned from pairs of which one often ends the other; in talk about one matter, where hardly
    anything ends, it takes most of what is added for a change. Two values of one attribute need no second opinion.
    """
    return [each for each in judged if not is_change(each.verdict) or _is_likely(each.pair)]


def _is_likely(pair: MemoryPair) -> bool:
    if pair.old.slot_key is not None and pair.old.slot_key == pair.new.slot_key:
        return True
    return ended_chance(words_of(pair.new), words_of(pair.old)) >= LIKELY_CHANGED


def reconciled(judged: Sequence[Judged], version: int, now: datetime, tolerance: float) -> Changes:
    """Everything that a cycle writes: what has changed is superseded, what contradicts is settled or left in doubt.

    No memory is changed twice in one cycle.

    Parameters
    ----------
    judged : the nearest first
    version : int, of the student's memories
    now : datetime
    tolerance : of the companion; a tolerant one settles more by itself
    """
    changes, touched = Changes(version, "drift"), set[str]()
    for each in judged:
        pair = each.pair
        if {pair.old.id, pair.new.id} & touched:
            continue
        found = _of_pair(each, version, now, tolerance)
        if found is not None:
            touched |= {pair.old.id, pair.new.id}
            changes = joined(changes, found)
    return changes


def _of_pair(each: Judged, version: int, now: datetime, tolerance: float) -> Changes | None:
    pair, changed = each.pair, is_change(each.verdict)
    if not changed and not is_contradiction(each.verdict):
        return None
    if changed and _said_since(pair):
        return None
    record = _record(each, now)
    resolution = Resolution.TEMPORAL_SUPERSEDE if changed else _unasked(pair, tolerance)
    if resolution is None or (changed and is_explicit(pair.old) and not is_explicit(pair.new)):
        doubtful = renewed((pair.old.id, pair.new.id), reliability=Reliability.CONTRADICTED)
        return Changes(version, "drift", updated=doubtful, doubts=(Recorded(record),))
    done = settled(record, pair.old, pair.new, Settling(resolution), version, now)
    return replace(done, doubts=done.settled)


def _said_since(pair: MemoryPair) -> bool:
    """True if the older statement was said again after the newer one, so that the newer one did not end it."""
    said = pair.old.last_reinforced_at
    return said is not None and said > pair.new.timestamp


def _unasked(pair: MemoryPair, tolerance: float) -> Resolution | None:
    """The resolution that needs nobody's word; None where both sides are as sure."""
    if is_explicit(pair.old) != is_explicit(pair.new):
        return Resolution.CONFIDENCE_DOMINANCE
    more, less = sorted((evidence(pair.old), evidence(pair.new)), reverse=True)
    return Resolution.EVIDENCE_RESOLVED if more > dominance(tolerance) * less else None


def dominance(tolerance: float) -> float:
    """How much more evidence settles a contradiction unasked; never less than twice as much.

    Examples
    --------
    >>> dominance(0.8), dominance(0.5), dominance(0.2)
    (2.0, 2.0, 2.6)
    """
    return DOMINANCE * max(1.0, 1.5 - tolerance)


def _record(each: Judged, now: datetime) -> Uncertainty:
    pair, verdict = each.pair, each.verdict
    told = verdict.kind.value.replace("_", " ")
    return Uncertainty(
        id=f"uncertainty-{pair.old.id}-{pair.new.id}",
        type=UncertaintyType.CONTRADICTION,
        severity=severity_of(pair.old.kind, pair.new.kind),
        detection_context=DetectionContext.DRIFT,
        temporal_signal=verdict.kind is PairClass.TEMPORAL_CHANGE,
        a_id=pair.old.id,
        b_id=pair.new.id,
        created_at=now,
        reasoning=f"{verdict.reasoning} Compared later: {told}, by a chance of {verdict.confidence:.2f}.",
        surface_context=pair.new.content,
    )


def joined(changes: Changes, more: Changes) -> Changes:
    """Two sets of changes as one; of a field of a memory that both set the later value."""
    return replace(
        changes,
        settled_edges=(*changes.settled_edges, *more.settled_edges),
        updated=merged((*changes.updated, *more.updated)),
        edges=(*changes.edges, *more.edges),
        ended=(*changes.ended, *more.ended),
        doubts=(*changes.doubts, *more.doubts),
    )
