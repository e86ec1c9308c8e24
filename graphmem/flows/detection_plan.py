"""Decisions of detection, as pure functions: what is compared, what a verdict means, and what is doubted (spec 12).

Only statements that could replace each other are compared: of one slot, or near in meaning where something parts them.
A turn knows only the message; the memory that is formed of it becomes the other side of the doubt, later. A drift cycle
draws a few memories and compares each with its nearest, so that its cost does not grow with them.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice

from graphmem.flows.uncertainty_plan import (
    DOMINANCE,
    SEVERITIES,
    Settling,
    earlier_of,
    evidence,
    is_explicit,
    least_severity,
    quoted_memory,
    settled,
    severity_of,
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
from graphmem.store.changes import Changes, New, NewEdge, Reinforced, renewed
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
WORTH_A_LOOK = 0.25
"""Cosine of a message in the student's own words from which it is retold, to be compared with retold statements."""
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
"""Chance from which a message tells of the student, so that it may contradict what is known, where it fills no slot."""
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
"""Time after which what was inferred and never said is in doubt, where nothing rests on it."""
MOST_LONE_DOUBTS = 2
"""New ones in a drift cycle."""
_LONE_REASONS = {
    UncertaintyType.UNVERIFIED: "It was inferred, and the student has not said so.",
    UncertaintyType.STALE: "It was said long ago, and may be otherwise by now.",
    UncertaintyType.AMBIGUOUS: "It does not say what it is about.",
}


def words_of(memory: Memory) -> str:
    """Return the words a memory comes from, where they are kept; else its content."""
    return memory.quote or memory.content or ""


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


@dataclass(frozen=True)
class NewStatement:
    """A statement that may replace or contradict what is known.

    valence : -1 to 1
    vector : its embedding
    """

    text: str = field(repr=False)
    at: datetime
    vector: Vector = field(repr=False)
    valence: float
    slot_key: str | None = None
    speaker: str | None = None


def conflict_candidates(known: SearchIndex, said: NewStatement, doubts: Iterable[Uncertainty]) -> list[Memory]:
    """Return memories that a new statement may replace or contradict, the nearest first; none that is in doubt.

    Parameters
    ----------
    known : SearchIndex; only read
    said : NewStatement
    doubts : that are not settled

    Source: spec 12 (only memories that could replace each other are compared).
    """
    doubted = doubted_ids(doubt for doubt in doubts if not doubt.is_about_relationships)
    # Of several statements each is compared by itself, once it is formed: read together they seem to contradict a lot.
    near = [] if holds_several(said.text) else known.nearest(said.vector, NEAR_COMPARED)
    of_slot = known.of_slot(said.slot_key)[-MOST_CANDIDATES:] if said.slot_key is not None else []
    found = {m.id: m for m, cosine in near if cosine >= SAME_MATTER and _parts_from(m, said)}
    found |= {memory.id: memory for memory in of_slot}
    compared = (memory for memory in found.values() if memory.id not in doubted and _is_comparable(memory, said))
    return list(islice(compared, MOST_CANDIDATES))


def is_decided(said: Revisable, slot_key: str | None, memory: Memory, vector: Vector | None) -> bool:
    """True if words alone say what a new statement does to a memory: it says the same, refines, ends or corrects it.

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


def may_touch(known: SearchIndex, said: NewStatement) -> bool:
    """Return whether a message that is not retold yet may have candidates."""
    if said.slot_key is not None and known.of_slot(said.slot_key):
        return True
    return any(
        cosine >= WORTH_A_LOOK and _parts_from(m, said) for m, cosine in known.nearest(said.vector, NEAR_COMPARED)
    )


def _is_comparable(memory: Memory, said: NewStatement) -> bool:
    before = memory.speaker == said.speaker and memory.timestamp <= said.at
    of_one = before and not slots_differ(memory.slot_key, said.slot_key)
    return of_one and states_something(memory) and words_of(memory) != said.text


def _parts_from(memory: Memory, said: NewStatement) -> bool:
    return texts_diverge((words_of(memory), memory.valence), (said.text, said.valence))


def diverges(a: Memory, b: Memory) -> bool:
    """Return whether two memories part in numbers, names, what they deny, or in the feeling."""
    return texts_diverge((a.content or "", a.valence), (b.content or "", b.valence))


def texts_diverge(a: tuple[str, float], b: tuple[str, float]) -> bool:
    """Return whether two texts, each with its valence, part in numbers, names, what they deny, or in the feeling.

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


