"""Decisions about uncertainties, as pure functions: how grave one is, who wins, all that settling and undoing write.

Explicit memories (stated or noted by a person) yield to inferred ones only by the student's own word (spec 12).
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

from graphmem.errors import InvalidInput
from graphmem.flows.ending import as_memory
from graphmem.model import (
    ActionAdvice,
    Author,
    DetectionContext,
    Domain,
    Edge,
    EdgeType,
    Effect,
    Memory,
    MemoryKind,
    MemoryRole,
    Message,
    RelationshipSide,
    Reliability,
    Resolution,
    Severity,
    Uncertainty,
    UncertaintyState,
    UncertaintyType,
    Vector,
    Woven,
)
from graphmem.search.index import SearchIndex
from graphmem.search.scoring import gravity_now
from graphmem.store.changes import (
    ChangedEdge,
    ChangeRow,
    Changes,
    End,
    New,
    NewEdge,
    Reinforced,
    Update,
    renewed,
)
from graphmem.store.uncertainties import Earlier, Recorded, Undo
from graphmem.text.contradiction import telling_stems
from graphmem.text.doc import Doc
from graphmem.text.normalize import quoted
from graphmem.text.pairs import polarity_of
from graphmem.text.revision import SAME_MATTER, Claim, PairVerdict, may_change, may_clash, pair_verdict, slot_of

DOMINANCE = 2.0
"""How much more confidence one side needs than the other to win by it."""
_DOUBTED = 0.6
"""Share of an action's confidence that is left where a memory it rests on is in doubt."""
_REINFORCED = 0.2
"""Share of the gap to 1 by which a winner's strength rises."""
IN_DOUBT = (Reliability.UNCERTAIN, Reliability.CONTRADICTED)
SETTLED_STATES = (UncertaintyState.RESOLVED, UncertaintyState.DECAYED)
MOST_RAISED = 3
"""Times a doubt is raised; after the last one it is a step less severe, and not raised again."""
RAISED_EVERY = 3
"""Messages of the student between two doubts raised."""
MOST_WOVEN = 2
"""Doubts in one context."""
_TOUCHED = 0.45
"""Cosine of a message to one side of a doubt from which it touches it, without a telling word in common."""
_ANSWERED_WITHIN = timedelta(hours=1)
"""Time after a doubt was raised within which a message may answer it in few words."""
_CLEAR_VALENCE = 0.2
"""Least absolute valence of a short message that decides between a liking and a dislike."""
_FEW_STEMS = 4
CORRECTED_BY, REASSURED_BY = -0.03, 0.01
"""Change of a companion's tolerance where the student puts something right, and where something that is known is said
again or a doubt was passed over."""
TOLERANCES = (0.2, 0.8)
SEVERITIES = tuple(Severity)
_ASKING = {
    UncertaintyType.UNVERIFIED: "By the way, is it so: {}?",
    UncertaintyType.AMBIGUOUS: "By the way, you said {}: what was that about?",
}
"""Questions about a memory in doubt alone, for another reason than that it may be outdated."""
_KIND_RANKS = {MemoryKind.EPISODE: 0, MemoryKind.CONCEPT: 1, MemoryKind.TRAIT: 2}
SUPPORTING = (EdgeType.SUPPORTS, EdgeType.REFINES, EdgeType.RELATES_TO, EdgeType.ABSTRACTS)
"""Relationships along which a resolution changes neighbouring memories."""
RESTING = (EdgeType.SUPPORTS, EdgeType.REFINES, EdgeType.ABSTRACTS)
"""Those by which one memory rests on another, or speaks for it."""
STRENGTHENED, WEAKENED = 0.1, 0.2
"""Share of the gap to 1, and of the confidence, by which a neighbour changes, times the edge's weight."""
MOST_RELATED = 10
"""Most neighbours of one side that change, strongest edges first."""
MOST_RELATIONSHIPS = 10
"""Pairs of relationships that a cycle looks at."""
NEAREST_COMPARED = 12
"""Nearest memories that a statement is compared with."""
MOST_CANDIDATES = 2
"""Candidates of one statement, the nearest."""
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


def severity_of(a: MemoryKind, b: MemoryKind | None) -> Severity:
    """Return how much a doubt matters, by the kinds of its memories; a relationship counts as a concept (spec 12).

    Examples
    --------
    >>> trait, concept, episode = MemoryKind.TRAIT, MemoryKind.CONCEPT, MemoryKind.EPISODE
    >>> [severity_of(*pair).value for pair in ((trait, trait), (concept, trait), (trait, episode), (episode, None))]
    ['critical', 'high', 'medium', 'low']
    """
    if b is None:
        return Severity.LOW
    low, high = sorted((_KIND_RANKS[a], _KIND_RANKS[b]))
    if low == _KIND_RANKS[MemoryKind.TRAIT]:
        return Severity.CRITICAL
    if high == _KIND_RANKS[MemoryKind.EPISODE]:
        return Severity.LOW
    return Severity.MEDIUM if low == _KIND_RANKS[MemoryKind.EPISODE] else Severity.HIGH


