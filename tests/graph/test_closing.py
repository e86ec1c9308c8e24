"""The end of a conversation: the close returns at once, what follows is done behind it and survives a dead process."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.errors import Locked
from graphmem.flows import students
from graphmem.flows.observation import observe
from graphmem.jobs import sessions
from graphmem.jobs.dispatch import run_jobs_of
from graphmem.jobs.sessions import CLOSE_SECONDS, close_session, closing_start
from graphmem.jobs.sweeper import sweep
from graphmem.model import Session
from graphmem.store.students import delete_session
from tests.conftest import PASSWORD, Pupil, another_replica, say
from tests.support.remembering import LIFE, asked, nodes, observations

LEFT = """MATCH (n {institution: $i, student_id: $s})
WHERE n:Turn OR n:OpenSession OR n.considered = false OR (n:Job AND n.state = 'waiting')
RETURN labels(n) AS labels, n.id AS id"""


def held_up(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """What must come before a closing session is worked on."""
    go_on, finished = asyncio.Event(), sessions.finish_closing

    async def waits(*args: Any) -> None:
        await go_on.wait()
        await finished(*args)

    monkeypatch.setattr(sessions, "finish_closing", waits)
    return go_on


async def test_the_close_returns_before_what_follows_is_done(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = another_replica(gm)
    for text in LIFE[:3]:
        await say(own, ann, text)
    go_on = held_up(monkeypatch)
    await close_session(own, ann.session)
    # The keys are still there, sealed, for background work alone.
    (kept,) = await nodes(gm, ann.who, "OpenSession")
    assert kept["closing"]
    assert kept["id"] != ann.session.session_id
    found = await students.find_student(gm, ann.who)
    assert found is not None
    assert found.session_ids == ()
    for each in (own, gm):
        with pytest.raises(Locked):
            await say(each, ann, "Am I still here?")
        with pytest.raises(Locked):
            await close_session(each, ann.session)
    go_on.set()
    await asyncio.gather(*own.background.tasks)
    assert await asked(gm, ann.who, LEFT) == []
    assert len(await nodes(gm, ann.who, "Source")) == 3
    assert own.memories(ann.who) is None


async def left_behind(gm: Graphmem, pupil: Pupil) -> Session:
    """Close a session as a process would that dies right after it; the closing session."""
    start = closing_start(gm, pupil.session, here=True)
    assert await delete_session(gm.graph, pupil.session, start, gm.clock())
    return start[0]


@pytest.mark.usefixtures("nobody_else")
async def test_what_a_dead_process_leaves_the_sweeper_of_another_finishes(
    gm: Graphmem, replica: Graphmem, ann: Pupil
) -> None:
    await say(gm, ann, LIFE[0])
    await left_behind(gm, ann)
    await sweep(replica)
    assert await asked(gm, ann.who, LEFT) != []
    later = gm.clock() + sessions.CLOSING_LEASE + timedelta(seconds=1)
    await sweep(another_replica(gm, clock=lambda: later))
    assert await asked(gm, ann.who, LEFT) == []
    assert await nodes(gm, ann.who, "Memory") != []


async def test_who_is_at_a_closing_session_holds_it_for_as_long_as_it_works(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = another_replica(gm)
    await say(own, ann, LIFE[0])
    monkeypatch.setattr(sessions, "CLOSING_LEASE", timedelta(seconds=0.3))
    go_on = held_up(monkeypatch)
    await close_session(own, ann.session)
    (kept,) = await nodes(gm, ann.who, "OpenSession")
    for _ in range(5):
        renewed = kept["worked_until"]
        async with asyncio.timeout(30):
            while kept["worked_until"] == renewed:
                await asyncio.sleep(0.05)
                (kept,) = await nodes(gm, ann.who, "OpenSession")
    go_on.set()
    await asyncio.gather(*own.background.tasks)
    assert await asked(gm, ann.who, LEFT) == []


@pytest.mark.usefixtures("nobody_else")
async def test_after_its_time_the_keys_go_and_jobs_wait(gm: Graphmem, ann: Pupil) -> None:
    await observe(gm, ann.who, observations(LIFE[:2]))
    await left_behind(gm, ann)
    later = gm.clock() + timedelta(seconds=CLOSE_SECONDS + 1)
    await sweep(another_replica(gm, clock=lambda: later))
    assert await nodes(gm, ann.who, "OpenSession") == []
    assert [job["state"] for job in await nodes(gm, ann.who, "Job")] == ["waiting", "waiting"]


async def test_a_worker_that_is_told_of_a_student_finishes_the_end(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, LIFE[0])
    start = closing_start(gm, ann.session, here=False)
    assert await delete_session(gm.graph, ann.session, start, gm.clock())
    await run_jobs_of(replica, ann.who)
    assert await asked(gm, ann.who, LEFT) == []


async def test_a_session_that_is_opened_meanwhile_is_a_new_conversation(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, LIFE[0], "t1")
    kept, since = await left_behind(gm, ann), gm.clock()
    token, session = await students.open_session(gm, ann.who, PASSWORD)
    again = replace(ann, token=token, session=session)
    assert (await say(gm, again, LIFE[1], "t2")).match is None
    await sessions.finish_closing(gm, kept, since)
    assert [node["id"] for node in await nodes(gm, ann.who, "Turn")] == ["t2"]
    assert [node["id"] for node in await nodes(gm, ann.who, "OpenSession")] == [session.session_id]
    # What the new conversation says is considered at its own end.
    states = {node["timestamp"] > since: node["considered"] for node in await nodes(gm, ann.who, "Memory")}
    assert states == {False: True, True: False}
    await close_session(gm, session, wait=True)
    assert await asked(gm, ann.who, LEFT) == []
