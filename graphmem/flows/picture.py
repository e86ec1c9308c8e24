"""The contents of a picture: a student's most present memories, or the overlay on the world (spec 11, 18)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput, NotFound
from graphmem.flows.fog import fog_of, hidden_in
from graphmem.flows.memories import edges_by_memory, entities_by_memory, list_memories
from graphmem.flows.overlay import find_frontier, list_overlay
from graphmem.model import Concept, Edge, Known, Memory, NamedEntity, Session, Who, World
from graphmem.search.scoring import gravity_now
from graphmem.store.memories import Filter
from graphmem.store.overlays import find_versions
from graphmem.store.world import find_stored_concept, load_world
from graphmem.validation import PAGE_SIZE

MOST_PICTURED = 150
"""Most memories that a picture can show and still be read."""
NEWEST_PICTURED = 2_000
"""Newest memories among which the most present ones are sought."""


@dataclass(frozen=True)
class MemoryPicture:
    """Some memories of a student with the edges between them and what they speak of.

    memories : the most present first; content only where there is a session
    gravity : by memory id, now
    edges : between memories, and from memories to entities and known concepts, each once
    entities, concepts : by id, those that an edge leads to; an entity's name only where there is a session
    veiled : ids of memories and entities whose words name a concept that the student has not met
    total : memories that the student has, as far as they were looked at
    """

    at: datetime
    memories: tuple[Memory, ...]
    gravity: Mapping[str, float]
    edges: tuple[Edge, ...]
    entities: Mapping[str, NamedEntity]
    concepts: Mapping[str, Concept]
    veiled: frozenset[str]
    total: int
    readable: bool


@dataclass(frozen=True)
class OverlayPicture:
    """The world of an institution, and what one student knows of it.

    known : by concept id
    frontier : ids of the concepts that could come next
    discovered : ids of the edges that the student has found
    """

    at: datetime
    world: World
    known: Mapping[str, Known]
    frontier: frozenset[str]
    discovered: frozenset[str]


async def pictured_memories(gm: Graphmem, who: Who, most: int, session: Session | None = None) -> MemoryPicture:
    """Return the most present of a student's newest memories, with what connects them.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    most : 1 to 150 memories
    session : Session, with which words are read; without it there is structure only

    Raises
    ------
    InvalidInput    `most` will not do
    NotFound        there is no such student
    Locked          the session has ended

    Source: spec 14, 18.
    """
    if not 1 <= most <= MOST_PICTURED:
        raise InvalidInput(f"A picture shows 1 to {MOST_PICTURED} memories.")
    if await find_versions(gm.graph, who) is None:
        raise NotFound("There is no such student: `graphmem enrol` enrols one.")
    now, held = gm.clock(), await _newest_memories(gm, who, session)
    gravity = {each.id: gravity_now(each, now) for each in held}
    shown = sorted(held, key=lambda each: (-gravity[each.id], each.id))[:most]
    ids = [each.id for each in shown]
    around = await edges_by_memory(gm, who, ids)
    named = await entities_by_memory(gm, session or who, ids)
    entities = {each.id: each for found in named.values() for each in found}
    edges = [each for found in around.values() for each in found]
    concepts = await _known_concepts(gm, who, edges)
    there = {*ids, *entities, *concepts}
    same = _namesakes(entities.values())
    edges = [replace(each, to_id=same.get(each.to_id, each.to_id)) for each in edges]
    within = {(e.from_id, e.type, e.to_id): e for e in edges if {e.from_id, e.to_id} <= there}
    return MemoryPicture(
        at=now,
        memories=tuple(shown),
        gravity=gravity,
        edges=tuple(within.values()),
        entities=entities,
        concepts=concepts,
        veiled=await _veiled(gm, who, shown, list(entities.values())),
        total=len(held),
        readable=session is not None,
    )


async def pictured_overlay(gm: Graphmem, who: Who) -> OverlayPicture:
    """Return the world of a student's institution with what the student knows of it; numbers and names in the clear.

    Raises
    ------
    NotFound        there is no such student, or the institution has no world

    Source: spec 11.
    """
    if await find_versions(gm.graph, who) is None:
        raise NotFound("There is no such student: `graphmem enrol` enrols one.")
    world = await load_world(gm.graph, who.institution)
    if not world.concepts:
        raise NotFound("This institution has no world: `graphmem import-world` imports one.")
    known: dict[str, Known] = {}
    discovered: frozenset[str] = frozenset()
    after: str | None = None
    while True:
        page = await list_overlay(gm, who, PAGE_SIZE, after)
        known |= {each.concept.id: each for each in page.items}
        discovered = frozenset(page.edge_ids)
        if (after := page.next) is None:
            break
    frontier = await find_frontier(gm, who, PAGE_SIZE)
    return OverlayPicture(gm.clock(), world, known, frozenset(each.id for each in frontier), discovered)


async def _newest_memories(gm: Graphmem, who: Who, session: Session | None) -> list[Memory]:
    held, after = list[Memory](), None
    while len(held) < NEWEST_PICTURED:
        page = await list_memories(gm, who, Filter(), PAGE_SIZE, after, session)
        held += page.items
        if (after := page.next) is None:
            break
    return held


def _namesakes(entities: Iterable[NamedEntity]) -> dict[str, str]:
    """For each entity with a name the first one of that name: a place may be a topic as well."""
    first: dict[str, str] = {}
    return {each.id: first.setdefault(each.name.casefold(), each.id) for each in entities if each.name is not None}


async def _known_concepts(gm: Graphmem, who: Who, edges: Sequence[Edge]) -> dict[str, Concept]:
    """Return the concepts that some edges lead to; those that a student does not know have none."""
    ids = sorted({edge.to_id for edge in edges if edge.to_label == "Concept"})
    found = [await find_stored_concept(gm.graph, who.institution, each) for each in ids]
    return {each.id: each for each in found if each is not None}


async def _veiled(
    gm: Graphmem, who: Who, memories: Sequence[Memory], entities: Sequence[NamedEntity]
) -> frozenset[str]:
    texts = {each.id: each.content or "" for each in memories} | {each.id: each.name or "" for each in entities}
    hidden = await hidden_in(gm, await fog_of(gm, who), list(texts.values()))
    return frozenset(id for id, found in zip(texts, hidden, strict=True) if found)
