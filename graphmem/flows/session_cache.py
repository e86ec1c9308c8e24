"""Per-session cache: load, refresh incrementally, apply local writes; check that a session runs (spec 10, 14)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import timedelta

import numpy as np

from graphmem.app import Graphmem
from graphmem.cache import OpenMemories
from graphmem.errors import Conflict, GraphmemError, Locked, NotFound
from graphmem.flows.ending import with_stems
from graphmem.flows.uncertainty_plan import settled_sides, with_related
from graphmem.model import UNSETTLED, Fact, Matrix, Memory, Session, Standing, Vector, Who
from graphmem.search.index import SearchIndex
from graphmem.store import ledger, memories, students, uncertainties
from graphmem.store.changes import (
    Changes,
    Corrected,
    Deleted,
    Written,
    write,
)
from graphmem.store.jobs import Finished
from graphmem.store.memories import LoadedMemory, MemoriesState
from graphmem.text.doc import doc_of
from graphmem.text.profile import standing_parts

MIN_WEIGHT = 0.5
"""Weight an edge needs to be followed."""
USED_MARGIN = timedelta(minutes=15)
"""How far back uses of memories are read again: a turn counts them from its beginning, by the clock of its machine."""
PLANNED_AGAIN = 50
"""Times that changes are planned where memories change meanwhile; each time another worker has got on."""
ENDED = "This session has ended: open a new one."


async def open_memories(gm: Graphmem, session: Session, at_least: int = 0) -> OpenMemories:
    """Return the cached memories of a student in this process, read where missing or older than a version.

    Only changes since the last read are read again.

    Raises
    ------
    Locked          the session has ended
    Unavailable     Neo4j does not answer
    """
    async with gm.memory_lock(session):
        return await _held_or_read(gm, session, at_least)


async def _held_or_read(gm: Graphmem, session: Session, at_least: int) -> OpenMemories:
    held = gm.memories(session)
    if held is not None and gm.admits(session) and held.version >= at_least:
        return held
    if held is not None:
        return await _read_memories(gm, session, held)
    async with gm.loading:
        return await _read_memories(gm, session, held)


async def memories_now(gm: Graphmem, session: Session) -> tuple[OpenMemories, MemoriesState]:
    """Return a student's memories, their edges and standing, as the graph has them now, and how far it has come.

    Raises
    ------
    Locked          the session has ended
    Unavailable     Neo4j does not answer
    """
    state = await _state(gm, session)
    async with gm.memory_lock(session):
        held = await _held_or_read(gm, session, state.version)
        if held.turns < state.turns:
            used = await memories.list_used(gm.graph, session, held.used_until - USED_MARGIN)
            held.index.renew(used)
            held = replace(held, turns=state.turns, used_until=gm.clock())
            gm.cache.put(session, held)
    return held, state


async def note_used(gm: Graphmem, session: Session, seq: int, used: Sequence[Standing]) -> None:
    """Let the memories that this process holds stand as a turn has left them, where it has seen all turns before it."""
    async with gm.memory_lock(session):
        held = gm.memories(session)
        if held is not None and held.turns == seq - 1:
            held.index.renew(used)
            gm.cache.put(session, replace(held, turns=seq, used_until=gm.clock()))


def read_ahead(gm: Graphmem, session: Session) -> None:
    """Have a student's memories read while nobody waits for them yet: a first message finds them held."""

    async def read() -> None:
        # The next caller that needs them gets the error.
        with suppress(GraphmemError):
            await open_memories(gm, session)

    gm.background.keep(asyncio.create_task(read()))


async def _read_memories(gm: Graphmem, session: Session, held: OpenMemories | None) -> OpenMemories:
    since = held.version if held is not None else 0
    # The version is read first: changes written meanwhile are then read once more, never missed.
    state = await _state(gm, session)
    if held is None or state.removed > since:
        index = SearchIndex(gm.embedder.dimension)
        held, since = OpenMemories(0, index, turns=state.turns, used_until=gm.clock()), 0
        state = await _state(gm, session)
    found, (standings, edges), kept, doubts = await asyncio.gather(
        memories.list_since(gm.graph, session, since),
        memories.list_linked(gm.graph, session, since, MIN_WEIGHT),
        ledger.list_stored_entries(gm.graph, session, gm.clock()),
        uncertainties.find_uncertainties(gm.graph, session, session, states=UNSETTLED),
    )
    if kept is None:
        gm.dismiss(session)
        raise Locked(ENDED)
    await _index(gm, session, held, found)
    held.index.renew(standings)
    held.edges.replace(edges)
    held = replace(
        held,
        version=state.version,
        ledger=await _embedded_entries(gm, kept),
        name=state.name,
        doubts=tuple(doubts),
        tolerance=state.tolerance,
        time_zone=session.time_zone,
    )
    gm.admit(session)
    gm.cache.put(session, held)
    return held


async def _state(gm: Graphmem, session: Session) -> MemoriesState:
    state = await memories.state(gm.graph, session, gm.clock())
    if state is None:
        gm.dismiss(session)
        raise Locked(ENDED)
    return state


async def _embedded_entries(gm: Graphmem, kept: list[ledger.StoredEntry]) -> tuple[ledger.StoredEntry, ...]:
    """Return the ledger with an embedding of every entry, embedded anew where the model has changed."""
    missing = [each.entry.content or "" for each in kept if each.embedding is None]
    vectors = iter(await gm.embedder.embed(missing) if missing else ())
    return tuple(replace(each, embedding=next(vectors)) if each.embedding is None else each for each in kept)


