"""What settling a doubt means for the memories around its sides, as pure functions (spec 12: feedback)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from graphmem.flows.uncertainty_plan import CLOSING_RESOLUTIONS, earlier_of
from graphmem.model import Edge, EdgeType, Memory, MemoryRole, Reliability, UncertaintyState
from graphmem.search.index import SearchIndex
from graphmem.store.changes import Changes, Update, merged
from graphmem.store.uncertainties import Recorded

SUPPORTING = (EdgeType.SUPPORTS, EdgeType.REFINES, EdgeType.RELATES_TO, EdgeType.ABSTRACTS)
"""Relationships along which what is settled about one memory tells on another."""
RESTING = (EdgeType.SUPPORTS, EdgeType.REFINES, EdgeType.ABSTRACTS)
"""Those by which one memory rests on another, or speaks for it."""
STRENGTHENED, WEAKENED = 0.1, 0.2
"""Share of what is missing to 1, and of the confidence, by which a neighbour changes, times the edge's weight."""
MOST_RELATED = 10
"""Neighbours of one side that change, those of the strongest edges."""


def settled_sides(changes: Changes) -> list[str]:
    """Ids of winners and losers of what changes settle by themselves, whose edges `with_related` needs."""
    return [each.memory_id for recorded in _settled(changes) for each in recorded.undo.memories[:2]]


def with_related(changes: Changes, edges: Mapping[str, Sequence[Edge]], known: SearchIndex) -> Changes:
    """The same, with what lies around a winner strengthened, and what rests on a loser weakened.

    An abstraction of a loser is uncertain from now on. All of it is undone with the resolution.

    Parameters
    ----------
    changes : planned
    edges : of each of `settled_sides`, strongest first
    known : SearchIndex, only read

    Source: spec 12 (feedback of a resolution).
    """
    for recorded in _settled(changes):
        winner, loser = (each.memory_id for each in recorded.undo.memories[:2])
        touched = {update.memory_id for update in changes.updated}
        updates = {
            memory.id: (memory, _weaker(memory, edge))
            for memory, edge in _around(loser, edges, known, RESTING)
            if memory.id not in touched and edge.from_id == memory.id
        }
        for memory, edge in _around(winner, edges, known, SUPPORTING):
            if memory.id not in touched:
                updates.setdefault(memory.id, (memory, _stronger(memory, edge)))
        earlier = tuple(earlier_of(memory) for memory, _ in updates.values())
        whole = replace(recorded, undo=replace(recorded.undo, memories=(*recorded.undo.memories, *earlier)))
        swap = {id(recorded): whole}
        changes = replace(
            changes,
            updated=merged((*changes.updated, *(Update(i, values) for i, (_, values) in updates.items()))),
            doubts=tuple(swap.get(id(each), each) for each in changes.doubts),
            settled=tuple(swap.get(id(each), each) for each in changes.settled),
        )
    return changes


def _settled(changes: Changes) -> list[Recorded]:
    return [
        each
        for each in dict.fromkeys((*changes.doubts, *changes.settled))
        if each.uncertainty.state is UncertaintyState.RESOLVED
        and each.uncertainty.resolution in CLOSING_RESOLUTIONS
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
