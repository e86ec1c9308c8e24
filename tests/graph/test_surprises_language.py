"""Surprises on the real database with a real model server: asked together, paid for once, never in the way."""

from collections.abc import Sequence
from datetime import timedelta

from graphmem.app import Graphmem
from graphmem.flows.surprise import list_questions, response_of
from graphmem.jobs.runner import FIRST_WAIT, HANDLERS, run_jobs
from graphmem.model import Level, MemoryRole, Strategy
from graphmem.store import jobs
from graphmem.store.jobs import Kind
from tests.conftest import Pupil, another_replica, say
from tests.support.language import asks, with_model
from tests.support.llm_server import Act, llm_server
from tests.support.remembering import held, nodes
from tests.support.surprising import counted, ids_of, memories_by_id, surprises

ROME = "I live in Rome with my family."
SAID = (
    "Guess what, we moved to Paris! My sister stayed behind.",
    "My grandma in Bergen gave me a telescope.",
    "I am allergic to peanuts. So I never eat satay.",
)


async def surprised(gm: Graphmem, pupil: Pupil, *levels: Level, texts: Sequence[str] = SAID) -> None:
    """A belief, then surprises that wait; the memories are formed by rule already and nothing was asked yet."""
    quiet = another_replica(gm, mind=gm.offline)
    await surprises(quiet, pupil, ROME, None)
    for text, level in zip(texts, levels, strict=False):
        # Of what was not foreseen otherwise facts are wanted.
        await surprises(quiet, pupil, text, level, match=0.9)
    await formed(gm, pupil)


async def formed(gm: Graphmem, pupil: Pupil) -> None:
    """Form by rule what waits to be formed, and leave surprises alone."""
    now = gm.clock()
    found = await jobs.claim(gm.graph, pupil.session, [Kind.FORM], 100, now + timedelta(seconds=60), now)
    await HANDLERS[Kind.FORM].run(another_replica(gm, mind=gm.offline), pupil.session, found)


async def jobs_of(gm: Graphmem, pupil: Pupil) -> list[dict[str, object]]:
    return [job for job in await nodes(gm, pupil.who, "Job") if job["kind"] == "surprise"]


