"""Surprises on the real database: responded to once whoever does the work, nothing lost, questions asked once."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from graphmem.app import Graphmem
from graphmem.cache import OpenMemories
from graphmem.errors import InvalidInput, NotFound
from graphmem.flows import session_cache
from graphmem.flows import surprise as flow
from graphmem.flows import surprise_plan as responding
from graphmem.flows.facts import list_facts
from graphmem.flows.session_cache import open_memories
from graphmem.flows.surprise import (
    answer_question,
    list_questions,
    respond_to_surprises,
)
from graphmem.flows.surprise_plan import Understood
from graphmem.jobs.runner import run_jobs
from graphmem.model import (
    Level,
    MemoryRole,
    QuestionState,
    Session,
)
from graphmem.search.index import SearchIndex
from graphmem.store import turns
from graphmem.store.changes import Changes
from graphmem.validation import MESSAGE_LIMIT
from tests.conftest import Pupil, another_replica, say
from tests.support.remembering import TOLD, held, nodes, told, turn_state_of
from tests.support.surprising import (
    CALM,
    CLAIMED_FOR,
    CONFUSED,
    MANY,
    PARIS,
    ROME,
    claimed,
    counted,
    everything,
    formed,
    ids_of,
    quiet,
    responded,
    response_of,
    surprises,
    telling,
)

# Once, and never in vain


async def test_the_same_job_twice_writes_once(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, ROME)
    await surprises(gm, ann, f"{PARIS} {CONFUSED}", Level.PARADIGM_SHIFT)
    await formed(gm, ann)
    taken = await claimed(gm, ann)
    assert await respond_to_surprises(gm, ann.session, taken) == 1
    once = await everything(gm, ann)
    assert await respond_to_surprises(gm, ann.session, taken) == 0
    assert await respond_to_surprises(another_replica(gm), ann.session, taken) == 0
    assert await everything(gm, ann) == once
    (job,) = [job for job in await nodes(gm, ann.who, "Job") if job["id"] == "surprise-2"]
    assert job["state"] == "done"
    assert not {"payload", "lease", "lease_until", "error"} & job.keys()


async def test_a_job_that_another_worker_took_over_writes_nothing(gm: Graphmem, ann: Pupil) -> None:
    await surprises(gm, ann, TOLD, Level.PARADIGM_SHIFT)
    await formed(gm, ann)
    (slow,) = await claimed(gm, ann)
    before = await everything(gm, ann)
    stolen = replace(slow, lease="somebody-else")
    assert await respond_to_surprises(gm, ann.session, [stolen]) == 0
    assert await everything(gm, ann) == before
    later = another_replica(gm, clock=lambda: gm.clock() + 2 * CLAIMED_FOR)
    assert await run_jobs(later, ann.session) == 1
    after = await everything(gm, ann)
    assert await respond_to_surprises(gm, ann.session, [slow]) == 0
    assert await everything(gm, ann) == after


async def test_several_workers_respond_once(gm: Graphmem, ann: Pupil) -> None:
    for text in (TOLD, PARIS, CONFUSED):
        await surprises(gm, ann, text, Level.PARADIGM_SHIFT)
    await formed(gm, ann)
    finished = await asyncio.gather(*(run_jobs(w, ann.session) for w in (gm, *(another_replica(gm) for _ in range(4)))))
    assert sum(finished) == 3
    episodes = await ids_of(gm, ann, MemoryRole.EPISODE)
    assert episodes == ["episode-1", "episode-2", "episode-3"]
    seqs = sorted(node["seq"] for node in await nodes(gm, ann.who, "Fact"))
    assert seqs == list(range(1, len(seqs) + 1))
    assert (await counted(gm, ann))["facts"] == len(seqs)


async def test_memories_that_change_meanwhile_are_taken_into_account(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another worker forms what the belief update says while this one plans; it is used, not made again."""
    await told(gm, ann, ROME)
    await surprises(gm, ann, PARIS, Level.COGNITIVE_DISSONANCE)
    taken = await claimed(gm, ann)
    other, plan, plans = another_replica(gm), responding.planned_response, list[Changes]()

    def planned(understood: Understood, known: SearchIndex, version: int) -> Changes:
        plans.append(plan(understood, known, version))
        return plans[-1]

    async def meanwhile(gm_: Graphmem, session: Session, at_least: int = 0) -> OpenMemories:
        held = await opened(gm_, session, at_least)
        if len(plans) == 0 and at_least == 0:
            # Read before the other worker writes.
            read.append(held.version)
            if len(read) == 2:
                await formed(other, ann)
        return held

    opened, read = open_memories, list[int]()
    monkeypatch.setattr(responding, "planned_response", planned)
    for module in (flow, session_cache):
        monkeypatch.setattr(module, "open_memories", meanwhile)
    assert await respond_to_surprises(gm, ann.session, taken) == 1
    assert [each.known for each in plans] == [2, 3]
    response = await response_of(gm, ann.session, "episode-2")
    assert response is not None
    assert [revision.new_id for revision in response.revisions] == ["memory-2-1"]
    assert not await ids_of(gm, ann, MemoryRole.BELIEF)


