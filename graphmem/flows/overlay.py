"""The overlay: what a student knows of the institution's world, and what could come next (spec 11)."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput, NotFound
from graphmem.model import Concept, Known, Session, Who
from graphmem.store import overlays
from graphmem.validation import checked_id


@dataclass(frozen=True)
class OverlayPage:
    """Some known concepts, how many there are, all edges found, and where the next page begins."""

    items: tuple[Known, ...]
    total: int
    edge_ids: tuple[str, ...]
    next: str | None


async def reveal(gm: Graphmem, session: Session, ids: Sequence[str], edge_ids: Sequence[str] = ()) -> OverlayPage:
    """Put concepts, and edges between known ones, into a student's overlay; what is there stays as it is.

    Parameters
    ----------
    gm : Graphmem
    session : Session
    ids, edge_ids : at most settings.page_size each

    Raises
    ------
    InvalidInput    an id is not of the world, or an edge's ends are not known; unknown concepts change nothing
    NotFound        there is no such student

    Source: spec 11.
    """
    for name, given in (("conceptIds", ids), ("edgeIds", edge_ids)):
        if len(given) > gm.settings.page_size:
            raise InvalidInput(f"There are {len(given)} {name}: send at most {gm.settings.page_size} at once.")
        for each in given:
            checked_id(name, each)
    if unknown := await overlays.list_unknown_concepts(gm.graph, session.institution, ids):
        raise InvalidInput(f"There is no concept {unknown[0]!r}: import it first.")
    if not await overlays.reveal_concepts(gm.graph, session, ids, gm.clock()):
        raise NotFound("There is no such student.")
    found = await overlays.discover_edges(gm.graph, session, edge_ids, gm.clock()) if edge_ids else set()
    if missing := [each for each in edge_ids if each not in found]:
        raise InvalidInput(
            f"There is no edge {missing[0]!r} between concepts that the student knows: reveal them first."
        )
    return await list_overlay(gm, session, gm.settings.page_size, None)


async def list_overlay(gm: Graphmem, who: Who, first: int, after: str | None) -> OverlayPage:
    """A page of the concepts that a student knows, by id.

    Raises
    ------
    InvalidInput    `first` is not within 1 to settings.page_size, or `after` will not do
    """
    if not 1 <= first <= gm.settings.page_size:
        raise InvalidInput(f"first must lie between 1 and {gm.settings.page_size}.")
    place = "" if after is None else checked_id("after", after)
    total, found = await overlays.list_known(gm.graph, who, place, first + 1)
    items = tuple(found[:first])
    edge_ids = tuple(await overlays.list_discovered(gm.graph, who))
    return OverlayPage(items, total, edge_ids, items[-1].concept.id if len(found) > first else None)


async def find_frontier(gm: Graphmem, who: Who, limit: int) -> list[Concept]:
    """Find unknown concepts all of whose prerequisites are known; those with most prerequisites first.

    Raises
    ------
    InvalidInput    `limit` is not within 1 to settings.page_size
    """
    if not 1 <= limit <= gm.settings.page_size:
        raise InvalidInput(f"limit must lie between 1 and {gm.settings.page_size}.")
    return await overlays.list_frontier(gm.graph, who, limit)
