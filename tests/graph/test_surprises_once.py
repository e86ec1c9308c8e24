"""Surprises on the real database: responded to once whoever does the work, nothing lost, questions asked once."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput, NotFound
from graphmem.flows.facts import list_facts
from graphmem.flows.formation import form_messages
from graphmem.flows.session_cache import open_memories
from graphmem.flows.surprise import answer_question, list_questions
from graphmem.jobs.runner import run_jobs
from graphmem.model import (
    Level,
    MemoryRole,
    QuestionState,
)
from graphmem.store import turns
from graphmem.validation import MESSAGE_LIMIT
from tests.conftest import Pupil, another_replica, say
from tests.support.remembering import TOLD, held, nodes, told, turn_state_of
from tests.support.surprising import (
    CALM,
    CONFUSED,
    PARIS,
    ROME,
    asking,
    claimed,
    counted,
    everything,
    ids_of,
    quiet,
    responded,
    response_of,
    surprises,
)

# Once, and never in vain


async def test_the_same_job_twice_writes_once(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, ROME)
    await surprises(gm, ann, f"{PARIS} {CONFUSED}", Level.PARADIGM_SHIFT)
    taken = await claimed(gm, ann)
    assert await form_messages(gm, ann.session, taken) == 1
    once = await everything(gm, ann)
    assert await form_messages(gm, ann.session, taken) == 0
    assert await form_messages(another_replica(gm), ann.session, taken) == 0
    assert await everything(gm, ann) == once


async def test_several_workers_respond_once(gm: Graphmem, ann: Pupil) -> None:
    for text in (TOLD, PARIS, CONFUSED):
        await surprises(gm, ann, text, Level.PARADIGM_SHIFT)
    finished = await asyncio.gather(*(run_jobs(w, ann.session) for w in (gm, *(another_replica(gm) for _ in range(4)))))
    assert sum(finished) == 3
    episodes = await ids_of(gm, ann, MemoryRole.EPISODE)
    assert episodes == ["episode-1", "episode-2", "episode-3"]
    seqs = sorted(node["seq"] for node in await nodes(gm, ann.who, "Fact"))
    assert seqs == list(range(1, len(seqs) + 1))
    assert (await counted(gm, ann))["facts"] == len(seqs)


async def test_a_belief_that_one_surprise_closes_is_not_closed_by_the_next(gm: Graphmem, ann: Pupil) -> None:
    at = datetime(2026, 1, 5, 9, tzinfo=UTC)
    await told(gm, ann, "I live in Rome.", at=at)
    for day, text in enumerate(("I live in Paris now.", "We have moved from Paris to Oslo."), start=1):
        await surprises(gm, ann, text, Level.COGNITIVE_DISSONANCE, at=at + timedelta(days=day))
    assert await form_messages(gm, ann.session, await claimed(gm, ann)) == 2
    first, second = [await response_of(gm, ann.session, f"episode-{seq}") for seq in (2, 3)]
    assert first is not None
    assert second is not None
    assert [revision.prior_id for revision in first.revisions] == ["memory-1-1"]
    assert [revision.prior_id for revision in second.revisions] == ["memory-2-1"]
    (rome,) = [m for m in await held(gm, ann.session) if m.id == "memory-1-1"]
    assert rome.invalid_at == at + timedelta(days=1)


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
    await surprises(gm, ann, PARIS, Level.PARADIGM_SHIFT)
    await run_jobs(asking(gm, "moon"), ann.session)
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