async def test_a_belief_that_was_closed_meanwhile_is_not_closed_again(gm: Graphmem, ann: Pupil) -> None:
    """Two surprises are analysed in one question, and both would put the same belief right."""
    at = datetime(2026, 1, 5, 9, tzinfo=UTC)
    await told(gm, ann, "I live in Rome.", at=at)
    for day, text in enumerate(("I live in Paris now.", "I live in Oslo now."), start=1):
        await surprises(gm, ann, text, Level.COGNITIVE_DISSONANCE, at=at + timedelta(days=day))
    await formed(gm, ann)
    assert await respond_to_surprises(gm, ann.session, await claimed(gm, ann)) == 2
    first, second = [await response_of(gm, ann.session, f"episode-{seq}") for seq in (2, 3)]
    assert first is not None
    assert second is not None
    assert [revision.prior_id for revision in first.revisions] == ["memory-1-1"]
    assert "memory-1-1" not in [revision.prior_id for revision in second.revisions]
    (rome,) = [m for m in await held(gm, ann.session) if m.id == "memory-1-1"]
    assert rome.invalid_at == at + timedelta(days=1)


async def test_facts_are_not_lost_beside_turns_of_this_process(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "I think I have to add 12 and 30.")
    await surprises(gm, ann, MANY, Level.BOUNDARY)
    talk = [say(gm, ann, f"I love {animal}.") for animal in ("otters", "herons", "newts", "badgers")]
    await asyncio.gather(run_jobs(telling(gm), ann.session), *talk)
    await run_jobs(gm, ann.session)
    facts = await nodes(gm, ann.who, "Fact")
    seqs = sorted(node["seq"] for node in facts)
    assert {f"fact-2-{place}" for place in range(1, 11)} <= {node["id"] for node in facts}
    assert seqs == list(range(1, len(seqs) + 1))
    totals = await counted(gm, ann)
    assert totals["facts"] == len(seqs)
    outcome = await say(gm, ann, "So it is 42?")
    unlocked = turn_state_of(gm, ann)
    assert unlocked.state.version == (await counted(gm, ann))["version"]
    assert [fact.seq for fact in unlocked.facts] == [node.seq for node in await list_facts(gm, ann.session, 200)]
    assert outcome.seq == 7


async def test_facts_of_another_workers_are_not_lost_to_a_turn_that_knows_nothing_of_them(
    gm: Graphmem, replica: Graphmem, ann: Pupil
) -> None:
    await surprises(gm, ann, MANY, Level.BOUNDARY)
    assert await run_jobs(telling(replica), ann.session) == 2
    await say(gm, ann, "I think I have to add 12 and 30.", reply="How many spoons did Julia buy in total?")
    await say(gm, ann, "I love purple submarines.")
    await run_jobs(gm, ann.session)
    facts = await nodes(gm, ann.who, "Fact")
    assert sorted(node["seq"] for node in facts) == list(range(1, 12))
    assert (await counted(gm, ann))["facts"] == 11
    assert [fact.seq for fact in await list_facts(gm, ann.session, 20)] == list(range(11, 0, -1))
    assert "submarines" in (await list_facts(gm, ann.session, 1))[0].text


