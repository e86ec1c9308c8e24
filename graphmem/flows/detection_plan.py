"""Decisions of detection, as pure functions: the pairs to compare, the verdicts and the doubts (spec 12).

Only statements that could replace each other are compared: of one slot, or near in meaning where something parts them.
A turn knows only the message; the memory that is formed of it becomes the other side of the doubt, later. A drift cycle
draws a few memories and compares each with its nearest, so that its cost does not grow with them.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from graphmem.flows.uncertainty_plan import (
    DOMINANCE,
    SEVERITIES,
    Settling,
    contradiction,
    earlier_of,
    evidence,
    is_explicit,
    least_severity,
    settled,
    severity_of,
    words_of,
)
from graphmem.model import (
    DetectionContext,
    Domain,
    EdgeType,
    Memory,
    MemoryKind,
    MemoryRole,
    PairClass,
    PairVerdict,
    Reliability,
    Resolution,
    StatementPair,
    Uncertainty,
    UncertaintyState,
    UncertaintyType,
    Vector,
    Woven,
)
from graphmem.search.index import SearchIndex
from graphmem.store.changes import ChangeRow, Changes, New, NewEdge, Reinforced, renewed
from graphmem.store.uncertainties import Recorded, Undo
from graphmem.text.contradiction import ENDED_FOR_SURE
from graphmem.text.doc import Doc
from graphmem.text.ending import ended_chance
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.revision import Effect, Revisable, effect, holds_several
from graphmem.text.sanitize import quoted
from graphmem.text.slots import may_change, slot_of

SAME_MATTER = 0.5
"""Cosine from which two statements may be about one matter."""
NEAR_COMPARED = 8
"""Nearest memories among which candidates are looked for."""
MOST_CANDIDATES = 2
"""Candidates of one statement, the nearest."""
CONTRADICTORY = 0.75
"""Chance that both cannot be so, from which two statements contradict each other; doubt keeps both."""
OPPOSITE_FEELING = 0.3
"""Difference of valence from which two feelings of opposite sign part two statements."""

_NUMBERS = re.compile(r"\d+(?:[.,/:]\d+)*|[-+*/=<>×÷]")


DETECTION_SECONDS = 0.6
"""Seconds that a turn gives to detection once there is a candidate; formation or drift finds what takes longer."""
OWN_ENOUGH = 0.5
"""Chance from which a message is about the student, so that it may contradict memories where it fills no slot."""
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
STALE_AFTER = timedelta(days=365)
"""Time since it was last said after which an attribute may have another value: a home, a school, a favourite."""
UNCONFIRMED_AFTER = timedelta(days=30)
"""Time after which an inferred, never stated memory is in doubt, where nothing rests on it."""
MOST_LONE_DOUBTS = 2
"""New ones in a drift cycle."""
_LONE_REASONS = {
    UncertaintyType.UNVERIFIED: "It was inferred, and the student has not said so.",
    UncertaintyType.STALE: "It was said long ago, and may be otherwise by now.",
    UncertaintyType.AMBIGUOUS: "It does not say what it is about.",
}


def revisable(memory: Memory, vector: Vector | None, slot: str | None = None, slot_key: str | None = None) -> Revisable:
    """Return a memory as a new statement is compared with it.

    Parameters
    ----------
    memory : Memory
    vector : its embedding
    slot : of the new statement, which counts where the memory is of the same
    slot_key : the same as memories have it
    """
    same = slot if memory.slot_key is not None and memory.slot_key == slot_key else None
    content = memory.content or ""
    return Revisable(content, words_of(memory), memory.timestamp, memory.aspect, same, memory.valence, vector)


def states_something(memory: Memory) -> bool:
    """True if a memory states one thing that holds as far as is known, and is no step of a lesson, plan or feeling.

    Of several statements in one, such as a whole message that was observed, what ends one does not end the others.
    """
    states = memory.role in (MemoryRole.SAID, MemoryRole.BELIEF) and memory.aspect is None
    holds = memory.invalid_at is None and memory.reliability is Reliability.RELIABLE
    return states and holds and not holds_several(words_of(memory))


def slots_differ(one: str | None, other: str | None) -> bool:
    """True of two attributes: a home says nothing of a favourite colour, however much their wordings are alike."""
    return one is not None and other is not None and one != other


def conflict_candidates(
    known: SearchIndex,
    said: Revisable,
    doubts: Iterable[Uncertainty],
    slot_key: str | None = None,
    speaker: str | None = None,
) -> list[Memory]:
    """Return memories that a new statement may replace or contradict, the nearest first; none that is in doubt.

    Parameters
    ----------
    known : SearchIndex; only read
    said : the statement, with its vector
    doubts : that are not settled
    slot_key : of the attribute that it fills, as memories have it
    speaker : None of the student

    Source: spec 12 (only memories that could replace each other are compared).
    """
    doubted = doubted_ids(doubt for doubt in doubts if not doubt.is_about_relationships)
    told = said.words, said.valence
    # Of several statements each is compared by itself, once it is formed: read together they seem to contradict a lot.
    alone = said.vector is not None and not holds_several(said.words)
    near = known.nearest(said.vector, NEAR_COMPARED) if said.vector is not None and alone else []
    found = {m.id: m for m, cosine in near if cosine >= SAME_MATTER and texts_diverge((words_of(m), m.valence), told)}
    found |= {memory.id: memory for memory in known.of_slot(slot_key or "")[-MOST_CANDIDATES:]}
    compared = (
        memory
        for memory in found.values()
        if memory.id not in doubted
        and memory.speaker == speaker
        and memory.timestamp <= said.at
        and not slots_differ(memory.slot_key, slot_key)
        and states_something(memory)
        and words_of(memory) != said.words
    )
    return list(islice(compared, MOST_CANDIDATES))


def is_decided(said: Revisable, slot_key: str | None, memory: Memory, vector: Vector | None) -> bool:
    """True if words alone decide the effect of a statement on a memory: it repeats, refines, ends or corrects it.

    Parameters
    ----------
    said : Revisable
    slot_key : of its slot, as memories have it
    memory : that it is compared with
    vector : its embedding
    """
    old = revisable(memory, vector, said.slot, slot_key)
    cosine = 0.0 if said.vector is None or vector is None else float(said.vector @ vector)
    return effect(said, old, cosine) not in (Effect.NONE, Effect.CONTRADICTS)


def diverges(a: Memory, b: Memory) -> bool:
    """Return whether two memories differ in numbers, names, negation or valence."""
    return texts_diverge((a.content or "", a.valence), (b.content or "", b.valence))


def texts_diverge(a: tuple[str, float], b: tuple[str, float]) -> bool:
    """Return whether two texts, each with its valence, differ in numbers, names, negation or valence.

    Source: spec 12 (only memories that could replace each other are compared).
    """
    (one, feeling), (other, another) = a, b
    names = [
        frozenset(w for w in Doc(text).words[1:] if w[:1].isupper() and w.casefold() not in STOP_WORDS)
        for text in (one, other)
    ]
    opposite = feeling * another < 0 and abs(feeling - another) > OPPOSITE_FEELING
    return opposite or names[0] != names[1] or not said_the_same(one, other)


def said_the_same(a: str, b: str) -> bool:
    """Return whether two like texts have the same numbers, signs and negations, in order.

    Examples
    --------
    >>> said_the_same("12 - 3 = 9 spoons", "That is 12 - 3 = 9"), said_the_same("12 - 3 = 9", "12 + 3 = 15")
    (True, False)
    >>> said_the_same("I like it", "I don't like it")
    False
    """
    return _NUMBERS.findall(a) == _NUMBERS.findall(b) and Doc(a).negates == Doc(b).negates


def is_contradiction(verdict: PairVerdict) -> bool:
    """Return whether a verdict finds for sure that two statements cannot both be so.

    Examples
    --------
    >>> is_contradiction(PairVerdict(PairClass.TRUE_CONTRADICTION, 0.6, 0.5, 0.9))
    True
    """
    return verdict.kind is PairClass.TRUE_CONTRADICTION and verdict.opposed >= CONTRADICTORY


def is_change(verdict: PairVerdict) -> bool:
    """Return whether a verdict finds for sure that the older statement holds no longer, since life has changed.

    Examples
    --------
    >>> is_change(PairVerdict(PairClass.TEMPORAL_CHANGE, 0.7, 0.9, 0.9)), is_change(
    ...     PairVerdict(PairClass.TEMPORAL_CHANGE, 0.7, 0.5, 0.9)
    ... )
    (True, False)
    """
    return verdict.kind is PairClass.TEMPORAL_CHANGE and verdict.ended >= ENDED_FOR_SURE


def pair_of(a: Memory, b: Memory) -> StatementPair:
    """Return two memories as a mind is asked about them, the older one first."""
    old, new = sorted((a, b), key=lambda memory: (memory.timestamp, memory.id))
    return StatementPair(words_of(old), words_of(new))


def noticed_doubt(memory: Memory, verdict: PairVerdict, text: str, key: str, at: datetime) -> Uncertainty:
    """Return the doubt that a message raises about a memory; its other side is not formed yet.

    Parameters
    ----------
    memory : that the message contradicts
    verdict : on the two
    text, at : of the message
    key : from which the ids of the message's memories will be made

    Source: spec 12 (ingestion).
    """
    about = verdict.surface_context or text
    doubt = contradiction(memory, f"turn-{key}", memory.kind, DetectionContext.INGESTION, at, verdict.reasoning, about)
    return replace(doubt, b_id=None)


def woven_at_once(doubt: Uncertainty, memory: Memory, text: str, tolerance: float) -> Woven | None:
    """Return a doubt as the reply to the message that raised it puts it; None where it is mild or about an episode."""
    grave = SEVERITIES.index(doubt.severity) >= SEVERITIES.index(least_severity(tolerance))
    if not grave or not memory.is_own_word or memory.kind is MemoryKind.EPISODE:
        return None
    told = words_of(memory)
    return Woven(doubt, told, text, f"You told me before: {quoted(told)}. What is so now?")


def completed(changes: Changes, key: str, at: datetime, doubts: Iterable[Uncertainty], known: SearchIndex) -> Changes:
    """Return the changes formed of a message, with the other side of the doubts that its turn raised.

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
        if doubt.b_id is None and old is not None and doubt.id == f"uncertainty-{old.id}-turn-{key}":
            changes = _with_other_side(changes, doubt, old, at, known)
    return changes


