"""The world that an institution's students share: import and look-up (spec 11)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput
from graphmem.flows.world_plan import WorldDraft, plan_import
from graphmem.model import Concept, Imported
from graphmem.store import world as store
from graphmem.validation import checked_id

T = TypeVar("T")

WRITTEN_AT_ONCE = 2_000
"""Concepts or edges that one transaction writes."""


@dataclass(frozen=True)
class ConceptPage:
    """Some concepts, how many there are, and where the next page begins."""

    items: tuple[Concept, ...]
    total: int
    next: str | None


async def import_world(
    gm: Graphmem,
    institution: str,
    draft: WorldDraft,
    *,
    replace: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Imported:
    """Add concepts and edges to an institution's world, or change those of the same ids.

    All of it is checked before anything is written. It is written in batches, each of which may run again: what is
    cut short is completed by the same import.

    Parameters
    ----------
    gm : Graphmem
    institution : str
    draft : WorldDraft
    replace : bool, True: concepts and edges that the draft lacks are removed, with what students knew of them
    progress : called after each batch with the numbers of changes written and of all

    Returns
    -------
    Imported, how many concepts and edges the draft had

    Raises
    ------
    InvalidInput    the draft will not do; names each fault and its place, and nothing is written

    Source: spec 11.
    """
    _, changes = plan_import(await store.load_world(gm.graph, institution), draft, replace=replace)
    total = sum(map(len, (changes.gone_edges, changes.gone_concepts, changes.concepts, changes.edges)))
    done = 0

    def written(batch: Sequence[object]) -> None:
        nonlocal done
        gm.worlds.drop(institution)
        done += len(batch)
        progress(done, total)

    for gone in _batches(changes.gone_edges):
        await store.delete_world_edges(gm.graph, institution, gone)
        written(gone)
    for ids in _batches(changes.gone_concepts):
        await store.delete_concepts(gm.graph, institution, ids)
        written(ids)
    for concepts in _batches(changes.concepts):
        await store.save_concepts(gm.graph, institution, concepts, gm.clock())
        written(concepts)
    for edges in _batches(changes.edges):
        await store.save_world_edges(gm.graph, institution, edges)
        written(edges)
    return Imported(len(draft.concepts), len(draft.edges))


async def find_concept(gm: Graphmem, institution: str, id: str) -> Concept | None:
    """Find a concept of an institution's world; None if there is none of this id."""
    return await store.find_stored_concept(gm.graph, institution, checked_id("id", id))


async def list_concepts(
    gm: Graphmem, institution: str, search: str | None, domain: str | None, first: int, after: str | None
) -> ConceptPage:
    """A page of an institution's concepts by id.

    Parameters
    ----------
    gm : Graphmem
    institution : str
    search : str, what name, alias or description holds, upper or lower case; None: all
    domain : str, only of this domain; None: of all
    first : int, 1 to settings.page_size
    after : str, `next` of the page before

    Raises
    ------
    InvalidInput    `first` or `after` will not do
    """
    if not 1 <= first <= gm.settings.page_size:
        raise InvalidInput(f"first must lie between 1 and {gm.settings.page_size}.")
    place = "" if after is None else checked_id("after", after)
    total, found = await store.list_concept_page(gm.graph, institution, search or "", domain, place, first + 1)
    items = tuple(found[:first])
    return ConceptPage(items, total, items[-1].id if len(found) > first else None)


def _batches(changes: Sequence[T]) -> Iterator[Sequence[T]]:
    return (changes[i : i + WRITTEN_AT_ONCE] for i in range(0, len(changes), WRITTEN_AT_ONCE))
