"""Memories are read a few students at a time, beside the event loop."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.flows.session_cache import open_memories, read_ahead
from graphmem.jobs.sessions import close_session
from graphmem.model import Session
from graphmem.store import memories, tampering
from graphmem.store.graph import Graph
from graphmem.store.memories import LoadedMemory
from tests.conftest import Enrol, Pupil, another_replica
from tests.support.remembering import lived

LIFE = ("I play the trumpet in the school orchestra.", "My hamster Bella sleeps in a shoe box under the stairs.")


@pytest.mark.parametrize("at_once", [1, 2])
async def test_a_few_students_are_read_at_once(
    gm: Graphmem, enrol: Enrol, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    ann, bob = await enrol("ann"), await enrol("bob")
    under_way, most = 0, 0
    read = memories.list_since

    async def counted(graph: Graph, session: Session, since: int) -> list[LoadedMemory]:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.05)
        found = await read(graph, session, since)
        under_way -= 1
        return found

    monkeypatch.setattr(memories, "list_since", counted)
    replica = another_replica(gm, loading=asyncio.Semaphore(at_once))
    await asyncio.gather(open_memories(replica, ann.session), open_memories(replica, bob.session))
    assert most == at_once


async def test_many_memories_are_opened_beside_the_event_loop(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    await lived(gm, ann, LIFE)
    threads: set[int] = set()
    opened = memories._held

    def noted(session: Session, row: Any, label: str, refs: Sequence[str]) -> LoadedMemory:
        threads.add(threading.get_ident())
        return opened(session, row, label, list(refs))

    monkeypatch.setattr(memories, "_held", noted)
    for least, beside in ((1, True), (tampering.MANY_ROWS, False)):
        monkeypatch.setattr(tampering, "MANY_ROWS", least)
        threads.clear()
        held = await open_memories(another_replica(gm), ann.session)
        assert len(held.index) >= len(LIFE)
        assert (threading.get_ident() not in threads) is beside


async def test_memories_are_read_ahead(gm: Graphmem, ann: Pupil) -> None:
    replica = another_replica(gm)
    read_ahead(replica, ann.session)
    assert replica.memories(ann.session) is None
    await asyncio.gather(*replica.background.tasks)
    assert replica.memories(ann.session) is not None


async def test_of_a_session_that_ends_meanwhile_nothing_is_read_ahead(gm: Graphmem, ann: Pupil) -> None:
    replica = another_replica(gm)
    await close_session(gm, ann.session)
    read_ahead(replica, ann.session)
    await asyncio.gather(*replica.background.tasks)
    assert replica.memories(ann.session) is None
