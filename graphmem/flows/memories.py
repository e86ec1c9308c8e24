"""Reading memories one by one, in pages, by their neighbourhood, as they change, as a picture (spec 2, 7, 18)."""

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput, Locked, NotFound, RateLimited, Unavailable
from graphmem.flows.overlay import as_of, find_frontier, fog_of, hidden_in
from graphmem.flows.session_cache import ENDED, check_running, open_memories
from graphmem.model import (
    Concept,
    Edge,
    EdgeType,
    Known,
    LedgerEntry,
    Memory,
    MemoryEvent,
    MemoryEventKind,
    MemoryRole,
    NamedEntity,
    Recalled,
    RecalledId,
    Reliability,
    Session,
    Source,
    Who,
    World,
)
from graphmem.search.scoring import gravity_now
from graphmem.store import memories
from graphmem.store.memories import (
    Filter,
    MemoryStanding,
    find_marks,
    list_event_ids,
    list_memory_page,
    list_standings,
)
from graphmem.store.overlays import find_versions, list_discovered, list_known
from graphmem.store.world import find_stored_concept, load_world
from graphmem.text.contradiction import telling_stems
from graphmem.text.doc import Doc
from graphmem.text.normalize import said
from graphmem.validation import (
    PAGE_SIZE,
    checked_as_of,
    checked_count,
    checked_cursor,
    checked_id,
    checked_share,
    page_cursor,
)

MOST_HOPS = 3
NEIGHBOURHOOD_SIZE = 200
"""Most memories of a neighbourhood."""
EVENTS_SECONDS = 1.0
"""Seconds after which `memoryEvents` tells of a change at the latest, by whichever process."""
MOST_STREAMS = 16
"""Most streams of one student that a process serves at once."""
Happened = tuple[MemoryEventKind, str]
"""What happened, and the id of the memory or concern."""


MOST_PICTURED = 150
"""Most memories that a picture can show and still be read."""
NEWEST_PICTURED = 2_000
"""Newest memories among which the most present ones are sought."""


@dataclass(frozen=True)
class Page:
    """Some memories, and where the next page begins, if there is one."""

    items: tuple[Memory, ...]
    next: str | None


async def find_memory(gm: Graphmem, who: Who, memory_id: str, session: Session | None) -> Memory | None:
    """Return a memory; its content only with the student's running session.

    Raises
    ------
    Locked          the session has ended
    """
    checked_id("id", memory_id)
    if session is not None:
        await check_running(gm, session)
    found = await memories.find_by_ids(gm.graph, who, [memory_id], session)
    return found[0] if found else None


async def find_memories(gm: Graphmem, session: Session, ids: Sequence[str]) -> list[Memory]:
    """Return memories by their ids, opened; unknown ids are left out."""
    return await memories.find_by_ids(gm.graph, session, list(ids), session)


async def list_memories(
    gm: Graphmem, who: Who, wanted: Filter, first: int, after: str | None, session: Session | None
) -> Page:
    """Return a page of memories, newest first.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    wanted : Filter
    first : int, 1 to PAGE_SIZE
    after : str, `next` of the page before
    session : Session, with which the contents are opened

    Raises
    ------
    InvalidInput    `first`, `after` or the filter will not do
    Locked          the session has ended
    """
    checked_count("first", first, PAGE_SIZE)
    checked_share("minGravity", wanted.min_gravity)
    checked_as_of(wanted.as_of)
    if session is not None:
        await check_running(gm, session)
    cursor = None if after is None else checked_cursor(after)
    found = await memories.list_memory_page(gm.graph, who, wanted, gm.clock(), first + 1, cursor, session)
    items = tuple(found[:first])
    return Page(items, page_cursor(items[-1].timestamp, items[-1].id) if len(found) > first else None)


async def count_memories(gm: Graphmem, who: Who, wanted: Filter) -> int:
    """Count the memories that match a filter."""
    return await memories.count_of_student(gm.graph, who, wanted, gm.clock())