def _with_other_side(changes: Changes, doubt: Uncertainty, old: Memory, at: datetime, known: SearchIndex) -> Changes:
    if old.id in changes.ended:
        edges = tuple((e.from_id, e.to_id, e.type) for e in changes.of(NewEdge) if e.from_id == old.id)
        done = replace(doubt, state=UncertaintyState.RESOLVED, resolution=Resolution.TEMPORAL_SUPERSEDE, resolved_at=at)
        return changes.plus(Recorded(done, Undo((earlier_of(old),), edges)))
    own, vector = changes.of(New), known.vector(old.id)
    if not own or vector is None or old.id in {each.memory.id for each in changes.of(Reinforced)}:
        return changes.plus(*settled(doubt, (old,), Settling(Resolution.DECAYED), at))
    other = max(own, key=lambda new: (float(new.vector @ vector), new.memory.id)).memory
    pair = {old.id, other.id}
    # One doubt between two memories is enough.
    twins = [each for each in changes.doubts if {each.uncertainty.a_id, each.uncertainty.b_id} == pair]
    whole = replace(doubt, b_id=other.id, severity=severity_of(old.kind, other.kind))
    return replace(changes, rows=tuple(row for row in changes.rows if row not in twins)).plus(
        *renewed(tuple(sorted(pair)), reliability=Reliability.CONTRADICTED),
        NewEdge(other.id, old.id, EdgeType.CONTRADICTS, 1.0),
        Recorded(whole, new=True),
    )


