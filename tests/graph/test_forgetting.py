"""Forgetting a memory on the real database: it and what it fed is nowhere any more (spec 14, 15)."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter

from graphmem.app import Graphmem
from graphmem.errors import Conflict, Locked, NotFound
from graphmem.flows.context import context, recall
from graphmem.flows.facts import list_facts
from graphmem.flows.forgetting import delete_fact, delete_observation, forget_memory
from graphmem.flows.ledger import Draft, add_entry, delete_entry, list_entries
from graphmem.flows.observation import observe
from graphmem.flows.surprise import list_questions
from graphmem.flows.uncertainty import list_uncertainties
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import Fact, LedgerCategory, Level, Memory, MemoryRole, SourceKind
from graphmem.store import turns
from graphmem.store.changes import Changes, New, Origin, Span, write
from graphmem.store.nodes import NodeSealer, stored
from tests.conftest import BOTH_FORMS, Enrol, Pupil, another_replica, say
from tests.support.client import Client
from tests.support.doubting import doubted
from tests.support.remembering import asked, changed, held, lived, observations
from tests.support.surprising import asking, surprises

pytestmark = BOTH_FORMS

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
    await run_jobs(asking(gm), ann.session)
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
    await close_session(gm, ann.session, wait=True)
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
    # An episode whose title names what was forgotten goes with it.
    stay = {m.id for m in siblings if m.role is MemoryRole.SAID} - {memory.id}
    assert {m.id for m in again} == stay != set()


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
    # A promise for tomorrow would be over.
    await lived(gm, ann, (SECRET.replace(" tomorrow", ""),))
    assert (await context(replica, ann.session, "the marmalade?")).ledger
    (entry,) = await list_entries(gm, ann.session)
    await delete_entry(gm, ann.session, entry.id)
    for each in (gm, replica):
        assert (await context(each, ann.session, "the marmalade?")).ledger == ()


async def test_replies_that_repeat_it_go_from_the_running_talk(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, SECRET, "t1")
    await say(gm, ann, "Is nine times seven sixty three?", "t2", reply="Yes, 63. Will Ottilie like the marmalade?")
    await say(gm, ann, "What is half of it?", "t3", reply="31.5, as half of 63.")
    await run_jobs(gm, ann.session)
    await say(gm, ann, "And a third of it?", "t4", reply="21.")
    memory = await the_memory(gm, ann, "marmalade")
    await forget_memory(gm, ann.session, memory.id)
    for each in (gm, another_replica(gm)):
        shown = told(await turns.list_turns(each.graph, ann.session))
        assert "marmalade" not in shown
        assert "31.5" in shown
        await run_jobs(each, ann.session)
        assert "marmalade" not in await everything(each, ann)
    # A job that had the reply before it has not any more.
    rows = await asked(
        gm, ann.who, "MATCH (j:Job {institution: $i, student_id: $s}) RETURN j.payload AS p, j.state AS s"
    )
    assert {row["s"] for row in rows} == {"done"}


async def test_facts_of_the_same_message_that_say_something_else_stay(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, f"{SECRET} {OTHER}", "t1")
    await run_jobs(gm, ann.session)
    facts = ("Ann brings marmalade to people she likes.", "Ann admires what Ferdinand builds.", "Ann keeps promises.")
    await taught(gm, ann, "t1", facts)
    await forget_memory(gm, ann.session, (await the_memory(gm, ann, "marmalade")).id)
    left = await list_facts(gm, ann.session, 50)
    assert {fact.text for fact in left} >= set(facts[1:])
    assert "marmalade" not in told(left)
    (fact, *_) = left
    assert await delete_fact(gm, ann.session, fact.id) is True
    assert await delete_fact(gm, ann.session, fact.id) is False
    for each in (gm, another_replica(gm)):
        assert fact.id not in {kept.id for kept in await list_facts(each, ann.session, 50)}


async def taught(gm: Graphmem, pupil: Pupil, turn_id: str, texts: tuple[str, ...]) -> None:
    """Facts that come from a turn."""
    for i, text in enumerate(texts):
        fact = stored(pupil.session, "Fact", Fact(f"fact-{i}", 90 + i, text, ("people",), gm.clock()))
        query = """MATCH (s:Source {institution: $i, student_id: $s, kind: 'chat', ref: $turn})
                   CREATE (f:Fact {institution: $i, student_id: $s})-[:FORMED_FROM]->(s) SET f += $fact"""
        await changed(gm, pupil.who, query, turn=turn_id, fact=fact)
    gm.lock_up(pupil.who)


async def test_of_a_summary_only_the_sentences_that_tell_it_go(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, f"{SECRET} {OTHER}", "t1")
    await run_jobs(gm, ann.session)
    memory, other = await the_memory(gm, ann, "marmalade"), await the_memory(gm, ann, "submarines")
    session, content = ann.session, "Ferdinand builds submarines of matchboxes. Ann hides marmalade from him."
    whole, alone = (
        replace(other, id=f"summary-{i}", content=text, quote=None, role=MemoryRole.SUMMARY, content_hash=i)
        for i, text in (("1", content), ("2", "The marmalade is for Ottilie in Lisbon."))
    )
    for summary in (whole, alone):
        (vector,) = await gm.embedder.embed([summary.content or ""])
        new = New(summary, vector, Span(0, 5), Origin(SourceKind.CHAT, "t1"))
        await write(gm.graph, session, Changes(None, "a test", (new,)), gm.clock())
    gm.lock_up(ann.who)
    await forget_memory(gm, session, memory.id)
    for each in (gm, another_replica(gm)):
        assert "marmalade" not in await everything(each, ann)
        shown = told(await held(each, session))
        assert "marmalade" not in shown
        assert "Ferdinand builds submarines of matchboxes." in shown
    assert {m.id for m in await held(gm, session) if m.role is MemoryRole.SUMMARY} == {"summary-1"}


async def test_questions_doubts_and_the_ledger_that_tell_it_go_wherever_they_come_from(
    gm: Graphmem, ann: Pupil
) -> None:
    await lived(gm, ann, (SECRET, OTHER))
    memory, other = await the_memory(gm, ann, "marmalade"), await the_memory(gm, ann, "submarines")
    await doubted(gm, ann.session, memory, other)
    await add_entry(gm, ann.session, Draft(LedgerCategory.OBSERVATION, "Ann takes marmalade along to Lisbon."))
    await add_entry(gm, ann.session, Draft(LedgerCategory.OBSERVATION, "Ann likes working with paper."))
    asked_of = NodeSealer(ann.session.keys, ann.session, "Question", "q1").seal(
        "text", "How did Ottilie like the marmalade?"
    )
    query = """MATCH (m:Memory {institution: $i, student_id: $s, id: $m})
               CREATE (m)-[:RAISES]->(:Question {institution: $i, student_id: $s, id: 'q1', state: 'waiting',
                                                 created_at: datetime(), text: $text})"""
    await changed(gm, ann.who, query, m=other.id, text=asked_of)
    erased = await forget_memory(gm, ann.session, memory.id)
    assert erased.uncertainties == 1
    shown = await everything(another_replica(gm), ann)
    assert "marmalade" not in shown
    assert "working with paper" in shown
    assert "submarines" in told(await held(gm, ann.session))


async def test_an_observation_is_deleted_with_what_comes_from_it_alone(
    gm: Graphmem, ann: Pupil, app_client: Client
) -> None:
    texts = [
        "My sister Ottilie hides marmalade in Lisbon.",
        OTHER,
        OTHER,
        "My cat Mitzi sleeps on the piano.",
    ]
    sources = await observe(gm, ann.who, observations(texts[:3], kind=SourceKind.CHAT))
    await run_jobs(gm, ann.session)
    sources += await observe(
        gm, ann.who, [replace(o, ref="waiting") for o in observations(texts[3:], kind=SourceKind.CHAT)]
    )
    ask = 'mutation($id: ID!) { deleteObservation(studentId: "ann", id: $id) { memories jobs edges } }'
    assert (await app_client.call(ask, id=sources[0].id))["memories"] >= 1
    # The same was said twice: the other source still tells it.
    assert (await app_client.call(ask, id=sources[1].id))["memories"] == 0
    assert (await app_client.call(ask, id=sources[3].id))["jobs"] == 1
    for each in (gm, another_replica(gm)):
        await run_jobs(each, ann.session)
        shown = told(await held(each, ann.session))
        assert "marmalade" not in shown
        assert "Mitzi" not in shown
        assert "submarines" in shown
    await observe(gm, ann.who, [replace(o, ref="waiting") for o in observations(texts[3:], kind=SourceKind.CHAT)])
    await run_jobs(gm, ann.session)
    assert "Mitzi" not in told(await held(gm, ann.session))
    with pytest.raises(NotFound):
        await delete_observation(gm, ann.session, "source-unknown")
    await close_session(gm, ann.session, wait=True)
    with pytest.raises(Locked):
        await delete_observation(gm, ann.session, sources[1].id)
