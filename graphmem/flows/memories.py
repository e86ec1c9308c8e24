"""Reading memories one by one, in pages and by their neighbourhood (spec 2, 18)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput, Locked, NotFound
from graphmem.flows.session_cache import open_memories
from graphmem.model import Edge, EdgeType, LedgerEntry, Memory, NamedEntity, Recalled, RecalledId, Session, Source, Who
from graphmem.store import memories, students
from graphmem.store.memories import Filter
from graphmem.store.rows import from_ms
from graphmem.validation import checked_as_of, checked_id

MOST_HOPS = 3
NEIGHBOURS = 200
"""Most memories of a neighbourhood."""


@dataclass(frozen=True)
class Page:
    """Some memories, how many there are in all, and where the next page begins, if there is one."""

    items: tuple[Memory, ...]
    total: int
    next: str | None


async def find_memory(gm: Graphmem, who: Who, memory_id: str, session: Session | None) -> Memory | None:
    """A memory; its content only with the student's running session.

    Raises
    ------
    Locked          the session has ended
    """
    checked_id("id", memory_id)
    await _check_running(gm, session)
    found = await memories.find(gm.graph, who, [memory_id], session)
    return found[0] if found else None


async def list_memories(
    gm: Graphmem, who: Who, wanted: Filter, first: int, after: str | None, session: Session | None
) -> Page:
    """A page of memories, newest first.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    wanted : Filter
    first : int, 1 to settings.page_size
    after : str, `next` of the page before
    session : Session, with which the contents are opened

    Raises
    ------
    InvalidInput    `first`, `after` or the filter will not do
    Locked          the session has ended
    """
    if not 1 <= first <= gm.settings.page_size:
        raise InvalidInput(f"first must lie between 1 and {gm.settings.page_size}.")
    _check_share("minGravity", wanted.min_gravity)
    checked_as_of(wanted.as_of)
    await _check_running(gm, session)
    cursor = None if after is None else _place(after)
    total, found = await memories.page(gm.graph, who, wanted, cursor, first + 1, gm.clock(), session)
    items = tuple(found[:first])
    return Page(items, total, _cursor(items[-1]) if len(found) > first else None)


async def find_around(
    gm: Graphmem, who: Who, memory_id: str, hops: int, min_weight: float, session: Session | None
) -> tuple[list[Memory], list[Edge]]:
    """A memory with its neighbourhood, nearest first, and the edges within it.

    Raises
    ------
    InvalidInput    more than three hops, or a weight outside 0..1
    NotFound        there is no such memory
    Locked          the session has ended
    """
    checked_id("memoryId", memory_id)
    if not 0 <= hops <= MOST_HOPS:
        raise InvalidInput(f"hops must lie between 0 and {MOST_HOPS}.")
    _check_share("minWeight", min_weight)
    await _check_running(gm, session)
    found = await memories.around(gm.graph, who, memory_id, hops, min_weight, NEIGHBOURS, session)
    if found is None:
        raise NotFound("This student has no such memory: list the memories for their ids.")
    return found


async def edges_by_memory(gm: Graphmem, who: Who, ids: Sequence[str]) -> dict[str, list[Edge]]:
    """The edges of many memories, read at once, strongest first; every id asked for is a key."""
    return await memories.list_edges(gm.graph, who, ids)


async def sources_by_memory(gm: Graphmem, who: Who, ids: Sequence[str]) -> dict[str, list[Source]]:
    """The sources of many memories, read at once, oldest first; every id asked for is a key."""
    return await memories.list_sources(gm.graph, who, ids)


async def entities_by_memory(gm: Graphmem, who: Who, ids: Sequence[str]) -> dict[str, list[NamedEntity]]:
    """The entities that many memories speak of, read at once; their names only where `who` is a Session."""
    return await memories.list_entities(gm.graph, who, ids, who if isinstance(who, Session) else None)


def chosen_edges(edges: Sequence[Edge], type_: EdgeType | None, min_weight: float) -> list[Edge]:
    """Those edges of one type, or of any where that is None, that weigh at least so much.

    Raises
    ------
    InvalidInput    the weight lies outside 0..1
    """
    _check_share("minWeight", min_weight)
    return [edge for edge in edges if edge.weight >= min_weight and type_ in (None, edge.type)]


async def recalled_again(gm: Graphmem, session: Session, recalled: Sequence[RecalledId]) -> list[Recalled]:
    """What was recalled for a turn, by its ids; what was forgotten since is left out."""
    index = (await open_memories(gm, session)).index
    return [
        Recalled(memory, each.weight, each.gravity, each.why)
        for each in recalled
        if (memory := index.get(each.memory_id)) is not None
    ]


async def surfaced_again(gm: Graphmem, session: Session, ids: Sequence[str]) -> list[LedgerEntry]:
    """The ledger entries that surfaced in a turn, by their ids."""
    kept = {each.entry.id: each.entry for each in (await open_memories(gm, session)).ledger}
    return [kept[i] for i in ids if i in kept]


async def _check_running(gm: Graphmem, session: Session | None) -> None:
    if session is None:
        return
    enrolled = await students.find(gm.graph, session, gm.clock())
    if enrolled is None or enrolled.student.session_id != session.session_id:
        raise Locked("This session has ended: open a new one.")


def _check_share(name: str, value: float) -> None:
    if math.isnan(value) or not 0.0 <= value <= 1.0:
        raise InvalidInput(f"{name} must lie between 0 and 1.")


def _cursor(memory: Memory) -> str:
    return f"{round(memory.timestamp.timestamp() * 1000)}:{memory.id}"


def _place(cursor: str) -> tuple[datetime, str]:
    at, _, memory_id = cursor.partition(":")
    try:
        return from_ms(int(at)), checked_id("after", memory_id)
    except (ValueError, OverflowError, OSError) as e:
        raise InvalidInput("after is not the `next` of a page.") from e