class MemoryPair(NamedTuple):
    """Two memories that could replace each other, the older one first."""

    old: Memory
    new: Memory


Judged = tuple[MemoryPair, PairVerdict]
"""A pair, and a mind's verdict on it."""


def cycle_size(tolerance: float) -> int:
    """Return memories looked at in a cycle.

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
    """Return pairs worth comparing: of one slot, or near in meaning; nothing that is in doubt already."""
    doubted = {frozenset((doubt.a_id, doubt.b_id)) for doubt in doubts}
    found: dict[frozenset[str], tuple[float, MemoryPair]] = {}
    for memory in sample:
        near = [(m, cosine) for m, cosine in known.nearest_to(memory.id, NEIGHBOURS) if cosine >= SAME_MATTER]
        slot = [(m, 1.0) for m in known.of_slot(memory.slot_key)] if memory.slot_key else []
        for other, cosine in (*near, *slot[-NEIGHBOURS:]):
            key = frozenset((memory.id, other.id))
            of_one = other.speaker == memory.speaker and not slots_differ(memory.slot_key, other.slot_key)
            if other.id != memory.id and of_one and states_something(other) and key not in doubted:
                pair = MemoryPair(*sorted((memory, other), key=lambda m: (m.timestamp, m.id)))
                found[key] = max(found.get(key, (0.0, pair)), (cosine, pair), key=itemgetter(0))
    nearest = sorted(found.values(), key=lambda each: (-each[0], each[1].old.id, each[1].new.id))
    return [pair for _, pair in nearest[:MOST_PAIRS]]


def supported(judged: Sequence[Judged]) -> list[Judged]:
    """Return the verdicts without life changes that the supersession classifier finds unlikely.

    What compares pairs has learned from pairs of which one often ends the other; in talk about one matter, where hardly
    anything ends, it takes most of what is added for a change. Two values of one attribute need no second opinion.
    """
    return [(pair, verdict) for pair, verdict in judged if not is_change(verdict) or _is_likely(pair)]


def _is_likely(pair: MemoryPair) -> bool:
    if pair.old.slot_key is not None and pair.old.slot_key == pair.new.slot_key:
        return True
    return ended_chance(words_of(pair.new), words_of(pair.old)) >= LIKELY_CHANGED


def reconciled(judged: Sequence[Judged], now: datetime, tolerance: float) -> tuple[ChangeRow, ...]:
    """Return everything that a cycle writes: outdated memories superseded, contradictions settled or in doubt.

    No memory is changed twice in one cycle.

    Parameters
    ----------
    judged : the nearest first
    now : datetime
    tolerance : of the companion; a tolerant one settles more by itself
    """
    rows, touched = list[ChangeRow](), set[str]()
    for pair, verdict in judged:
        ids = {pair.old.id, pair.new.id}
        if touched.isdisjoint(ids) and (found := _of_pair(pair, verdict, now, tolerance)):
            touched |= ids
            rows += found
    return tuple(rows)


def _of_pair(pair: MemoryPair, verdict: PairVerdict, now: datetime, tolerance: float) -> tuple[ChangeRow, ...]:
    old, new, changed = pair.old, pair.new, is_change(verdict)
    # Said again after the newer one, it was not ended by that.
    again = old.last_reinforced_at is not None and old.last_reinforced_at > new.timestamp
    if (changed and again) or not (changed or is_contradiction(verdict)):
        return ()
    told = verdict.kind.value.replace("_", " ")
    why = f"{verdict.reasoning} Compared later: {told}, by a chance of {verdict.confidence:.2f}."
    record = contradiction(old, new.id, new.kind, DetectionContext.DRIFT, now, why, new.content)
    record = replace(record, temporal_signal=verdict.kind is PairClass.TEMPORAL_CHANGE)
    resolution = Resolution.TEMPORAL_SUPERSEDE if changed else _unasked(pair, tolerance)
    if resolution is None or (changed and is_explicit(old) and not is_explicit(new)):
        return (*renewed((old.id, new.id), reliability=Reliability.CONTRADICTED), Recorded(record, new=True))
    return settled(record, pair, Settling(resolution), now, new=True)


def _unasked(pair: MemoryPair, tolerance: float) -> Resolution | None:
    """Return the resolution that needs nobody's word; None where both sides are as sure."""
    if is_explicit(pair.old) != is_explicit(pair.new):
        return Resolution.CONFIDENCE_DOMINANCE
    more, less = sorted((evidence(pair.old), evidence(pair.new)), reverse=True)
    return Resolution.EVIDENCE_RESOLVED if more > dominance(tolerance) * less else None


