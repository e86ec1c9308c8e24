"""Batched reads: what resolvers of one request ask for one by one is read in one statement."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from strawberry.dataloader import DataLoader

from graphmem.app import Graphmem
from graphmem.flows import students
from graphmem.flows.memories import edges_by_memory, entities_by_memory, sources_by_memory
from graphmem.flows.surprise import responses_by_episode
from graphmem.flows.uncertainty import uncertainties_by_memory
from graphmem.model import Edge, NamedEntity, Session, Source, SurpriseResponse, Uncertainty, Who

W = TypeVar("W", bound=Who)
V = TypeVar("V")


class Loaders:
    """One loader for each kind of read; keys are a student, or a student and the id of a memory.

    Nothing is cached: the operations of a WebSocket share their loaders.
    """

    def __init__(self, gm: Graphmem) -> None:
        self.sources: DataLoader[tuple[Who, str], list[Source]] = _by_student(gm, sources_by_memory, list)
        self.edges: DataLoader[tuple[Who, str], list[Edge]] = _by_student(gm, edges_by_memory, list)
        self.entities: DataLoader[tuple[Who, str], list[NamedEntity]] = _by_student(gm, entities_by_memory, list)
        self.uncertainties: DataLoader[tuple[Who, str], list[Uncertainty]] = _by_student(
            gm, uncertainties_by_memory, list
        )
        self.responses: DataLoader[tuple[Session, str], SurpriseResponse | None] = _by_student(
            gm, responses_by_episode, lambda: None
        )

        async def counts(asked: Sequence[Who]) -> list[tuple[int, int]]:
            found = {who: await students.count_contents(gm, who) for who in dict.fromkeys(asked)}
            return [found[who] for who in asked]

        self.counts: DataLoader[Who, tuple[int, int]] = DataLoader(load_fn=counts, cache=False)


def _by_student(
    gm: Graphmem,
    read: Callable[[Graphmem, W, list[str]], Coroutine[Any, Any, Any]],
    absent: Callable[[], V],
) -> DataLoader[tuple[W, str], V]:
    """A loader that reads what all memories of one student ask for in one statement."""

    async def load(keys: Sequence[tuple[W, str]]) -> list[V]:
        ids: dict[W, list[str]] = {}
        for who, memory_id in keys:
            ids.setdefault(who, []).append(memory_id)
        found = {who: await read(gm, who, list(dict.fromkeys(wanted))) for who, wanted in ids.items()}
        return [found[who].get(memory_id, absent()) for who, memory_id in keys]

    return DataLoader(load_fn=load, cache=False)
