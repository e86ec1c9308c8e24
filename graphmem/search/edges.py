"""The edges between a student's memories, held beside the search index, and their traversal (spec 10.4)."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

from graphmem.model import HeldEdge, Reliability

EDGE_BYTES = 500
"""Bytes of an edge, which is held at both its ends."""


@dataclass(frozen=True)
class Reached:
    """A memory found along edges: from which seed, the product of the weights, the types on the way."""

    id: str
    seed: str
    weight: float
    types: tuple[str, ...]


@dataclass(frozen=True)
class Reach:
    """How far edges are followed.

    limit : most memories that are reached
    factors : of an edge's weight, by its reliability
    """

    limit: int
    factors: Mapping[Reliability, float]


class EdgeTable:
    """The edges of one student that are strong enough to be followed; several threads may use it.

    Examples
    --------
    >>> table = EdgeTable()
    >>> table.replace({"a": [HeldEdge("b", "CAUSES", True, 0.8, Reliability.RELIABLE)]})
    >>> reach = Reach(5, {Reliability.RELIABLE: 1.0})
    >>> [(each.id, each.weight) for each in table.reached(["a"], ["a"], lambda memory_id: True, reach)]
    [('b', 0.8)]
    >>> len(table), len(table.of("b"))
    (1, 1)
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._of: dict[str, dict[tuple[str, str, bool], HeldEdge]] = {}
        self._halves = 0

    def __len__(self) -> int:
        return self._halves // 2

    @property
    def nbytes(self) -> int:
        """About the bytes it takes."""
        return EDGE_BYTES * len(self)

    def of(self, memory_id: str) -> list[HeldEdge]:
        """The edges of a memory."""
        with self._lock:
            return list(self._of.get(memory_id, {}).values())

    def replace(self, edges: Mapping[str, Iterable[HeldEdge]]) -> None:
        """Replace all edges of some memories, by the memory's id."""
        with self._lock:
            for memory_id in edges:
                for other, type_, outgoing in tuple(self._of.get(memory_id, ())):
                    self._drop(memory_id, (other, type_, outgoing))
                    self._drop(other, (memory_id, type_, not outgoing))
            for memory_id, own in edges.items():
                for each in own:
                    self._put(memory_id, each)
                    self._put(each.other_id, each._replace(other_id=memory_id, outgoing=not each.outgoing))

    def _put(self, memory_id: str, edge: HeldEdge) -> None:
        held = self._of.setdefault(memory_id, {})
        key = edge.other_id, edge.type, edge.outgoing
        self._halves += key not in held
        held[key] = edge

    def _drop(self, memory_id: str, key: tuple[str, str, bool]) -> None:
        held = self._of.get(memory_id, {})
        if held.pop(key, None) is not None:
            self._halves -= 1
        if not held:
            self._of.pop(memory_id, None)

    def reached(
        self, seeds: Sequence[str], found: Collection[str], leads_on: Callable[[str], bool], reach: Reach
    ) -> tuple[Reached, ...]:
        """The memories at most two edges away from some seeds, heaviest first, by the best way to each.

        Parameters
        ----------
        seeds : ids of memories
        found : ids that are not to be reached
        leads_on : true of a memory that others are reached through
        reach : Reach
        """
        best: dict[str, Reached] = {}
        with self._lock:
            for seed in seeds:
                for one in self._of.get(seed, {}).values():
                    near = one.weight * reach.factors[one.reliability]
                    _keep_better(best, Reached(one.other_id, seed, near, (one.type,)))
                    if not leads_on(one.other_id):
                        continue
                    for two in self._of[one.other_id].values():
                        if two.other_id != seed:
                            weight = near * two.weight * reach.factors[two.reliability]
                            _keep_better(best, Reached(two.other_id, seed, weight, (one.type, two.type)))
        others = [each for each in best.values() if each.id not in found]
        others.sort(key=lambda each: (-each.weight, each.id))
        return tuple(others[: reach.limit])


def _keep_better(best: dict[str, Reached], way: Reached) -> None:
    held = best.get(way.id)
    if held is None or way.weight > held.weight:
        best[way.id] = way