def contradiction(
    old: Memory,
    new_id: str,
    kind: MemoryKind,
    context: DetectionContext,
    at: datetime,
    reasoning: str,
    about: str | None,
) -> Uncertainty:
    """Return a doubt between a memory and a newer one, of which a kind is known; `about`: when to raise it."""
    return Uncertainty(
        id=f"uncertainty-{old.id}-{new_id}",
        type=UncertaintyType.CONTRADICTION,
        severity=severity_of(old.kind, kind),
        detection_context=context,
        temporal_signal=False,
        a_id=old.id,
        b_id=new_id,
        created_at=at,
        reasoning=reasoning,
        surface_context=about,
    )


@dataclass(frozen=True)
class Outcome:
    """Effects of a resolution on two memories in doubt.

    measure : the memory with more of it wins; None where a person names the winner
    decisive : more than twice as much is needed
    closes : the loser holds no longer; else it is uncertain
    evolves : the loser became the winner, from the time of the winner on; else the winner contradicts it
    """

    measure: Callable[[Memory, datetime], Any] | None = None
    decisive: bool = False
    closes: bool = True
    evolves: bool = False


def evidence(memory: Memory) -> float:
    """Return how much speaks for a memory: its confidence, once for each time it was said."""
    return memory.confidence * (1 + memory.reinforcement_count)


OUTCOMES: Mapping[Resolution | None, Outcome] = {
    Resolution.TEMPORAL_SUPERSEDE: Outcome(lambda memory, _: (memory.timestamp, memory.id), evolves=True),
    Resolution.NEWER_WINS: Outcome(lambda memory, _: (memory.timestamp, memory.id), evolves=True),
    Resolution.STRONGER_WINS: Outcome(gravity_now),
    Resolution.EVIDENCE_RESOLVED: Outcome(lambda memory, _: evidence(memory), decisive=True),
    Resolution.CONFIDENCE_DOMINANCE: Outcome(lambda memory, _: memory.confidence, decisive=True, closes=False),
    Resolution.USER_CLARIFIED: Outcome(evolves=True),
    Resolution.MANUAL: Outcome(),
}
"""What each resolution does; by `decayed` nobody wins, and the doubt fades."""


@dataclass(frozen=True)
class Settling:
    """Settlement of an uncertainty: the resolution and its winner.

    winner_id : the memory that holds; needed where a person decides, else found by the resolution. Of relationships
        also `a` or `b`
    made : memory that settling it creates: the episode of the clarification, or the student's correction
    """

    resolution: Resolution
    winner_id: str | None = None
    detail: str | None = None
    made: New | None = None


def least_severity(tolerance: float) -> Severity:
    """Return the severity from which on a doubt is raised; a tolerant companion raises less (spec 12).

    Examples
    --------
    >>> [least_severity(tolerance).value for tolerance in (0.3, 0.5, 0.7)]
    ['low', 'medium', 'high']
    """
    return SEVERITIES[0 if tolerance < 0.35 else 1 if tolerance <= 0.65 else 2]


def shifted_tolerance(tolerance: float, by: float) -> float:
    """Return a tolerance, moved within its bounds.

    Examples
    --------
    >>> shifted_tolerance(0.5, CORRECTED_BY), shifted_tolerance(0.8, REASSURED_BY)
    (0.47, 0.8)
    """
    return round(min(TOLERANCES[1], max(TOLERANCES[0], tolerance + by)), 4)


def woven(
    doubts: Iterable[Uncertainty],
    known: SearchIndex,
    question: Doc,
    vector: Vector,
    tolerance: float,
    hidden: frozenset[str] = frozenset(),
) -> tuple[Woven, ...]:
    """Return the doubts that a message touches and that may be raised, gravest first, at most two.

    Two episodes never interrupt: contradicting events are settled in the background. Nor are inferences, or statements
    and notes of others, put to the student as the student's own word.

    Parameters
    ----------
    doubts : not settled
    known : SearchIndex, the student's memories; only read
    question : the message
    vector : its embedding
    tolerance : of the companion, 0.2 to 0.8
    hidden : ids of memories that must not be brought up, such as secrets

    Source: spec 12 (surfacing).
    """
    least = SEVERITIES.index(least_severity(tolerance))
    found = []
    for doubt in doubts:
        sides = [] if doubt.is_about_relationships else sides_of(doubt, known)
        whole = len(sides) == (1 if doubt.b_id is None else 2)
        interrupts = any(memory.kind is not MemoryKind.EPISODE for memory in sides)
        open_to_student = all(memory.is_own_word and memory.id not in hidden for memory in sides)
        may = whole and interrupts and open_to_student and doubt.surfaced_count < MOST_RAISED
        if may and SEVERITIES.index(doubt.severity) >= least and touches(doubt, known, question, vector):
            a, b = (*map(words_of, sides), None)[:2]
            found.append(Woven(doubt, a or "", b, question_about(a or "", b, doubt.type)))
    found.sort(key=lambda each: (-SEVERITIES.index(each.doubt.severity), each.doubt.created_at, each.doubt.id))
    return tuple(found[:MOST_WOVEN])


