"""Events of memories: each kind, from any process, for the running session only (spec 18)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.errors import Locked, RateLimited
from graphmem.flows import students
from graphmem.flows.compression import compress
from graphmem.flows.forgetting import forget_memory
from graphmem.flows.ledger import Draft, add_entry
from graphmem.flows.memories import MOST_STREAMS, memory_events
from graphmem.flows.uncertainty import correct_memory
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import LedgerCategory, Level, MemoryEvent, MemoryEventKind
from tests.conftest import Enrol, Pupil, another_replica, say
from tests.support.remembering import LIFE, held, lived, told
from tests.support.surprising import surprises


@pytest.fixture(autouse=True)
def _quick_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphmem.flows.memories.EVENTS_SECONDS", 0.05)


@asynccontextmanager
async def watched(gm: Graphmem, pupil: Pupil) -> AsyncIterator[list[MemoryEvent]]:
    """What another process is told of a student's memories."""
    quick = another_replica(gm)
    seen: list[MemoryEvent] = []

    async def watch() -> None:
        async with aclosing(memory_events(quick, pupil.session)) as events:
            async for event in events:
                seen.append(event)

    watching = asyncio.create_task(watch())
    await asyncio.sleep(0.5)
    try:
        yield seen
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def until(seen: list[MemoryEvent], kind: MemoryEventKind) -> MemoryEvent:
    async with asyncio.timeout(20):
        while True:
            for event in seen:
                if event.kind is kind:
                    return event
            await asyncio.sleep(0.05)


async def test_what_is_formed_said_again_and_forgotten(gm: Graphmem, ann: Pupil) -> None:
    async with watched(gm, ann) as seen:
        await told(gm, ann, "My favourite colour is teal.")
        await until(seen, MemoryEventKind.FORMED)
        (memory,) = await held(gm, ann.session)
        assert (MemoryEventKind.FORMED, memory.id) in [(each.kind, each.memory_id) for each in seen]
        await told(gm, ann, "My favourite colour is teal.")
        again = await until(seen, MemoryEventKind.REINFORCED)
        await forget_memory(gm, ann.session, again.memory_id)
        await until(seen, MemoryEventKind.FORGOTTEN)
        assert (MemoryEventKind.FORGOTTEN, again.memory_id) in [(each.kind, each.memory_id) for each in seen]


async def test_a_memory_that_is_corrected_is_superseded(gm: Graphmem, ann: Pupil) -> None:
    await lived(gm, ann, LIFE[:2])
    memory, *_ = await held(gm, ann.session)
    async with watched(gm, ann) as seen:
        await correct_memory(gm, ann.session, memory.id, "My sister moved to Porto.")
        assert (await until(seen, MemoryEventKind.SUPERSEDED)).memory_id == memory.id


async def test_a_shift_is_a_flashbulb_and_danger_a_concern(gm: Graphmem, ann: Pupil) -> None:
    async with watched(gm, ann) as seen:
        await surprises(gm, ann, "My parents are getting divorced and I move to Peru.", Level.PARADIGM_SHIFT)
        await run_jobs(gm, ann.session)
        await until(seen, MemoryEventKind.FLASHBULB)
        outcome = await say(gm, ann, "I don't want to live anymore.")
        assert outcome.concern is not None
        assert (await until(seen, MemoryEventKind.CONCERN)).memory_id == outcome.concern.id
    async with watched(gm, ann) as seen:
        kept = await add_entry(gm, ann.session, Draft(LedgerCategory.THREAT, "My uncle hits me."))
        assert kept.id in (await until(seen, MemoryEventKind.CONCERN)).memory_id


async def test_what_is_compressed(gm: Graphmem, ann: Pupil) -> None:
    await lived(gm, ann)
    await close_session(gm, ann.session, wait=True)
    again = await reopened(gm, ann)
    async with watched(gm, again) as seen:
        await compress(gm, again.session, to=2)
        event = await until(seen, MemoryEventKind.COMPRESSED)
        assert event.memory_id not in {memory.id for memory in await held(gm, again.session)}


async def reopened(gm: Graphmem, pupil: Pupil) -> Pupil:
    token, session = await students.open_session(gm, pupil.who, pupil.password)
    return replace(pupil, session=session, token=token)


async def test_it_is_told_of_one_student_and_ends_with_the_session(gm: Graphmem, ann: Pupil, enrol: Enrol) -> None:
    ben = await enrol("ben")
    quick = another_replica(gm)
    events = memory_events(quick, ann.session)
    first = asyncio.ensure_future(anext(events))
    await told(gm, ben, "My favourite colour is teal.")
    await asyncio.sleep(0.5)
    assert not first.done()
    await close_session(gm, ann.session, wait=True)
    with pytest.raises(Locked):
        await first
    with pytest.raises(Locked):
        await anext(memory_events(gm, ann.session))
    assert not quick.background.streams


async def test_nothing_is_told_while_nothing_happens_and_streams_are_limited(gm: Graphmem, ann: Pupil) -> None:
    quick = another_replica(gm)
    await told(gm, ann, "My favourite colour is teal.")
    streams: list[Any] = [memory_events(quick, ann.session) for _ in range(MOST_STREAMS)]
    waiting = [asyncio.ensure_future(anext(each)) for each in streams]
    await asyncio.sleep(0.5)
    assert not any(each.done() for each in waiting)
    with pytest.raises(RateLimited):
        await anext(memory_events(quick, ann.session))
    quick.background.stopping.set()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(each.exception(), StopAsyncIteration) for each in waiting)
    assert not quick.background.streams
    await run_jobs(gm, ann.session)
