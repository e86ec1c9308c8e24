"""Decisions about uncertainties, as pure functions: how grave one is, who wins, all that settling and undoing write.

What is explicit (said or noted by a person) never yields to what was inferred, but by the student's own word (spec 12).
"""

from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.errors import InvalidInput
from graphmem.flows.gravity import gravity_now
from graphmem.model import (
    ActionAdvice,
    EdgeType,
    Memory,
    MemoryKind,
    MemoryRole,
    Reliability,
    Resolution,
    Severity,
    Uncertainty,
    UncertaintyState,
)
from graphmem.store.changes import Changes, New, NewEdge, Update
from graphmem.store.uncertainties import Earlier, Recorded, Undo

DOMINANCE = 2.0
"""How much more confidence one side needs than the other to win by it."""
_DOUBTED = 0.6
"""Share of an action's confidence that is left where a memory it rests on is in doubt."""
_REINFORCED = 0.2
"""Share of what is missing to 1 that a winner's strength rises by."""
IN_DOUBT = (Reliability.UNCERTAIN, Reliability.CONTRADICTED)
SETTLED_STATES = (UncertaintyState.RESOLVED, UncertaintyState.DECAYED)
BY_HAND = (Resolution.USER_CLARIFIED, Resolution.MANUAL)
"""Resolutions that a person decides."""
_CLOSING = frozenset(Resolution) - {Resolution.CONFIDENCE_DOMINANCE, Resolution.DECAYED}
"""Resolutions after which the loser holds no longer; else it is uncertain, or both fade."""
EVOLVING = (Resolution.TEMPORAL_SUPERSEDE, Resolution.NEWER_WINS, Resolution.USER_CLARIFIED)
"""Resolutions by which one thing became another."""


def severity_of(a: MemoryKind, b: MemoryKind | None) -> Severity:
    """How much a doubt matters, by the kinds of what is in doubt; a relationship counts as a concept (spec 12).

    Examples
    --------
    >>> trait, concept, episode = MemoryKind.TRAIT, MemoryKind.CONCEPT, MemoryKind.EPISODE
    >>> [severity_of(*pair).value for pair in ((trait, trait), (concept, trait), (trait, episode), (episode, None))]
    ['critical', 'high', 'medium', 'low']
    """
    if b is None:
        return Severity.LOW
    low, high = sorted((_RANKS[a], _RANKS[b]))
    if low == _RANKS[MemoryKind.TRAIT]:
        return Severity.CRITICAL
    if high == _RANKS[MemoryKind.EPISODE]:
        return Severity.LOW
    return Severity.MEDIUM if low == _RANKS[MemoryKind.EPISODE] else Severity.HIGH


_RANKS = {MemoryKind.EPISODE: 0, MemoryKind.CONCEPT: 1, MemoryKind.TRAIT: 2}


@dataclass(frozen=True)
class Settling:
    """How an uncertainty is to be settled.

    winner_id : the memory that holds; needed where a person decides, else found by the resolution
    episode : of the clarification, to be remembered, where there is one
    """

    resolution: Resolution
    winner_id: str | None = None
    detail: str | None = None
    episode: New | None = None


def settled(record: Uncertainty, a: Memory, b: Memory | None, by: Settling, version: int, now: datetime) -> Changes:
    """Everything that settling an uncertainty writes.

    Parameters
    ----------
    record : Uncertainty, open or raised
    a, b : Memory, its sides as they are; b is None where one is in doubt alone
    by : Settling
    version : int, of the student's memories that this was decided on
    now : datetime

    Raises
    ------
    InvalidInput    it is settled already, or the resolution does not fit: no winner, too little evidence, or what is
        explicit would yield to what was inferred

    Source: spec 12.
    """
    if record.state in SETTLED_STATES:
        raise InvalidInput("This uncertainty is settled already: undo its resolution first.")
    done = replace(record, state=UncertaintyState.RESOLVED, resolution=by.resolution, resolved_at=now, detail=by.detail)
    if by.resolution is Resolution.DECAYED or b is None:
        return _alone(done, a, by, version)
    winner, loser = _sides(a, b, by, now)
    closes = by.resolution in _CLOSING
    until = winner.timestamp if by.resolution in EVOLVING and winner.timestamp > loser.timestamp else now
    edge = _edge(winner, loser, by.resolution)
    made = () if by.episode is None else (by.episode,)
    undo = Undo(
        (earlier_of(winner), earlier_of(loser)),
        ((edge.from_id, edge.to_id, edge.type),),
        tuple(new.memory.id for new in made),
    )
    lost = {"reliability": Reliability.SUPERSEDED, "invalid_at": until} if closes else {"reliability": IN_DOUBT[0]}
    return Changes(
        version,
        by.resolution.value,
        new=made,
        updated=(Update(winner.id, _won(winner, now)), Update(loser.id, lost)),
        edges=(edge,),
        ended=(loser.id,) if closes else (),
        settled=Recorded(done, undo),
    )


def undone(recorded: Recorded, version: int, now: datetime) -> Changes:
    """Everything that undoing a resolution writes: the record is open again, and all as it was before.

    Raises
    ------
    InvalidInput    the uncertainty is not settled

    Source: spec 12.
    """
    record, undo = recorded.uncertainty, recorded.undo
    if record.state not in SETTLED_STATES:
        raise InvalidInput("This uncertainty is open: there is nothing to undo.")
    back = [
        Update(
            each.memory_id,
            {
                "reliability": Reliability(each.reliability),
                "invalid_at": each.invalid_at,
                "reinforcement_count": each.reinforcement_count,
                "last_reinforced_at": each.last_reinforced_at,
                "strength": each.strength,
            },
        )
        for each in undo.memories
    ]
    # What was made of it is kept, as something that was believed for a while.
    gone = [Update(i, {"reliability": Reliability.SUPERSEDED, "invalid_at": now}) for i in undo.made]
    reopened = replace(record, state=UncertaintyState.OPEN, resolution=None, resolved_at=None, detail=None)
    return Changes(
        version,
        "undo",
        updated=(*back, *gone),
        removed=tuple(NewEdge(a, b, kind, 1.0) for a, b, kind in undo.edges),
        settled=Recorded(reopened),
    )