def touches(doubt: Uncertainty, known: SearchIndex, text: Doc, vector: Vector) -> bool:
    """True if a text has to do with a doubt: a telling word in common, or near in meaning to one of its sides."""
    sides = sides_of(doubt, known)
    texts = [doubt.surface_context or "", *(memory.content or "" for memory in sides)]
    vectors = [own for own in (known.vector(memory.id) for memory in sides) if own is not None]
    asked = telling_stems(text)
    near = any(float(own @ vector) >= _TOUCHED for own in vectors)
    return near or any(not asked.isdisjoint(Doc(each).excerpt.stems) for each in texts)


def words_of(memory: Memory) -> str:
    """Return the words a memory comes from, where they are kept; else its content."""
    return memory.quote or memory.content or ""


def sides_of(doubt: Uncertainty, known: SearchIndex) -> list[Memory]:
    """Return the memories that a doubt is about, as far as they are known."""
    return [memory for memory in map(known.get, (doubt.a_id, doubt.b_id or "")) if memory is not None]


def question_about(a: str, b: str | None = None, kind: UncertaintyType = UncertaintyType.CONTRADICTION) -> str:
    """Return the question that would settle a doubt.

    Examples
    --------
    >>> question_about("I love liquorice.", "I hate liquorice.")
    'By the way, you told me “I love liquorice”, and another time “I hate liquorice”: what is so now?'
    >>> question_about("I live in Rome")
    'By the way, is it still so: “I live in Rome”?'
    >>> question_about("We were in it!", kind=UncertaintyType.AMBIGUOUS)
    'By the way, you said “We were in it!”: what was that about?'
    """
    if b is not None:
        return f"By the way, you told me {quoted(a)}, and another time {quoted(b)}: what is so now?"
    return _ASKING.get(kind, "By the way, is it still so: {}?").format(quoted(a))


def is_time_to_raise(doubts: Iterable[Uncertainty], said: Sequence[Message]) -> bool:
    """True unless a doubt was raised within the student's latest messages.

    Parameters
    ----------
    doubts : not settled
    said : messages of the talk before the new one, oldest first
    """
    own = [message for message in said if message.author is Author.STUDENT]
    raised = [doubt.last_surfaced_at for doubt in doubts if doubt.last_surfaced_at is not None]
    return not raised or sum(message.at > max(raised) for message in own) >= RAISED_EVERY


def may_answer(doubts: Iterable[Uncertainty], said: Sequence[Message]) -> bool:
    """Return whether the reply before a message raised a doubt."""
    last = next((m.at for m in reversed(said) if m.author is Author.STUDENT), None)
    return last is not None and any(doubt.last_surfaced_at == last for doubt in doubts)


def raised(doubt: Uncertainty, at: datetime) -> Uncertainty:
    """Return a doubt that was raised once more; the last time in vain makes it a step less severe (spec 12)."""
    count = doubt.surfaced_count + 1
    lower = SEVERITIES[max(0, SEVERITIES.index(doubt.severity) - 1)]
    return replace(
        doubt,
        state=UncertaintyState.SURFACED,
        surfaced_count=count,
        last_surfaced_at=at,
        severity=lower if count >= MOST_RAISED else doubt.severity,
    )


@dataclass(frozen=True)
class Testimony:
    """A message, as it may settle a doubt.

    again, ended : ids of the memories that it repeats, and of the memories that it supersedes
    valence : -1 to 1
    """

    doc: Doc
    at: datetime
    again: frozenset[str]
    ended: frozenset[str]
    valence: float


def answered(
    doubts: Iterable[Uncertainty], told: Testimony, known: SearchIndex
) -> tuple[tuple[Uncertainty, str | None], ...]:
    """Return the doubts that a message settles, each with its valid memory, None where a single one is outdated.

    One side holds where the other has ended, where it is said again after the doubt was raised, or where the student
    answers in few words and sounds like it: "I love it". A memory in doubt alone holds where it is stated again or the
    answer is a yes.

    Source: spec 12 (user_clarified).
    """
    found = list[tuple[Uncertainty, str | None]]()
    for doubt in doubts:
        a, b = known.get(doubt.a_id), known.get(doubt.b_id or "")
        if a is None or doubt.created_at >= told.at or doubt.is_about_relationships:
            continue
        if doubt.is_lone:
            holds = _lone_holds(doubt, a, told)
            found += [] if holds is None else [(doubt, a.id if holds else None)]
        elif b is not None and (winner := _one_left(a, b, told.ended) or _answered_side(doubt, a, b, told)) is not None:
            found.append((doubt, winner))
    return tuple(found)


