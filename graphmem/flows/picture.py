"""The contents of a picture: a student's most present memories, or the overlay on the world (spec 11, 18)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput, NotFound
from graphmem.flows.memories import edges_by_memory, entities_by_memory
from graphmem.flows.overlay import as_of, find_frontier, fog_of, hidden_in
from graphmem.flows.session_cache import check_running
from graphmem.model import Concept, Edge, Known, Memory, NamedEntity, Session, Who, World
from graphmem.search.scoring import gravity_now
from graphmem.store.memories import Filter, list_memory_page
from graphmem.store.overlays import find_versions, list_discovered, list_known
from graphmem.store.world import find_stored_concept, load_world
from graphmem.validation import PAGE_SIZE

MOST_PICTURED = 150
"""Most memories that a picture can show and still be read."""
NEWEST_PICTURED = 2_000
"""Newest memories among which the most present ones are sought."""


@dataclass(frozen=True)
class MemoryPicture:
    """Some memories of a student with the edges between them, their entities and their concepts.

    memories : the most present first; content only where there is a session
    gravity : by memory id, now
    edges : between memories, and from memories to entities and known concepts, each once
    entities, concepts : by id, the ends of these edges; an entity's name only where there is a session
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
    """The world of an institution, and one student's overlay.

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
    if session is not None:
        await check_running(gm, session)
    now = gm.clock()
    held = await list_memory_page(gm.graph, who, Filter(), now, NEWEST_PICTURED, None, session)
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
    """Return the world of a student's institution with the student's overlay; numbers and names in the clear.

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
    _, known = await list_known(gm.graph, who, "", len(world.concepts))
    discovered = await list_discovered(gm.graph, who)
    frontier = await find_frontier(gm, who, PAGE_SIZE)
    now = gm.clock()
    return OverlayPicture(
        at=now,
        world=world,
        known={each.concept.id: as_of(each, now) for each in known},
        frontier=frozenset(each.id for each in frontier),
        discovered=frozenset(discovered),
    )


def _namesakes(entities: Iterable[NamedEntity]) -> dict[str, str]:
    """For each entity with a name the first one of that name: a place may be a topic as well."""
    first: dict[str, str] = {}
    return {each.id: first.setdefault(each.name.casefold(), each.id) for each in entities if each.name is not None}


async def _known_concepts(gm: Graphmem, who: Who, edges: Sequence[Edge]) -> dict[str, Concept]:
    """Return the concepts that some edges lead to; concepts unknown to the student are missing."""
    ids = sorted({edge.to_id for edge in edges if edge.to_label == "Concept"})
    found = [await find_stored_concept(gm.graph, who.institution, each) for each in ids]
    return {each.id: each for each in found if each is not None}


async def _veiled(
    gm: Graphmem, who: Who, memories: Sequence[Memory], entities: Sequence[NamedEntity]
) -> frozenset[str]:
    texts = {each.id: each.content or "" for each in memories} | {each.id: each.name or "" for each in entities}
    hidden = await hidden_in(gm, await fog_of(gm, who), list(texts.values()))
    return frozenset(id for id, found in zip(texts, hidden, strict=True) if found)