async def _index(gm: Graphmem, session: Session, held: OpenMemories, found: list[LoadedMemory]) -> None:
    """Add memories to the index; embed them anew first where the embedding model has changed."""
    if not found:
        return
    missing = [loaded.memory for loaded in found if loaded.vector is None]
    embedded = await _embedded_memories(gm, missing) if missing else {}
    if embedded:
        await memories.set_vectors(gm.graph, session, list(embedded.values()))
    known = [embedded.get(each.memory.id, (each.memory, each.vector)) for each in found]
    matrix = np.stack([vector for _, vector in known if vector is not None])
    await asyncio.to_thread(_put, gm, held, [memory for memory, _ in known], matrix)


async def _embedded_memories(gm: Graphmem, missing: Sequence[Memory]) -> dict[str, tuple[Memory, Vector]]:
    """Return memories and the statements of summaries among them with embeddings, by the memory's id."""
    texts = [text for m in missing for text in (m.content or "", *(each.content for each in m.statements))]
    vectors = iter(await gm.embedder.embed(texts))
    found = {}
    for memory in missing:
        vector = next(vectors)
        statements = tuple(replace(each, vector=next(vectors)) for each in memory.statements)
        found[memory.id] = replace(memory, statements=statements), vector
    return found


def _put(gm: Graphmem, held: OpenMemories, found: list[Memory], matrix: Matrix) -> None:
    """Put memories into the index, and note which belong into the standing profile; off the event loop."""
    held.index.put_many(found, matrix)
    if not gm.is_shipped:
        return
    parts = standing_parts(found, matrix)
    for memory in found:
        held.parts.pop(memory.id, None)
    held.parts.update(parts)


def known_readings(gm: Graphmem, who: Who) -> dict[str, object]:
    """Return the encoder's analyses of messages in working memory, by text; of this process only."""
    held = gm.turn_state(who)
    return (
        {} if held is None else {doc_of(each).text: each.reading for each in held.messages if each.reading is not None}
    )


async def write_planned(
    gm: Graphmem,
    session: Session,
    planned: Callable[[OpenMemories], Awaitable[Changes | None]],
    finished: Finished | None = None,
    *,
    stems: bool = True,
) -> Changes | None:
    """Plan changes of a student's memories and write them; they are planned anew where memories changed meanwhile.

    Parameters
    ----------
    gm : Graphmem
    session : Session
    planned : makes the changes; None where nothing is to be written
    finished : the job that is done with them
    stems : what stems from the memories that they end, ends with them (`graphmem.flows.ending`)

    Returns
    -------
    Written; None where nothing was to be written, or where the job is another worker's by now

    Raises
    ------
    NotFound        there is no such student or memory
    Conflict        memories kept changing; nothing was written
    """
    for _ in range(PLANNED_AGAIN):
        held = await open_memories(gm, session)
        changes = await planned(held)
        if changes is None:
            return None
        changes = with_stems(changes, held.index) if stems else changes
        # A turn under way would find its data changed: it is let through first.
        async with gm.lock(session) if changes.touches_turns else nullcontext():
            written = await write(gm.graph, session, changes, gm.clock(), finished)
            if written is not None and written.current and changes.touches_turns:
                _apply_to_turn(gm, session, written, changes)
        if written is None:
            if finished is None:
                raise NotFound("There is no such student or memory.")
            return None
        if written.current:
            await _read_written(gm, session, changes, held.version + 1)
            return changes
        await open_memories(gm, session, held.version + 1)
    raise Conflict("Memories of this student keep changing: try again.")


def _apply_to_turn(gm: Graphmem, session: Session, written: Written, changes: Changes) -> None:
    """Add facts and questions to the turn state that this process holds, and take out facts that have ended."""
    held = gm.turn_state(session)
    if held is None or held.state.version != written.version - 1 or changes.of(Corrected):
        gm.drop(session)
        return
    first = written.facts - len(changes.of(Fact)) + 1
    new = [replace(fact, seq=first + place) for place, fact in enumerate(changes.of(Fact))]
    replaced = {*(fact.id for fact in new), *changes.ended}
    facts = (*reversed(new), *(fact for fact in held.facts if fact.id not in replaced))
    state = replace(
        held.state,
        version=written.version,
        questions=(*held.state.questions, *changes.questions),
        facts=max((held.state.facts, *(fact.seq for fact in new))),
    )
    gm.cache.put(session, replace(held, state=state, facts=facts[: gm.settings.facts_kept]))


async def with_feedback(gm: Graphmem, session: Session, changes: Changes, held: OpenMemories) -> Changes:
    """The same changes, with what settling doubts means for the memories around; nothing is read where none is."""
    sides = settled_sides(changes)
    return with_related(changes, await memories.list_edges(gm.graph, session, sides), held.index) if sides else changes


async def _read_written(gm: Graphmem, session: Session, changes: Changes, version: int) -> None:
    """Read the changes just written into this process's cached memories."""
    if changes.ends_facts:
        gm.drop(session)
    if changes.of(Deleted):
        gm.cache.drop_memories(session)
        return
    try:
        await open_memories(gm, session, version)
    except GraphmemError:
        # The changes are written: what cannot be brought up to date now is read anew when it is needed.
        gm.cache.drop_memories(session)


async def check_running(gm: Graphmem, session: Session) -> None:
    """Raise Locked unless a session is one of the student's running ones."""
    enrolled = await students.find_enrolled(gm.graph, session, gm.clock())
    if enrolled is None or session.session_id not in enrolled.student.session_ids:
        raise Locked(ENDED)