def _lone_holds(doubt: Uncertainty, a: Memory, told: Testimony) -> bool | None:
    """Return whether a message confirms a memory that is in doubt alone; None where it does not decide."""
    if a.id in told.ended:
        return False
    if a.id in told.again:
        return True
    polarity = polarity_of(told.doc) if _is_answer(doubt, told) else 0
    return polarity > 0 if polarity else None


def _is_answer(doubt: Uncertainty, told: Testimony) -> bool:
    """Return whether a message comes soon after a doubt was raised."""
    since = None if doubt.last_surfaced_at is None else told.at - doubt.last_surfaced_at
    return since is not None and timedelta(0) < since <= _ANSWERED_WITHIN


def _one_left(a: Memory, b: Memory, ended: frozenset[str]) -> str | None:
    gone = {a.id, b.id} & ended
    return next(iter({a.id, b.id} - gone)) if len(gone) == 1 else None


def _answered_side(doubt: Uncertainty, a: Memory, b: Memory, told: Testimony) -> str | None:
    """Return the side that the answer to a doubt just raised speaks for."""
    if not _is_answer(doubt, told):
        return None
    again = {a.id, b.id} & told.again
    if len(again) == 1:
        return next(iter(again))
    brief = len(told.doc.stems) <= _FEW_STEMS and not told.doc.asks
    if not brief or a.valence * b.valence >= 0 or abs(told.valence) < _CLEAR_VALENCE:
        return None
    return a.id if a.valence * told.valence > 0 else b.id


def settled(
    record: Uncertainty, sides: Sequence[Memory], by: Settling, now: datetime, *, new: bool = False
) -> tuple[ChangeRow, ...]:
    """Return everything that settling an uncertainty writes.

    Parameters
    ----------
    record : Uncertainty, open or raised
    sides : its memories as they are; none where it is about relationships
    by : Settling
    now : datetime
    new : it is found and settled at once, by a drift cycle or a correction

    Raises
    ------
    InvalidInput    it is settled already, or the resolution does not fit: no winner, too little evidence, or an
        explicit memory would yield to an inferred one

    Source: spec 12.
    """
    if record.state in SETTLED_STATES:
        raise InvalidInput("This uncertainty is settled already: undo its resolution first.")
    done = replace(record, state=UncertaintyState.RESOLVED, resolution=by.resolution, resolved_at=now, detail=by.detail)
    if by.resolution is Resolution.DECAYED:
        return (Recorded(replace(done, state=UncertaintyState.DECAYED)),)
    if record.is_about_relationships:
        return _settled_edges(done, by, new=new)
    if len(sides) == 1:
        return _settled_alone(done, sides[0], by, now)
    winner, loser = _winner_and_loser(sides, by, now)
    outcome = OUTCOMES[by.resolution]
    until = winner.timestamp if outcome.evolves and winner.timestamp > loser.timestamp else now
    edge = NewEdge(winner.id, loser.id, EdgeType.CONTRADICTS, 1.0)
    if outcome.evolves:
        edge = NewEdge(loser.id, winner.id, EdgeType.TEMPORAL_EVOLUTION, 1.0)
    made = () if by.made is None else (by.made,)
    ids = tuple(each.memory.id for each in made)
    undo = Undo((Earlier.of(winner), Earlier.of(loser)), ((edge.from_id, edge.to_id, edge.type),), ids)
    return (
        *made,
        *(() if winner.id in ids else (Update(winner.id, _strengthened(winner, now)),)),
        *(closed([loser.id], until) if outcome.closes else renewed([loser.id], reliability=Reliability.UNCERTAIN)),
        edge,
        Recorded(done, undo, new),
    )


def closed(ids: Sequence[str], at: datetime) -> tuple[ChangeRow, ...]:
    """Return the rows by which memories hold no longer from a moment on."""
    return (*renewed(ids, reliability=Reliability.SUPERSEDED, invalid_at=at), *map(End, ids))


def undone(recorded: Recorded, now: datetime) -> tuple[ChangeRow, ...]:
    """Return everything that undoing a resolution writes: the record is open again, and all as it was before.

    Raises
    ------
    InvalidInput    the uncertainty is not settled

    Source: spec 12.
    """
    record, undo = recorded.uncertainty, recorded.undo
    if record.state not in SETTLED_STATES:
        raise InvalidInput("This uncertainty is open: there is nothing to undo.")
    return (
        *(Update(each.memory_id, each.values) for each in undo.memories),
        # The memory it created is kept, as a belief held for a while.
        *renewed(undo.made, reliability=Reliability.SUPERSEDED, invalid_at=now),
        *(ChangedEdge(*edge, gone=True) for edge in undo.edges),
        *(ChangedEdge(*edge) for edge in undo.settled_edges),
        Recorded(_reopened(record)),
    )