def advice(memories: tuple[Memory, ...], open_doubts: tuple[Uncertainty, ...], confidence: float) -> ActionAdvice:
    """Advice on an action that rests on some memories.

    Parameters
    ----------
    memories : what it rests on, opened
    open_doubts : uncertainties about them that are not settled
    confidence : 0..1, of whoever is to act

    Source: spec 12.
    """
    doubted = {i for doubt in open_doubts for i in (doubt.a_id, doubt.b_id)}
    unreliable = [
        m for m in memories if m.reliability in (*IN_DOUBT, Reliability.SUPERSEDED) or m.id in doubted
    ]  # fmt: skip
    if not unreliable:
        return ActionAdvice(True, confidence, None, None, ())
    told = {m.id: (m.content or "").rstrip(".") for m in memories}
    pairs = [(told.get(d.a_id), told.get(d.b_id or "")) for d in open_doubts]
    both = next(((a, b) for a, b in pairs if a and b), None)
    first = told[unreliable[0].id]
    return ActionAdvice(
        proceed=False,
        confidence=confidence * _DOUBTED,
        warning=f"{len(unreliable)} of {len(memories)} memories it rests on cannot be relied on: clarify first.",
        question=f"I have noted “{both[0]}”, and also “{both[1]}”: what is so now?"
        if both
        else f"Is it still so: “{first}”?",
        unreliable=tuple(m.id for m in unreliable),
    )


def earlier_of(memory: Memory) -> Earlier:
    """What is put back of a memory where a resolution is undone."""
    return Earlier(
        memory.id,
        memory.reliability.value,
        memory.invalid_at,
        memory.reinforcement_count,
        memory.last_reinforced_at,
        memory.strength,
    )


def is_explicit(memory: Memory) -> bool:
    """True if somebody said or noted it; beliefs and procedures are inferred."""
    return memory.role is MemoryRole.SAID


def evidence(memory: Memory) -> float:
    """How much speaks for a memory: its confidence, once for each time it was said."""
    return memory.confidence * (1 + memory.reinforcement_count)


def _alone(done: Uncertainty, a: Memory, by: Settling, version: int) -> Changes:
    """Where nobody wins: one memory alone, which holds or fades, or two that fade."""
    if by.resolution is Resolution.DECAYED:
        return Changes(version, by.resolution.value, settled=Recorded(replace(done, state=UncertaintyState.DECAYED)))
    if by.winner_id not in (None, a.id):
        raise InvalidInput("winnerId must be the memory in doubt, or be left out.")
    holds = Update(a.id, {"reliability": Reliability.RELIABLE})
    return Changes(version, by.resolution.value, updated=(holds,), settled=Recorded(done, Undo((earlier_of(a),))))


def _sides(a: Memory, b: Memory, by: Settling, now: datetime) -> tuple[Memory, Memory]:
    """Winner and loser."""
    if by.resolution in BY_HAND:
        if by.winner_id not in (a.id, b.id):
            raise InvalidInput("winnerId must be one of the two memories.")
        return (a, b) if by.winner_id == a.id else (b, a)
    winner, loser = (a, b) if _outweighs(a, b, by.resolution, now) else (b, a)
    if by.winner_id not in (None, winner.id):
        raise InvalidInput(f"By {by.resolution.value} the other memory wins: leave winnerId out, or choose manual.")
    if is_explicit(loser) and not is_explicit(winner):
        raise InvalidInput("What was said does not yield to what was inferred: choose user_clarified or manual.")
    return winner, loser


def _outweighs(a: Memory, b: Memory, resolution: Resolution, now: datetime) -> bool:
    """True if the first wins by a resolution, false if the second does."""
    if resolution in (Resolution.TEMPORAL_SUPERSEDE, Resolution.NEWER_WINS):
        return (a.timestamp, a.id) > (b.timestamp, b.id)
    if resolution is Resolution.STRONGER_WINS:
        return gravity_now(a, now) >= gravity_now(b, now)
    if resolution is Resolution.CONFIDENCE_DOMINANCE and is_explicit(a) != is_explicit(b):
        return is_explicit(a)
    measure = evidence if resolution is Resolution.EVIDENCE_RESOLVED else (lambda memory: memory.confidence)
    more, less = max(measure(a), measure(b)), min(measure(a), measure(b))
    if more <= DOMINANCE * less:
        raise InvalidInput(f"Neither side has more than twice what speaks for the other: {resolution.value} needs it.")
    return measure(a) == more


def _won(winner: Memory, now: datetime) -> dict[str, object]:
    return {
        "reliability": Reliability.RELIABLE,
        "invalid_at": None,
        "reinforcement_count": winner.reinforcement_count + 1,
        "last_reinforced_at": now,
        "strength": winner.strength + _REINFORCED * (1 - winner.strength),
    }


def _edge(winner: Memory, loser: Memory, resolution: Resolution) -> NewEdge:
    if resolution in EVOLVING:
        return NewEdge(loser.id, winner.id, EdgeType.TEMPORAL_EVOLUTION, 1.0)
    return NewEdge(winner.id, loser.id, EdgeType.CONTRADICTS, 1.0)
