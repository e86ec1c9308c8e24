"""Forgetting a memory on the real database: it and what it fed is nowhere any more (spec 14, 15)."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter

from graphmem.app import Graphmem
from graphmem.errors import Conflict, Locked, NotFound
from graphmem.flows.context import context, recall
from graphmem.flows.facts import list_facts
from graphmem.flows.forgetting import forget_memory
from graphmem.flows.ledger import delete_entry, list_entries
from graphmem.flows.observation import observe
from graphmem.flows.surprise import list_questions
from graphmem.flows.uncertainty import list_uncertainties
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import Level, Memory, MemoryRole
from tests.conftest import Enrol, Pupil, another_replica, say
from tests.support.client import Client
from tests.support.doubting import doubted
from tests.support.remembering import asked, lived, observations
from tests.support.surprising import surprises

SECRET = "I promise I will bring the marmalade to my sister Ottilie in Lisbon tomorrow."
OTHER = "My uncle Ferdinand builds tiny submarines out of matchboxes."


def told(found: Any) -> str:
    """Values with all their texts, as one text."""
    return TypeAdapter(Any).dump_json(found, serialize_as_any=True, fallback=str).decode()


async def everything(gm: Graphmem, pupil: Pupil) -> str:
    """All that reading shows of a student, as one text."""
    session = pupil.session
    found: list[Any] = [
        await recall(gm, session, "Who gets marmalade from Ottilie in Lisbon?", 50, None),
        await context(gm, session, "What about the marmalade for Ottilie?", 4000),
        await list_facts(gm, session, 50),
        await list_entries(gm, session),
        await list_questions(gm, session),
        await list_uncertainties(gm, pupil.who, session),
    ]
    return told(found)


async def the_memory(gm: Graphmem, pupil: Pupil, word: str) -> Memory:
    found = await recall(gm, pupil.session, word, 20, None)
    return next(r.memory for r in found if word in (r.memory.content or "") and r.memory.role is MemoryRole.SAID)


async def test_what_is_forgotten_is_nowhere(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, OTHER, "t1")
    # A surprise with all that follows it.
    await surprises(gm, ann, SECRET, Level.PARADIGM_SHIFT, turn_id="t2")
    await run_jobs(gm, ann.session)
    memory = await the_memory(gm, ann, "marmalade")
    await doubted(gm, ann.session, memory, None)
    assert "marmalade" in await everything(replica, ann)
    erased = await forget_memory(gm, ann.session, memory.id)
    assert erased.memories >= 2
    assert (erased.ledger, erased.uncertainties) == (1, 1)
    assert erased.edges >= 5
    for each in (gm, replica, another_replica(gm)):
        await run_jobs(each, ann.session)
        shown = await everything(each, ann)
        assert "marmalade" not in shown
        assert "Ottilie" not in shown
        assert "submarines" in told(await recall(each, ann.session, "submarines", 5, None))
    left = await asked(gm, ann.who, "MATCH (n {institution: $i, student_id: $s}) RETURN properties(n) AS n")
    assert memory.id not in str([row["n"] for row in left])
    with pytest.raises(NotFound):
        await forget_memory(gm, ann.session, memory.id)
    await close_session(gm, ann.session)
    with pytest.raises(Locked):
        await forget_memory(gm, ann.session, memory.id)


async def test_it_is_not_formed_again_and_the_rest_of_the_message_stays(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, f"{SECRET} {OTHER}", "t1")
    await run_jobs(gm, ann.session)
    memory = await the_memory(gm, ann, "marmalade")
    siblings = [r.memory for r in await recall(gm, ann.session, "submarines matchboxes", 5, None)]
    await forget_memory(gm, ann.session, memory.id)
    with pytest.raises(Conflict):
        await say(gm, ann, f"{SECRET} {OTHER}", "t1")
    await run_jobs(gm, ann.session)
    again = [r.memory for r in await recall(gm, ann.session, "submarines matchboxes", 5, None)]
    assert {m.id for m in again} == {m.id for m in siblings} - {memory.id}
    assert len(again) > 0


async def test_its_words_before_another_memory_go(gm: Graphmem, ann: Pupil) -> None:
    first, second = observations([SECRET, OTHER])
    await observe(gm, ann.who, [first, replace(second, before=SECRET)])
    await run_jobs(gm, ann.session)
    other = await the_memory(gm, ann, "submarines")
    assert "marmalade" in (other.before or "")
    await forget_memory(gm, ann.session, (await the_memory(gm, ann, "marmalade")).id)
    for each in (gm, another_replica(gm)):
        assert (await the_memory(each, ann, "submarines")).before in (None, "")


async def test_another_students_memory_of_the_same_id_stays(gm: Graphmem, enrol: Enrol) -> None:
    ann, bob = await enrol("ann"), await enrol("bob")
    for pupil in (ann, bob):
        await lived(gm, pupil, (SECRET,))
    memory, other = await the_memory(gm, ann, "marmalade"), await the_memory(gm, bob, "marmalade")
    assert memory.id == other.id
    await forget_memory(gm, ann.session, memory.id)
    assert (await the_memory(gm, bob, "marmalade")).id == other.id
    assert len(await list_entries(gm, bob.session)) == 1


async def test_over_graphql(gm: Graphmem, ann: Pupil, app_client: Client) -> None:
    await lived(gm, ann, (SECRET,))
    (entry,) = await list_entries(gm, ann.session)
    delete = 'mutation($id: ID!) { deleteLedgerEntry(studentId: "ann", id: $id) }'
    assert await app_client.call(delete, id=entry.id) is True
    assert await app_client.call(delete, id=entry.id) is False
    assert await list_entries(gm, ann.session) == []
    memory = await the_memory(gm, ann, "marmalade")
    assert memory.in_ledger is False
    forget = 'mutation($id: ID!) { forget(studentId: "ann", memoryId: $id) { memories ledger } }'
    assert (await app_client.call(forget, id=memory.id))["memories"] == 1


async def test_a_deleted_entry_is_gone_in_every_process(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    await lived(gm, ann, (SECRET,))
    assert (await context(replica, ann.session, "the marmalade?")).ledger
    (entry,) = await list_entries(gm, ann.session)
    await delete_entry(gm, ann.session, entry.id)
    for each in (gm, replica):
        assert (await context(each, ann.session, "the marmalade?")).ledger == ()