def uncertainty_as_of(doubt: Uncertainty, moment: datetime) -> Uncertainty:
    """Return a doubt as it stood at a moment: open, where it was settled later.

    Examples
    --------
    >>> from datetime import UTC
    >>> from graphmem.model import DetectionContext, Severity, UncertaintyType
    >>> may, june = datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)
    >>> stale, low, drift = UncertaintyType.STALE, Severity.LOW, DetectionContext.DRIFT
    >>> doubt = Uncertainty("uncertainty-1", stale, low, drift, False, "memory-1", None, may)
    >>> settled = replace(doubt, state=UncertaintyState.RESOLVED, resolved_at=june)
    >>> uncertainty_as_of(settled, may).state.value, uncertainty_as_of(settled, june).state.value
    ('open', 'resolved')
    """
    if doubt.resolved_at is None or doubt.resolved_at <= moment:
        return doubt
    return _reopened(doubt)


def _reopened(doubt: Uncertainty) -> Uncertainty:
    return replace(doubt, state=UncertaintyState.OPEN, resolution=None, resolved_at=None, detail=None)


def advice(memories: tuple[Memory, ...], open_doubts: tuple[Uncertainty, ...], confidence: float) -> ActionAdvice:
    """Return advice on an action that rests on some memories.

    Parameters
    ----------
    memories : that it rests on, opened
    open_doubts : uncertainties about them that are not settled
    confidence : 0..1, of whoever is to act

    Source: spec 12.
    """
    open_doubts = tuple(doubt for doubt in open_doubts if not doubt.is_about_relationships)
    doubted = {i for doubt in open_doubts for i in (doubt.a_id, doubt.b_id)}
    unreliable = [
        m for m in memories if m.reliability in (*IN_DOUBT, Reliability.SUPERSEDED) or m.id in doubted
    ]  # fmt: skip
    if not unreliable:
        return ActionAdvice(True, confidence, None, None, ())
    told = {m.id: (m.content or "").rstrip(".") for m in memories}
    pairs = [(told.get(d.a_id), told.get(d.b_id or "")) for d in open_doubts]
    both = next(((a, b) for a, b in pairs if a and b), None)
    first, kinds = unreliable[0], {doubt.a_id: doubt.type for doubt in open_doubts}
    alone = question_about(told[first.id], None, kinds.get(first.id, UncertaintyType.STALE))
    return ActionAdvice(
        proceed=False,
        confidence=confidence * _DOUBTED,
        warning=f"{len(unreliable)} of {len(memories)} memories it rests on cannot be relied on: clarify first.",
        question=question_about(*both) if both else alone,
        unreliable=tuple(m.id for m in unreliable),
    )


def is_explicit(memory: Memory) -> bool:
    """Return whether somebody said or noted it; beliefs and procedures are inferred."""
    return memory.role is MemoryRole.SAID


def _settled_alone(done: Uncertainty, a: Memory, by: Settling, now: datetime) -> tuple[ChangeRow, ...]:
    """Return what settling a doubt about one memory writes: it holds, or is over."""
    if by.winner_id not in (None, a.id):
        raise InvalidInput("winnerId must be the memory in doubt, or be left out.")
    over = by.resolution is Resolution.TEMPORAL_SUPERSEDE
    changed = closed([a.id], now) if over else (Update(a.id, _strengthened(a, now)),)
    return (Recorded(done, Undo((Earlier.of(a),))), *changed)


def _winner_and_loser(sides: Sequence[Memory], by: Settling, now: datetime) -> tuple[Memory, Memory]:
    """Return winner and loser of two memories."""
    (a, b), outcome = sides, OUTCOMES[by.resolution]
    if outcome.measure is None:
        if by.winner_id not in (a.id, b.id):
            raise InvalidInput("winnerId must be one of the two memories.")
        return (a, b) if by.winner_id == a.id else (b, a)
    (less, loser), (more, winner) = sorted(((outcome.measure(m, now), m) for m in (b, a)), key=itemgetter(0))
    if by.resolution is Resolution.CONFIDENCE_DOMINANCE and is_explicit(a) != is_explicit(b):
        winner, loser = (a, b) if is_explicit(a) else (b, a)
    elif outcome.decisive and more <= DOMINANCE * less:
        raise InvalidInput(f"Neither side has more than twice what speaks for the other: {by.resolution} needs it.")
    if by.winner_id not in (None, winner.id):
        raise InvalidInput(f"By {by.resolution} the other memory wins: leave winnerId out, or choose manual.")
    if is_explicit(loser) and not is_explicit(winner):
        raise InvalidInput("What was said does not yield to what was inferred: choose user_clarified or manual.")
    return winner, loser