async def test_a_question_answered_elsewhere_stays_answered(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    await responded(gm, ann, CONFUSED, Level.PARADIGM_SHIFT)
    await quiet(gm, ann)
    waiting = await list_questions(gm, ann.session)
    await say(gm, ann, "Is that so?")
    await answer_question(replica, ann.session, waiting[0].id, "Because my aunt said so.")
    await say(gm, ann, CALM)
    assert waiting[0].id not in [question.id for question in await list_questions(gm, ann.session)]


async def test_what_this_process_holds_keeps_in_step(gm: Graphmem, ann: Pupil) -> None:
    await responded(gm, ann, CONFUSED, Level.PARADIGM_SHIFT)
    unlocked = turn_state_of(gm, ann)
    totals = await counted(gm, ann)
    assert (unlocked.state.version, unlocked.state.facts) == (totals["version"], totals["facts"])
    read = await turns.before(gm.graph, ann.session, "none", gm.clock())
    assert read is not None
    assert unlocked.state.questions == read.state.questions != ()
    assert list(unlocked.facts) == await list_facts(gm, ann.session, 200)
    opened = await open_memories(gm, ann.session)
    assert opened.version == totals["memory_version"]


# Questions


async def test_a_question_is_asked_by_a_later_turn_once_and_others_after_a_while(gm: Graphmem, ann: Pupil) -> None:
    await responded(gm, ann, CONFUSED, Level.PARADIGM_SHIFT)
    await quiet(gm, ann)
    waiting = await list_questions(gm, ann.session)
    assert len(waiting) >= 2
    replies = [(await say(gm, ann, CALM)).reply for _ in range(9)]
    for question in waiting[:2]:
        assert sum(question.text in reply for reply in replies) == 1
    asked_in = [next(i for i, reply in enumerate(replies) if q.text in reply) for q in waiting[:2]]
    assert asked_in[0] == 0
    assert asked_in[1] - asked_in[0] > 3
    states = {question.id: question.state for question in await list_questions(gm, ann.session)}
    assert states[waiting[0].id] is states[waiting[1].id] is QuestionState.ASKED


async def test_no_question_disturbs_a_surprise_a_question_or_an_app_that_replies_itself(
    gm: Graphmem, ann: Pupil
) -> None:
    await responded(gm, ann, CONFUSED, Level.PARADIGM_SHIFT)
    (first, *_) = await list_questions(gm, ann.session)
    surprising = await say(gm, ann, "My dad hits me at home and I am scared to go back.")
    assert surprising.level is not Level.NORMAL
    await quiet(gm, ann)
    asking = await say(gm, ann, "What is a denominator?")
    own = await say(gm, ann, CALM, reply="Good.")
    assert asking.level is own.level is Level.NORMAL
    assert not any(first.text in outcome.reply for outcome in (surprising, asking, own))
    assert first.text in (await say(gm, ann, CALM)).reply


async def test_a_question_asked_on_one_replica_is_not_asked_on_another(
    gm: Graphmem, replica: Graphmem, ann: Pupil
) -> None:
    await responded(gm, ann, CONFUSED, Level.PARADIGM_SHIFT)
    await quiet(gm, ann)
    (first, *_) = await list_questions(gm, ann.session)
    await say(gm, ann, "Is that so?")
    await say(replica, ann, "Is that so?")
    replies = [(await say(each, ann, CALM)).reply for each in (gm, replica, gm, replica)]
    assert sum(first.text in reply for reply in replies) == 1


async def test_an_answer_is_remembered_and_the_question_gone(gm: Graphmem, ann: Pupil) -> None:
    await responded(gm, ann, CONFUSED, Level.PARADIGM_SHIFT)
    (first, *rest) = await list_questions(gm, ann.session)
    before = (await counted(gm, ann))["version"]
    assert await answer_question(gm, ann.session, first.id, "My aunt Ilse in Bergen explained it with a cake.")
    after = (await counted(gm, ann))["version"]
    assert after > before
    assert [question.id for question in await list_questions(gm, ann.session)] == [question.id for question in rest]
    await run_jobs(gm, ann.session)
    (memory,) = [m for m in await held(gm, ann.session) if "aunt Ilse" in (m.content or "")]
    assert memory.source_refs == (f"answer:{first.id}",)
    # Twice is as once; the answer counts the first time.
    assert await answer_question(gm, ann.session, first.id, "I said that my uncle did.")
    await run_jobs(gm, ann.session)
    assert not [m for m in await held(gm, ann.session) if "uncle" in (m.content or "")]
    await quiet(gm, ann)
    replies = [(await say(gm, ann, CALM)).reply for _ in range(5)]
    assert not any(first.text in reply for reply in replies)


async def test_an_answer_that_will_not_do_is_refused(gm: Graphmem, ann: Pupil) -> None:
    await responded(gm, ann, CONFUSED, Level.PARADIGM_SHIFT)
    (first, *_) = await list_questions(gm, ann.session)
    with pytest.raises(NotFound):
        await answer_question(gm, ann.session, "nobody", "Yes.")
    for text in ("", " ", "x" * (MESSAGE_LIMIT + 1), "a\x00b"):
        with pytest.raises(InvalidInput):
            await answer_question(gm, ann.session, first.id, text)
    assert first in await list_questions(gm, ann.session)