async def find_around(
    gm: Graphmem,
    who: Who,
    memory_id: str,
    hops: int,
    min_weight: float,
    session: Session | None,
    as_of: datetime | None = None,
) -> tuple[list[Memory], list[Edge]]:
    """A memory with its neighbourhood, nearest first, and the edges within it; what held and was known at `as_of`.

    Raises
    ------
    InvalidInput    more than three hops, or a weight outside 0..1
    NotFound        there is no such memory, or it did not hold then
    Locked          the session has ended
    """
    checked_id("memoryId", memory_id)
    checked_as_of(as_of)
    if not 0 <= hops <= MOST_HOPS:
        raise InvalidInput(f"hops must lie between 0 and {MOST_HOPS}.")
    checked_share("minWeight", min_weight)
    if session is not None:
        await check_running(gm, session)
    most = {"hops": hops, "min_weight": min_weight, "limit": NEIGHBOURHOOD_SIZE}
    centre = {"id": memory_id, "as_of": as_of, **most}
    found = await memories.list_around(gm.graph, who, centre, session)
    if found is None:
        raise NotFound("This student has no such memory: list the memories for their ids.")
    near, edges = found
    return near, edges


async def edges_by_memory(gm: Graphmem, who: Who, ids: Sequence[str]) -> dict[str, list[Edge]]:
    """Return the edges of many memories, read at once, strongest first; every id asked for is a key."""
    return await memories.list_edges(gm.graph, who, ids)


async def sources_by_memory(gm: Graphmem, who: Who, ids: Sequence[str]) -> dict[str, list[Source]]:
    """Return the sources of many memories, read at once, oldest first; every id asked for is a key."""
    return await memories.list_sources(gm.graph, who, ids)


async def entities_by_memory(gm: Graphmem, who: Who, ids: Sequence[str]) -> dict[str, list[NamedEntity]]:
    """Return the entities that many memories speak of, read at once; their names only where `who` is a Session."""
    return await memories.list_entities(gm.graph, who, ids, who if isinstance(who, Session) else None)


def chosen_edges(edges: Sequence[Edge], type_: EdgeType | None, min_weight: float) -> list[Edge]:
    """Return those edges of one type, or of any where that is None, that weigh at least so much.

    Raises
    ------
    InvalidInput    the weight lies outside 0..1
    """
    checked_share("minWeight", min_weight)
    return [edge for edge in edges if edge.weight >= min_weight and type_ in (None, edge.type)]


async def recalled_again(gm: Graphmem, session: Session, recalled: Sequence[RecalledId]) -> list[Recalled]:
    """Return memories recalled for a turn, by their ids; those forgotten since are left out."""
    index = (await open_memories(gm, session)).index
    return [
        Recalled(memory, each.weight, each.gravity, each.why)
        for each in recalled
        if (memory := index.get(each.memory_id)) is not None
    ]


async def surfaced_again(gm: Graphmem, session: Session, ids: Sequence[str]) -> list[LedgerEntry]:
    """Return the ledger entries that surfaced in a turn, by their ids."""
    kept = {each.entry.id: each.entry for each in (await open_memories(gm, session)).ledger}
    return [kept[i] for i in ids if i in kept]


async def memory_events(gm: Graphmem, session: Session) -> AsyncGenerator[MemoryEvent, None]:
    """Stream what happens to a student's memories from now on, at most `events_seconds` after it has happened.

    Ends without an error when this process ends.

    Raises
    ------
    Locked          the session has ended, or ends meanwhile
    RateLimited     too many streams of this student

    Source: spec 18.
    """
    with _counted_stream(gm, session):
        marks = await _marks(gm, session)
        standings = await list_standings(gm.graph, session, -1)
        concerns = set((await list_event_ids(gm.graph, session))[1])
        while not await gm.background.stops_within(EVENTS_SECONDS):
            memory_ids, concern_ids = set(standings), concerns
            try:
                if (now := await _marks(gm, session)) == marks:
                    continue
                newer = dict[str, MemoryStanding]()
                if now["written"] > marks["written"]:
                    newer = await list_standings(gm.graph, session, marks["written"])
                if now["removed"] > marks["removed"] or now["concerns"] != marks["concerns"]:
                    memory_ids, concern_ids = map(set, await list_event_ids(gm.graph, session))
            except Unavailable:
                # What happens meanwhile is seen as soon as Neo4j answers again.
                continue
            gone = sorted(standings.keys() - memory_ids)
            found = [(MemoryEventKind.CONCERN, each) for each in sorted(concern_ids - concerns)]
            found += happened(standings, newer, gone, compressed=now["compressions"] > marks["compressions"])
            standings = {i: each for i, each in (standings | newer).items() if i not in gone}
            marks, concerns = now, concern_ids
            for kind, memory_id in found:
                yield MemoryEvent(kind, memory_id, gm.clock())