def _strengthened(winner: Memory, now: datetime) -> dict[str, object]:
    return {
        "reliability": Reliability.RELIABLE,
        "invalid_at": None,
        "reinforcement_count": winner.reinforcement_count + 1,
        "last_reinforced_at": now,
        "strength": winner.strength + _REINFORCED * (1 - winner.strength),
    }


def settled_sides(changes: Changes) -> list[str]:
    """Return ids of winners and losers of what changes settle by themselves, whose edges `with_related` needs."""
    return [each.memory_id for recorded in _settled_by_plan(changes) for each in recorded.undo.memories[:2]]


def with_related(changes: Changes, edges: Mapping[str, Sequence[Edge]], known: SearchIndex) -> Changes:
    """Return the same, with neighbours of a winner strengthened and memories resting on a loser weakened.

    An abstraction of a loser is uncertain from now on. All of it is undone with the resolution.

    Parameters
    ----------
    changes : planned
    edges : of each of `settled_sides`, strongest first
    known : SearchIndex, only read

    Source: spec 12 (feedback of a resolution).
    """
    for recorded in _settled_by_plan(changes):
        winner, loser = (each.memory_id for each in recorded.undo.memories[:2])
        touched = {update.memory_id for update in changes.of(Update)}
        updates = {
            memory.id: (memory, _weaker(memory, edge))
            for memory, edge in _around(loser, edges, known, RESTING)
            if memory.id not in touched and edge.from_id == memory.id
        }
        for memory, edge in _around(winner, edges, known, SUPPORTING):
            if memory.id not in touched:
                updates.setdefault(memory.id, (memory, _stronger(memory, edge)))
        earlier = tuple(Earlier.of(memory) for memory, _ in updates.values())
        whole = replace(recorded, undo=replace(recorded.undo, memories=(*recorded.undo.memories, *earlier)))
        rows = (whole if row is recorded else row for row in changes.rows)
        changes = replace(changes, rows=(*rows, *(Update(i, values) for i, (_, values) in updates.items())))
    return changes


def _settled_by_plan(changes: Changes) -> list[Recorded]:
    return [
        each
        for each in changes.of(Recorded)
        if each.uncertainty.state is UncertaintyState.RESOLVED
        and OUTCOMES[each.uncertainty.resolution].closes
        and len(each.undo.memories) == 2
    ]


def _around(
    memory_id: str, edges: Mapping[str, Sequence[Edge]], known: SearchIndex, types: Sequence[EdgeType]
) -> list[tuple[Memory, Edge]]:
    found: dict[str, tuple[Memory, Edge]] = {}
    for edge in edges.get(memory_id, ()):
        other = known.get(edge.to_id if edge.from_id == memory_id else edge.from_id)
        if edge.type in types and other is not None and other.reliability is Reliability.RELIABLE:
            found.setdefault(other.id, (other, edge))
    return list(found.values())[:MOST_RELATED]


def _stronger(memory: Memory, edge: Edge) -> dict[str, object]:
    return {"strength": memory.strength + STRENGTHENED * edge.weight * (1 - memory.strength)}


def _weaker(memory: Memory, edge: Edge) -> dict[str, object]:
    values: dict[str, object] = {"confidence": memory.confidence * (1 - WEAKENED * edge.weight)}
    inferred = edge.type is EdgeType.ABSTRACTS and memory.role not in (MemoryRole.SAID, MemoryRole.LESSON)
    return values | ({"reliability": Reliability.UNCERTAIN} if inferred else {})


def opposed_relationships(
    pairs: Sequence[tuple[Edge, Edge]], policy: Resolution, now: datetime, doubts: Iterable[Uncertainty] = ()
) -> tuple[ChangeRow, ...]:
    """Return everything that a drift cycle writes about contradicting relationships.

    Parameters
    ----------
    pairs : of relationships, in any order, some perhaps twice
    policy : newer_wins, stronger_wins (by weight) or manual: then both wait
    now : datetime
    doubts : not settled; relationships in doubt already are left out

    Source: spec 12.
    """
    known, rows = {doubt.id for doubt in doubts}, list[ChangeRow]()
    for pair in pairs:
        older, newer = sorted(pair, key=lambda e: (e.created_at, e.from_id, e.to_id, e.type))
        record = _edge_doubt(older, newer, now)
        if record.id in known:
            continue
        known.add(record.id)
        if policy is Resolution.MANUAL:
            rows.append(Recorded(record, new=True))
            continue
        wins = policy is Resolution.NEWER_WINS or newer.weight >= older.weight
        rows += settled(record, (), Settling(policy, "b" if wins else "a"), now, new=True)
    return tuple(rows)