async def test_several_surprises_are_one_question_and_each_gets_its_own_answer(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await surprised(gm, ann, Level.BOUNDARY, Level.COGNITIVE_DISSONANCE, Level.PARADIGM_SHIFT)
            before = await counted(gm, ann)
            assert await run_jobs(talking, ann.session) == 3
    (question,) = asks(server, "analyses")
    assert question.question.count("<episode>") == 3
    assert len(server.seen) == 1
    responses = [await response_of(gm, ann.session, f"episode-{seq}") for seq in (2, 3, 4)]
    for text, response in zip(SAID, responses, strict=True):
        assert response is not None
        assert text in response.explanation
        assert not response.offline
        assert response.strategy is Strategy.CONNECT_PRIOR
        (extracted,) = [a for a in response.actions if a.kind == "extract_facts"]
        assert extracted.fact_count == text.count(".") + text.count("!")
    facts = [node for node in await nodes(gm, ann.who, "Fact") if node["id"].count("-") == 2]
    assert len(facts) == 5
    (question_left,) = await list_questions(gm, ann.session)
    assert question_left.text.startswith("What made you think of ")
    found = {memory.id: memory.content for memory in await held(gm, ann.session)}
    assert (found["procedure-4"] or "").startswith("Ask about ")
    # What is held now is the memory that was formed of the same words; no belief was shown.
    revised = [(r.prior_id, r.new_id) for each in responses[1:2] if each for r in each.revisions]
    assert revised == [(None, "memory-3-1")]
    assert found["memory-3-1"] == SAID[1]
    after = await counted(gm, ann)
    assert after["calls"] == before["calls"] + 1
    (usage,) = [node for node in await nodes(gm, ann.who, "Usage") if node["kind"] == "surprise"]
    assert (usage["calls"], usage["input_tokens"]) == (1, sum(len(seen.text) // 4 for seen in server.seen))


async def test_more_surprises_than_fit_into_one_question_take_two(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            for i in range(5):
                await surprises(
                    another_replica(gm, mind=gm.offline), ann, f"On day {i} I saw {i} owls.", Level.BOUNDARY, match=0.9
                )
            await formed(gm, ann)
            assert await run_jobs(talking, ann.session) == 5
    assert [seen.question.count("<episode>") for seen in asks(server, "analyses")] == [4, 1]
    assert (await counted(gm, ann))["calls"] == 2


async def test_the_models_belief_update_closes_the_belief_it_was_shown(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            # By rule nothing ends by these words.
            await surprised(gm, ann, Level.COGNITIVE_DISSONANCE, texts=["My family is in Paris. Rome is far."])
            assert await run_jobs(talking, ann.session) == 1
    assert ROME in asks(server, "analyses")[0].question
    response = await response_of(gm, ann.session, "episode-2")
    assert response is not None
    assert [(r.prior_id, r.prior_assumption, r.new_id) for r in response.revisions] == [
        ("memory-1-1", ROME, "belief-2-1")
    ]
    found = await memories_by_id(gm, ann)
    assert found["memory-1-1"]["reliability"] == "superseded"
    assert found["belief-2-1"]["kind"] == "trait"
    inferred = (
        "MATCH (:Memory {institution: $i, student_id: $s})-[r:REFINES]->(m) RETURN m.id AS id, r.inferred_by AS by"
    )
    rows = await gm.graph.execute(inferred, {"i": ann.who.institution, "s": "ann"}, reads=True)
    assert {"id": "memory-1-1", "by": "openai:stub"} in rows


async def test_while_the_model_is_away_a_surprise_waits(gm: Graphmem, ann: Pupil) -> None:
    with llm_server(Act(status=503)) as server:
        async with with_model(gm, server) as talking:
            await surprised(gm, ann, Level.PARADIGM_SHIFT, Level.BOUNDARY)
            assert await run_jobs(talking, ann.session) == 0
            assert {(job["state"], job["attempts"]) for job in await jobs_of(gm, ann)} == {("waiting", 1)}
            assert not await ids_of(gm, ann, MemoryRole.EPISODE)
            assert (await counted(gm, ann))["calls"] == len(server.seen) == 1
            later = another_replica(talking, clock=lambda: gm.clock() + timedelta(seconds=FIRST_WAIT + 1))
            assert await run_jobs(later, ann.session) == 2
    response = await response_of(gm, ann.session, "episode-2")
    assert response is not None
    assert not response.offline
    assert (await counted(gm, ann))["calls"] == len(server.seen) == 2


async def test_where_the_model_answers_nonsense_the_offline_mind_does_it_and_says_so(gm: Graphmem, ann: Pupil) -> None:
    with llm_server(then=Act(content="nonsense")) as server:
        async with with_model(gm, server) as talking:
            await surprised(gm, ann, Level.PARADIGM_SHIFT)
            assert await run_jobs(talking, ann.session) == 1
    response = await response_of(gm, ann.session, "episode-2")
    assert response is not None
    assert response.offline
    assert response.explanation
    assert await list_questions(gm, ann.session) != []
    query = """MATCH (e:Memory {institution: $i, student_id: $s, id: 'episode-2'})-[r]->(:Memory)
               WHERE type(r) <> 'ABSTRACTS' RETURN DISTINCT r.inferred_by AS by"""
    rows = await gm.graph.execute(query, {"i": ann.who.institution, "s": "ann"}, reads=True)
    assert rows == [{"by": "offline"}]
    # It was asked twice, the second time for a repair.
    assert (await counted(gm, ann))["calls"] == len(server.seen) == 2


async def test_past_the_budget_nobody_is_asked_and_the_response_says_so(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server, budget_student_tokens=1) as talking:
            await surprised(gm, ann, Level.PARADIGM_SHIFT)
            assert await run_jobs(talking, ann.session) == 1
    assert server.seen == []
    response = await response_of(gm, ann.session, "episode-2")
    assert response is not None
    assert response.offline


async def test_an_opened_question_is_put_by_the_model(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await surprised(gm, ann, Level.PARADIGM_SHIFT)
            await run_jobs(talking, ann.session)
            (question,) = await list_questions(gm, ann.session)
            query = "MATCH (s:Student {institution: $i, id: $s}) SET s.signals = [i IN range(1, 60) | 1.0]"
            await gm.graph.execute(query, {"i": ann.who.institution, "s": "ann"}, reads=False)
            talking.drop(ann.session)
            await say(talking, ann, "I add the tens first.")
    (asked, *_) = asks(server, "reply")
    assert question.text in asked.text