def dominance(tolerance: float) -> float:
    """Return how much more evidence settles a contradiction unasked; never less than twice as much.

    Examples
    --------
    >>> dominance(0.8), dominance(0.5), dominance(0.2)
    (2.0, 2.0, 2.6)
    """
    return DOMINANCE * max(1.0, 1.5 - tolerance)


def lone_type(memory: Memory, now: datetime, *, acted_on: bool, leans: bool = False) -> UncertaintyType | None:
    """Return the reason to doubt a memory that nothing contradicts; None where there is none.

    Parameters
    ----------
    memory : opened
    now : datetime
    acted_on : an action rests on it, so that it must be sure at once, and name its subject
    leans : it cannot be understood without the message before

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
    return UncertaintyType.AMBIGUOUS if acted_on and leans and memory.reinforcement_count == 0 else None


def doubted_ids(doubts: Iterable[Uncertainty]) -> set[str]:
    """Return ids of the memories that some doubts are about."""
    return {i for doubt in doubts for i in (doubt.a_id, doubt.b_id) if i is not None}


def last_said(memory: Memory) -> datetime:
    """Return the time when a memory was said last."""
    return max(filter(None, (memory.timestamp, memory.last_reinforced_at)))


def doubted_alone(
    memories: Iterable[Memory], context: DetectionContext, now: datetime, leaning: Collection[str] = ()
) -> tuple[ChangeRow, ...]:
    """Return everything that doubting memories one by one writes; each is uncertain from now on.

    In a drift cycle a few are doubted, and none that must not fade; before an action all that it rests on.

    Parameters
    ----------
    memories : opened, the most urgent first
    context : `drift` or `pre_action`
    now : datetime
    leaning : ids of memories that cannot be understood without the message before
    """
    acted_on = context is DetectionContext.PRE_ACTION
    able = (memory for memory in memories if acted_on or not (memory.flashbulb or memory.in_ledger))
    kinds = ((m, lone_type(m, now, acted_on=acted_on, leans=m.id in leaning)) for m in able)
    doubts = (_lone_doubt(memory, kind, context, now) for memory, kind in kinds if kind is not None)
    some = list(islice(doubts, None if acted_on else MOST_LONE_DOUBTS))
    ids = [each.a_id for each in some]
    return (*renewed(ids, reliability=Reliability.UNCERTAIN), *(Recorded(each, new=True) for each in some))


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
        reasoning=_LONE_REASONS[kind],
        surface_context=memory.content,
    )