def _settled_edges(done: Uncertainty, by: Settling, *, new: bool) -> tuple[ChangeRow, ...]:
    """Return what settling a doubt about relationships writes; only a drift cycle may choose the stronger one."""
    if not new and by.resolution not in (Resolution.NEWER_WINS, Resolution.MANUAL, Resolution.USER_CLARIFIED):
        raise InvalidInput("Of relationships choose newer_wins, manual, user_clarified or decayed.")
    starts = {done.a_id: "a", done.b_id: "b"} if done.a_id != done.b_id else {}
    winner = by.winner_id if by.winner_id in ("a", "b") else starts.get(by.winner_id)
    if not new and by.resolution is Resolution.NEWER_WINS:
        winner = "b"
    if winner is None:
        raise InvalidInput("winnerId must be `a`, `b`, or the memory that one relationship starts from.")
    sides = (("a", done.a_id, done.a_edge), ("b", done.b_id, done.b_edge))
    edges = {side: (i, edge.to_id, edge.type) for side, i, edge in sides if i is not None and edge is not None}
    stands = {True: Reliability.RELIABLE, False: Reliability.SUPERSEDED}
    changed = (ChangedEdge(*edge, stands[side == winner]) for side, edge in edges.items())
    return (*changed, Recorded(done, Undo(settled_edges=tuple(edges.values())), new))


def _edge_doubt(older: Edge, newer: Edge, now: datetime) -> Uncertainty:
    keys = "\n".join(f"{e.from_id} {e.type} {e.to_id}" for e in (older, newer))
    return Uncertainty(
        id=f"uncertainty-edges-{hashlib.sha256(keys.encode()).hexdigest()[:24]}",
        type=UncertaintyType.CONTRADICTION,
        # A relationship counts as a concept.
        severity=severity_of(MemoryKind.CONCEPT, MemoryKind.CONCEPT),
        detection_context=DetectionContext.DRIFT,
        temporal_signal=False,
        a_id=older.from_id,
        b_id=newer.from_id,
        created_at=now,
        reasoning=f"{older.type} and {newer.type} between the same memories cannot both be so.",
        a_edge=RelationshipSide(older.type, older.to_id),
        b_edge=RelationshipSide(newer.type, newer.to_id),
    )


class Rival(NamedTuple):
    """A memory that a new statement is compared with, and the summary that it is a statement of by now, if any."""

    memory: Memory
    said: Claim
    summary: Memory | None


def claim_of(memory: Memory, vector: Vector) -> Claim:
    """Return a memory, of which the embedding is known, as statements are compared."""
    told = memory.content or "", words_of(memory), memory.timestamp, vector
    return Claim(*told, memory.kind, memory.aspect, memory.slot, memory.slot_key, memory.valence)


def compared(said: Claim, known: SearchIndex) -> list[Rival]:
    """Return what a statement is compared with: the nearest memories, in summaries too, and those of its slot."""
    slot = said.slot_key or ""
    memories = [*(memory for memory, _ in known.nearest(said.vector, NEAREST_COMPARED)), *known.of_slot(slot)]
    near = ((summary, each) for summary, each, _ in known.nearest_statements(said.vector, NEAREST_COMPARED))
    parts = (*near, *known.statements_of_slot(slot))
    found = {memory.id: (memory, known.vector(memory.id), None) for memory in memories}
    merged = {each.id: (as_memory(summary, each), each.vector, summary) for summary, each in parts}
    return [Rival(m, claim_of(m, v), summary) for m, v, summary in (found | merged).values() if v is not None]


def is_held(memory: Memory, speaker: str | None) -> bool:
    """Return whether a memory is a statement of somebody's that is still held true."""
    current = memory.invalid_at is None and memory.reliability is not Reliability.SUPERSEDED
    return current and memory.role in (MemoryRole.SAID, MemoryRole.BELIEF) and memory.speaker == speaker


def states_something(memory: Memory) -> bool:
    """True if a memory states something that holds as far as is known, and is no step of a lesson, plan or feeling."""
    held = is_held(memory, memory.speaker) and memory.reliability is Reliability.RELIABLE
    return held and memory.aspect is None


def contradicted(said: Claim, known: SearchIndex, doubts: Iterable[Uncertainty]) -> tuple[Memory, PairVerdict] | None:
    """Return the student's own word that a message contradicts, of the nearest that may; none that is in doubt.

    Parameters
    ----------
    said : the message
    known : SearchIndex; only read
    doubts : that are not settled

    Source: spec 12 (only memories that could replace each other are compared).
    """
    doubted = doubted_ids(doubts)
    own = (each for each in compared(said, known) if each.summary is None and each.memory.is_own_word)
    before = (each for each in own if each.said.at < said.at)
    able = (each for each in before if each.memory.id not in doubted and states_something(each.memory))
    clashing = (each for each in able if each.said.fills_slot_of(said) or may_clash(said, each.said))
    judged = ((each.memory, pair_verdict(said, each.said)) for each in islice(clashing, MOST_CANDIDATES))
    return next((each for each in judged if each[1].effect is Effect.CONTRADICTS), None)


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
        return changes.plus(Recorded(done, Undo((Earlier.of(old),), edges)))
    own, vector = changes.of(New), known.vector(old.id)
    if not own or vector is None or old.id in {each.memory.id for each in changes.of(Reinforced)}:
        return changes.plus(*settled(doubt, (old,), Settling(Resolution.DECAYED), at))
    other = max(own, key=lambda new: (float(new.vector @ vector), new.memory.id)).memory
    whole = replace(doubt, b_id=other.id, severity=severity_of(old.kind, other.kind))
    return changes.plus(
        *renewed(tuple(sorted((old.id, other.id))), reliability=Reliability.CONTRADICTED),
        NewEdge(other.id, old.id, EdgeType.CONTRADICTS, 1.0),
        Recorded(whole, new=True),
    )


