"""Task, opener and used memories of a turn (spec 3)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput
from graphmem.flows.context import context
from graphmem.jobs.runner import run_jobs
from graphmem.model import Author, Conversation, MindQuestion, Respond, StoredTurn
from graphmem.store import turns
from graphmem.store.graph import Row
from tests.conftest import Enrol, Pupil, another_replica, say
from tests.support.minds import ScriptedMind

TASK = "Wendi feeds each of her 20 chickens three cups of mixed feed a day."
MINUTE = timedelta(minutes=1)
OPENER = "How many cups does she need in the final meal?"


class Listening:
    """Keeps the talks that a mind is asked about; with `slow` the message is stored first."""

    def __init__(self, gm: Graphmem, *, slow: bool = False) -> None:
        self.talks: list[Conversation] = []
        self.gm = another_replica(gm, mind=ScriptedMind(gm.offline, {Respond: self._respond}, slow=slow))
        self._offline = gm.offline

    async def _respond(self, question: Respond) -> object:
        self.talks.append(question.talk)
        asked: MindQuestion[object] = question
        return (await self._offline.ask(asked)).value


@pytest.mark.parametrize("fresh", [False, True])
async def test_a_task_is_kept_until_another_is_given(gm: Graphmem, ann: Pupil, fresh: bool) -> None:
    listening = Listening(gm)
    for text, task in (("Hi!", TASK), ("I need 140 cups.", None), ("Next one?", "Add 1/2 and 1/3."), ("Bye", "")):
        told = another_replica(listening.gm) if fresh else listening.gm
        await say(told, ann, text, task=task)
    assert [talk.task for talk in listening.talks] == [TASK, TASK, "Add 1/2 and 1/3.", ""]
    assert [kept.task for kept in await turns.list_turns(gm.graph, ann.session)] == [
        TASK,
        TASK,
        "Add 1/2 and 1/3.",
        None,
    ]


@pytest.mark.parametrize("fresh", [False, True])
async def test_an_opener_stands_before_the_message_and_stays_there(gm: Graphmem, ann: Pupil, fresh: bool) -> None:
    listening = Listening(gm)
    outcome = await say(listening.gm, ann, "20 cups.", opener=OPENER)
    # What graphmem has seen already does not stand there twice.
    told = another_replica(listening.gm) if fresh else listening.gm
    await say(told, ann, "Because 3 x 20 = 60.", opener=outcome.reply)
    first, second = listening.talks
    assert [(m.author, m.text) for m in first.messages] == [(Author.COMPANION, OPENER), (Author.STUDENT, "20 cups.")]
    assert [m.text for m in second.messages] == [OPENER, "20 cups.", outcome.reply, "Because 3 x 20 = 60."]


async def test_openers_do_not_mix_up_what_was_said_and_answered(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i in range(8):
        await say(gm, ann, f"I rode my horse Bella {i} times.", reply=f"Reply {i}", opener=f"Opener {i}")
    outcome = await say(gm, ann, "I rode my horse Bella 9 times.")
    assert outcome.recalled_turns
    assert all(t.text[-8] == t.reply[-1] for t in outcome.recalled_turns)
    monkeypatch.setattr("graphmem.flows.turn_plan.WORKING_MEMORY", 2)
    small = another_replica(gm)
    await say(small, ann, "And now?")
    held = small.turn_state(ann.session)
    assert held is not None
    assert [m.text for m in held.messages if m.author is Author.STUDENT] == [
        "I rode my horse Bella 9 times.",
        "And now?",
    ]


async def test_what_an_opener_asked_is_what_a_memory_answers(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "Yes, my aunt Wilhelmina from Toronto.", opener="Does anybody help you with fractions?")
    await run_jobs(gm, ann.session)
    (found, *_) = (await context(gm, ann.session, "Who is Wilhelmina?")).memories
    assert found.memory.before == "Does anybody help you with fractions?"


async def test_the_text_of_a_task_is_no_memory(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "My dog Rex is ill today.", task=TASK)
    await run_jobs(gm, ann.session)
    found = await context(gm, ann.session, "Who has chickens and mixed feed?")
    assert "Wendi" not in found.prompt


async def test_a_task_counts_in_surprise(gm: Graphmem, ann: Pupil, enrol: Enrol) -> None:
    bob = await enrol("bob")
    last = "The chickens need sixty cups of mixed feed."
    # The same pauses for both: pauses surprise, too.
    begun = gm.clock() - 9 * MINUTE
    for pupil, task in ((ann, TASK), (bob, None)):
        for i in range(4):
            told = f"My favourite film number {i} is about space."
            await say(gm, pupil, told, f"t{i}", at=begun + i * MINUTE, task=task, reply="Really?")
    near, far = [await say(gm, pupil, last, "last", at=begun + 4 * MINUTE, reply="Yes.") for pupil in (ann, bob)]
    assert near.surprise < far.surprise


async def test_a_message_stored_first_is_completed_with_what_came_with_it(gm: Graphmem, ann: Pupil) -> None:
    listening = Listening(gm, slow=True)
    given = {"task": TASK, "opener": OPENER, "reply": "Why 140?"}
    received = StoredTurn("t", "I need 140 cups.", gm.clock(), "Why 140?", TASK, OPENER, ("form-1",))
    await turns.receive(gm.graph, ann.session, received, gm.clock())
    (waiting,) = await turns.list_unanswered(gm.graph, ann.session)
    assert replace(waiting, at=received.at) == received
    with pytest.raises(InvalidInput):
        await say(listening.gm, ann, "I need 140 cups.", "t", **given)
    await say(listening.gm, ann, "And now?", "u", **given)
    (kept,) = await turns.list_turns(gm.graph, ann.session)
    assert (kept.task, kept.opener) == (TASK, OPENER)


async def _memory(gm: Graphmem, pupil: Pupil) -> Row:
    (row,) = await gm.graph.execute(
        "MATCH (m:Memory {institution: $i, student_id: $s}) WHERE m.role = 'said' "
        "RETURN m.id AS id, m.gravity AS gravity, m.access_count AS access_count",
        {"i": pupil.who.institution, "s": pupil.who.student_id},
        reads=True,
    )
    return row


async def test_what_an_app_built_its_reply_on_counts_as_used(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "My sister Ada plays the violin in an orchestra.", reply="Nice!")
    await run_jobs(gm, ann.session)
    before = await _memory(gm, ann)
    used = (before["id"], before["id"])
    outcome = await say(gm, ann, "What is 3 x 4?", "t", reply="As many as Ada has strings, times three.", used=used)
    assert outcome.seq == 2
    after = await _memory(gm, ann)
    assert after["access_count"] == before["access_count"] + 1
    assert after["gravity"] > before["gravity"]
    assert (await say(gm, ann, "What is 3 x 4?", "t", reply=outcome.reply, used=used)).repeated
    assert (await _memory(gm, ann))["access_count"] == after["access_count"]


async def test_what_waits_to_be_formed_can_be_used(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "My sister Ada plays the violin in an orchestra.")
    (found,) = (await context(gm, ann.session, "Who plays the violin?")).memories
    assert not found.formed
    await run_jobs(gm, ann.session)
    assert (await say(gm, ann, "Yes?", reply="Ada does.", used=(found.memory.id,))).seq == 2


async def test_memories_of_others_cannot_be_used_and_are_not_told_from_none(
    gm: Graphmem, ann: Pupil, enrol: Enrol
) -> None:
    bob = await enrol("bob")
    for i in range(3):
        await say(gm, bob, f"My sister Ada plays the violin, part {i}.")
    await run_jobs(gm, bob.session)
    rows = await gm.graph.execute(
        "MATCH (m:Memory {institution: $i, student_id: 'bob'}) RETURN m.id AS id",
        {"i": bob.who.institution},
        reads=True,
    )
    refusals = set()
    for used in (str(rows[-1]["id"]), "memory-99-9"):
        with pytest.raises(InvalidInput) as refused:
            await say(gm, ann, "Hello?", "t", reply="Hi", used=(used,))
        refusals.add(str(refused.value).replace(used, "ID"))
    assert len(refusals) == 1
    assert await turns.list_turns(gm.graph, ann.session) == []
    assert await turns.list_unanswered(gm.graph, ann.session) == []


@pytest.mark.parametrize(
    "given", [{"task": "x" * 40_000}, {"opener": " "}, {"opener": "\x00"}, {"used": ("",)}, {"used": ("a",) * 101}]
)
async def test_what_will_not_do_is_refused(gm: Graphmem, ann: Pupil, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        await say(gm, ann, "Hello?", **given)
    assert await turns.list_turns(gm.graph, ann.session) == []