@contextmanager
def _counted_stream(gm: Graphmem, session: Session) -> Iterator[None]:
    streams, who = gm.background.streams, (session.institution, session.student_id)
    if streams[who] >= MOST_STREAMS:
        raise RateLimited(f"At most {MOST_STREAMS} streams of a student run at once: end one of them first.")
    streams[who] += 1
    try:
        yield
    finally:
        streams[who] -= 1
        if not streams[who]:
            del streams[who]


async def _marks(gm: Graphmem, session: Session) -> dict[str, int]:
    marks = await find_marks(gm.graph, session, gm.clock())
    if marks is None:
        raise Locked(ENDED)
    return marks


def happened(
    before: Mapping[str, MemoryStanding], newer: Mapping[str, MemoryStanding], gone: Iterable[str], *, compressed: bool
) -> list[Happened]:
    """Return what happened to memories between two looks at them.

    Parameters
    ----------
    before : all memories at the first look, by id
    newer : memories written since, by id
    gone : ids of memories that were deleted
    compressed : a compression ran meanwhile, and deleted the memories in `gone`

    Examples
    --------
    >>> new = MemoryStanding(0, Reliability.RELIABLE, ended=False, flashbulb=False)
    >>> again = MemoryStanding(1, Reliability.RELIABLE, ended=False, flashbulb=True)
    >>> [kind.value for kind, _ in happened({}, {"memory-1-1": new}, [], compressed=False)]
    ['formed']
    >>> [kind.value for kind, _ in happened({"memory-1-1": new}, {"memory-1-1": again}, [], compressed=False)]
    ['reinforced', 'flashbulb']
    >>> happened({"memory-1-1": new}, {}, ["memory-1-1"], compressed=True)
    [(<MemoryEventKind.COMPRESSED: 'compressed'>, 'memory-1-1')]
    """
    found = [(kind, memory_id) for memory_id, now in newer.items() for kind in _kinds(before.get(memory_id), now)]
    end = MemoryEventKind.COMPRESSED if compressed else MemoryEventKind.FORGOTTEN
    return found + [(end, memory_id) for memory_id in gone]


def _kinds(was: MemoryStanding | None, now: MemoryStanding) -> Iterator[MemoryEventKind]:
    if was is None:
        yield MemoryEventKind.FORMED
    elif now.reinforcements > was.reinforcements:
        yield MemoryEventKind.REINFORCED
    if _is_superseded(now) and (was is None or not _is_superseded(was)):
        yield MemoryEventKind.SUPERSEDED
    elif _is_doubted(now) and (was is None or was.reliability is not now.reliability):
        yield MemoryEventKind.DOUBTED
    if now.flashbulb and (was is None or not was.flashbulb):
        yield MemoryEventKind.FLASHBULB


def _is_superseded(standing: MemoryStanding) -> bool:
    return standing.ended or standing.reliability is Reliability.SUPERSEDED


def _is_doubted(standing: MemoryStanding) -> bool:
    return standing.reliability in (Reliability.UNCERTAIN, Reliability.CONTRADICTED)


@dataclass(frozen=True)
class Junk:
    """Numbers of statements that are junk, by kind; one counts once, in the first kind that fits.

    copies : has the words of an older statement of the same speaker that still holds
    echoes : repeats what the companion had said just before it
    empty : has no word rare enough to tell anything
    """

    statements: int
    copies: int
    echoes: int
    empty: int

    @property
    def rate(self) -> float:
        """Share of statements that are junk, 0..1."""
        return (self.copies + self.echoes + self.empty) / max(1, self.statements)


def count_junk(memories: Iterable[Memory]) -> Junk:
    """Count the junk among memories of one student, oldest first; episodes and lessons are not counted."""
    known, counts = set[tuple[str | None, str]](), {"copies": 0, "echoes": 0, "empty": 0}
    statements = [memory for memory in memories if memory.role is MemoryRole.SAID]
    for memory in statements:
        words = said(memory.content or "")
        if (memory.speaker, words) in known:
            counts["copies"] += 1
        elif memory.before and words == said(memory.before):
            counts["echoes"] += 1
        elif not telling_stems(Doc(memory.content or "")):
            counts["empty"] += 1
        if memory.invalid_at is None:
            known.add((memory.speaker, words))
    return Junk(len(statements), **counts)


async def find_junk(gm: Graphmem, session: Session) -> Junk:
    """Count the junk among all memories of a student.

    Raises
    ------
    Locked          the session has ended
    """
    index = (await open_memories(gm, session)).index
    return count_junk(sorted(index.latest(len(index)), key=lambda memory: (memory.timestamp, memory.id)))


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