RivalPair = tuple[Rival, Rival]
"""Two memories that could replace each other, the older one first."""


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
        days = max(0.0, (now - last_said(memory)) / timedelta(days=1))
        return 2.0 * (memory.domain is domain) + 1.0 / (1.0 + days) + min(memory.access_count, 10) / 10

    ordered = sorted(pool.values(), key=lambda memory: (-urgency(memory), memory.id))
    return ordered[: cycle_size(tolerance)]


def candidates(sample: Sequence[Memory], known: SearchIndex, doubts: Iterable[Uncertainty]) -> list[RivalPair]:
    """Return pairs worth comparing: of one slot, or near in meaning; nothing that is in doubt already."""
    doubted = {frozenset((doubt.a_id, doubt.b_id)) for doubt in doubts}
    found: dict[frozenset[str], tuple[float, RivalPair]] = {}
    vectors = ((memory, known.vector(memory.id)) for memory in sample)
    for own in (Rival(memory, claim_of(memory, vector), None) for memory, vector in vectors if vector is not None):
        for other in compared(own.said, known):
            key = frozenset((own.memory.id, other.memory.id))
            nearness = 1.0 if own.said.fills_slot_of(other.said) else own.said.cosine(other.said)
            able = other.summary is None and other.memory.speaker == own.memory.speaker
            if (
                len(key) > 1
                and key not in doubted
                and able
                and nearness >= SAME_MATTER
                and states_something(other.memory)
            ):
                older, newer = sorted((own, other), key=lambda each: (each.said.at, each.memory.id))
                found[key] = nearness, (older, newer)
    nearest = sorted(found.values(), key=lambda each: (-each[0], *(rival.memory.id for rival in each[1])))
    return [pair for _, pair in nearest[:MOST_PAIRS]]


def reconciled(pairs: Iterable[RivalPair], now: datetime, tolerance: float) -> tuple[ChangeRow, ...]:
    """Return everything that a cycle writes: outdated memories superseded, contradictions settled or in doubt.

    No memory is changed twice in one cycle.

    Parameters
    ----------
    pairs : the nearest first
    now : datetime
    tolerance : of the companion; a tolerant one settles more by itself
    """
    rows, touched = list[ChangeRow](), set[str]()
    for old, new in pairs:
        ids = {old.memory.id, new.memory.id}
        if touched.isdisjoint(ids):
            found = pair_verdict(new.said, old.said)
            written = _of_pair(old.memory, new.memory, found, now, tolerance)
            touched |= ids if written else set()
            rows += written
    return tuple(rows)


def _of_pair(old: Memory, new: Memory, found: PairVerdict, now: datetime, tolerance: float) -> tuple[ChangeRow, ...]:
    changed = found.effect in (Effect.ENDS, Effect.CORRECTS)
    # Said again after the newer one, it was not ended by that.
    again = old.last_reinforced_at is not None and old.last_reinforced_at > new.timestamp
    if (changed and again) or not (changed or found.effect is Effect.CONTRADICTS):
        return ()
    why = f"{found.reason} Compared later, by a chance of {found.chance:.2f}."
    record = contradiction(old, new.id, new.kind, DetectionContext.DRIFT, now, why, new.content)
    record = replace(record, temporal_signal=changed)
    resolution = Resolution.TEMPORAL_SUPERSEDE if changed else _unasked(old, new, tolerance)
    if resolution is None or (changed and is_explicit(old) and not is_explicit(new)):
        return (*renewed((old.id, new.id), reliability=Reliability.CONTRADICTED), Recorded(record, new=True))
    return settled(record, (old, new), Settling(resolution), now, new=True)


def _unasked(old: Memory, new: Memory, tolerance: float) -> Resolution | None:
    """Return the resolution that needs nobody's word; None where both sides are as sure."""
    if is_explicit(old) != is_explicit(new):
        return Resolution.CONFIDENCE_DOMINANCE
    more, less = sorted((evidence(old), evidence(new)), reverse=True)
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
    """Return ids of the memories that some doubts are about, not their relationships."""
    sides = ((doubt.a_id, doubt.b_id) for doubt in doubts if not doubt.is_about_relationships)
    return {i for pair in sides for i in pair if i is not None}


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