def noticed_id(memory_id: str, key: str) -> str:
    """Id of the doubt that a turn's message raises about a memory; `key` is what its memories are made with."""
    return f"uncertainty-{memory_id}-turn-{key}"


def noticed_doubt(memory: Memory, verdict: PairVerdict, text: str, seq: int, at: datetime) -> Uncertainty:
    """Return the doubt that a message raises about a memory; its other side is not formed yet.

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
    """Return whether a doubt just noticed may be raised in the reply: by its severity, and never about an episode."""
    grave = SEVERITIES.index(doubt.severity) >= SEVERITIES.index(least_severity(tolerance))
    return grave and memory.is_own_word and memory.kind is not MemoryKind.EPISODE


def woven_at_once(doubt: Uncertainty, memory: Memory, text: str) -> Woven:
    """Return a doubt as the reply to the message that raised it puts it.

    Examples
    --------
    >>> ask_at_once("I love liquorice.")
    'You told me before: “I love liquorice”. What is so now?'
    """
    told = quoted_memory(memory)
    return Woven(doubt, told, text, ask_at_once(told))


def ask_at_once(told: str) -> str:
    """Return the question that settles a doubt just noticed."""
    return f"You told me before: {quoted(told)}. What is so now?"


def completed(changes: Changes, key: str, at: datetime, doubts: Iterable[Uncertainty], known: SearchIndex) -> Changes:
    """Return what is formed of a message, with the other side of the doubts that its turn raised.

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
            changes = _with_other_side(changes, doubt, old, at, known)
    return changes


def _with_other_side(changes: Changes, doubt: Uncertainty, old: Memory, at: datetime, known: SearchIndex) -> Changes:
    if old.id in changes.ended:
        edges = tuple((e.from_id, e.to_id, e.type) for e in changes.of(NewEdge) if e.from_id == old.id)
        done = replace(doubt, state=UncertaintyState.RESOLVED, resolution=Resolution.TEMPORAL_SUPERSEDE, resolved_at=at)
        return changes.plus(Recorded(done, Undo((earlier_of(old),), edges)))
    own, vector = changes.of(New), known.vector(old.id)
    again = {each.memory.id for each in changes.of(Reinforced)}
    if not own or vector is None or old.id in again:
        faded = replace(doubt, state=UncertaintyState.DECAYED, resolution=Resolution.DECAYED, resolved_at=at)
        return changes.plus(Recorded(faded))
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
    """Return the verdicts without changes of life that what tells endings finds unlikely.

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
            changes = changes.plus(*found.rows)
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
        return Changes(version, "drift", (*doubtful, Recorded(record, new=True)))
    done = settled(record, pair.old, pair.new, Settling(resolution), version, now)
    return replace(done, rows=tuple(replace(row, new=True) if isinstance(row, Recorded) else row for row in done.rows))


def _said_since(pair: MemoryPair) -> bool:
    """Return whether the older statement was said again after the newer one, so that the newer one did not end it."""
    said = pair.old.last_reinforced_at
    return said is not None and said > pair.new.timestamp


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


def lone_type(memory: Memory, now: datetime, *, acted_on: bool, leans: bool = False) -> UncertaintyType | None:
    """Return the reason to doubt a memory that nothing contradicts; None where there is none.

    Parameters
    ----------
    memory : opened
    now : datetime
    acted_on : an action rests on it, so that it must be sure at once, and say what it is about
    leans : it cannot be understood without what was said before

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
    memories: Iterable[Memory],
    context: DetectionContext,
    version: int,
    now: datetime,
    leaning: Collection[str] = (),
) -> Changes:
    """Return everything that doubting memories one by one writes; each is uncertain from now on.

    In a drift cycle a few are doubted, and none that must not fade; before an action all that it rests on.

    Parameters
    ----------
    memories : opened, the most urgent first
    context : `drift` or `pre_action`
    version : int, of the student's memories
    now : datetime
    leaning : ids of those that cannot be understood without what was said before
    """
    acted_on, doubts = context is DetectionContext.PRE_ACTION, list[Recorded]()
    for memory in memories:
        if not acted_on and (memory.flashbulb or memory.in_ledger or len(doubts) == MOST_LONE_DOUBTS):
            continue
        kind = lone_type(memory, now, acted_on=acted_on, leans=memory.id in leaning)
        if kind is not None:
            doubts.append(Recorded(_lone_doubt(memory, kind, context, now), new=True))
    ids = [each.uncertainty.a_id for each in doubts]
    return Changes(version, context.value, (*renewed(ids, reliability=Reliability.UNCERTAIN), *doubts))


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
