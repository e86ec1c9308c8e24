"""What follows a surprise on the real database: everything that its level says, and the episode it begins."""

from datetime import UTC, datetime, timedelta

import pytest

from graphmem.app import Graphmem
from graphmem.flows.formation import form_messages
from graphmem.flows.session_cache import open_memories
from graphmem.flows.surprise import list_questions
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import (
    Level,
    MemoryKind,
    MemoryRole,
    Modality,
    Reliability,
)
from graphmem.store.students import expire_session
from tests.conftest import Pupil, another_replica, say
from tests.support.remembering import TOLD, again_open, as_said, asked, changed, held, nodes, told
from tests.support.surprising import (
    CONFUSED,
    ORANGE,
    PARIS,
    ROME,
    TEAL,
    claimed,
    edges_of,
    ids_of,
    memories_by_id,
    responded,
    response_of,
    running,
    surprises,
)

# What each level leaves


async def test_a_normal_turn_of_another_matter_begins_an_episode_and_that_is_all(gm: Graphmem, ann: Pupil) -> None:
    response = await responded(gm, ann, TOLD, Level.NORMAL)
    assert (response.level, response.signal) == (Level.NORMAL, 0.3)
    assert [action.kind for action in response.actions] == ["start_episode", "extract_facts"]
    assert response.actions[1].fact_count == 0
    found = await memories_by_id(gm, ann)
    assert found.keys() == {"memory-1-1", "episode-1"}
    assert not found["episode-1"]["flashbulb"]
    assert await edges_of(gm, ann, "ABSTRACTS") == {("episode-1", "memory-1-1")}
    assert await nodes(gm, ann.who, "Fact") == []


async def test_an_episode_is_a_memory_with_its_response_sealed_on_it(gm: Graphmem, ann: Pupil) -> None:
    at = datetime(2026, 1, 5, 9, tzinfo=UTC)
    response = await responded(gm, ann, TOLD, Level.BOUNDARY, at=at)
    node = (await memories_by_id(gm, ann))["episode-1"]
    assert node["labels"] == {"Memory", "Episodic"}
    assert (node["kind"], node["role"], node["surprise_level"], node["surprise"]) == (
        "episode",
        "episode",
        "boundary",
        0.7,
    )
    assert (node["timestamp"].to_native(), node["valid_at"].to_native()) == (at, at)
    assert isinstance(node["surprise_response"], bytes)
    assert b"Lisbon" not in node["surprise_response"]
    assert b"explanation" not in node["surprise_response"]
    episode = (await open_memories(gm, ann.session)).index.get("episode-1")
    assert episode is not None
    assert (episode.modality, episode.kind) == (Modality.EPISODIC, MemoryKind.EPISODE)
    assert episode.content == "Ada, Lisbon"
    assert len(episode.source_refs) == 1
    assert "I added 12 and 30" in response.explanation
    assert response.offline
    # What any other process reads is the same.
    assert await response_of(another_replica(gm), ann.session, "episode-1") == response
    assert await response_of(gm, ann.session, "memory-1-1") is None
    assert await response_of(gm, ann.session, "nobody") is None
    assert await running(gm, ann) == ["episode-1"]


@pytest.mark.parametrize("level", [Level.COGNITIVE_DISSONANCE, Level.PARADIGM_SHIFT])
async def test_what_has_changed_closes_the_belief_and_leads_to_the_new_one(
    gm: Graphmem, ann: Pupil, level: Level
) -> None:
    at = datetime(2026, 1, 5, 9, tzinfo=UTC)
    await told(gm, ann, ROME, at=at)
    response = await responded(gm, ann, PARIS, level, at=at + timedelta(days=2))
    (revision,) = response.revisions
    assert (revision.prior_id, revision.prior_assumption) == ("memory-1-1", ROME)
    assert "moved to Paris" in revision.new_understanding
    assert -1 <= revision.confidence_delta <= 1
    found = await memories_by_id(gm, ann)
    prior, new = found["memory-1-1"], found[revision.new_id]
    assert (prior["invalid_at"].to_native(), prior["reliability"]) == (at + timedelta(days=2), "superseded")
    assert new["kind"] in {"trait", "concept"}
    assert "invalid_at" not in new
    assert (new["valid_at"].to_native(), new["reliability"]) == (at + timedelta(days=2), "reliable")
    assert await edges_of(gm, ann, "TEMPORAL_EVOLUTION") == {("memory-1-1", revision.new_id)}
    assert await edges_of(gm, ann, "REFINES") == set()
    # Held in step in this process, and read alike by another one.
    for process in (gm, another_replica(gm)):
        (old,) = [m for m in await held(process, ann.session) if m.id == "memory-1-1"]
        assert old.reliability is Reliability.SUPERSEDED
        opened = await open_memories(process, ann.session)
        assert opened.index.get("memory-1-1") == old
        kept = opened.index.get(revision.new_id)
        assert kept is not None
        assert kept.kind in {MemoryKind.TRAIT, MemoryKind.CONCEPT}


async def test_what_was_put_right_is_refined(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, TEAL)
    response = await responded(gm, ann, ORANGE, Level.COGNITIVE_DISSONANCE)
    (revision,) = response.revisions
    assert revision.prior_id == "memory-1-1"
    assert ((revision.new_id, "memory-1-1")) in await edges_of(gm, ann, "REFINES")
    assert await edges_of(gm, ann, "TEMPORAL_EVOLUTION") == set()
    (prior,) = [m for m in await held(gm, ann.session) if m.id == "memory-1-1"]
    assert prior.invalid_at is not None


async def test_a_boundary_reports_no_belief_update(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, ROME)
    response = await responded(gm, ann, PARIS, Level.BOUNDARY)
    assert response.revisions == ()
    assert "update_beliefs" not in {action.kind for action in response.actions}


async def test_a_paradigm_shift_lights_up_links_asks_and_reflects(gm: Graphmem, ann: Pupil) -> None:
    await told(
        gm,
        ann,
        "I like fractions with an equal denominator best.",
        "I play the trumpet on Sundays.",
        "I never know which part of a fraction is the numerator.",
        "I cut a cake into parts to see what the denominator of a fraction is.",
        "I find fractions harder than decimals.",
        "My teacher draws a pizza for every fraction at the board.",
        "I learnt my first fractions from a pizza at my aunt's.",
    )
    response = await responded(gm, ann, CONFUSED, Level.PARADIGM_SHIFT, asks=False)
    done = {action.kind: action for action in response.actions}
    assert list(done) == ["start_episode", "extract_facts", "flashbulb", "connect_prior"]
    found = await memories_by_id(gm, ann)
    lit = {memory_id for memory_id, node in found.items() if node["flashbulb"]}
    assert lit >= set(done["flashbulb"].episode_ids) >= {"episode-8"}
    linked = await edges_of(gm, ann, "REMINDS_OF")
    reminded = {to for from_id, to in linked if from_id == "episode-8"}
    assert len(reminded) == 5
    assert reminded <= set(done["connect_prior"].episode_ids)
    assert not {"memory-8-1", "memory-2-1"} & reminded
    weights = """MATCH (:Memory {institution: $i, student_id: $s, id: 'episode-8'})-[r:REMINDS_OF]->(m)
                 RETURN r.weight AS weight, r.reliability AS reliability, r.inferred_by AS inferred_by"""
    for row in await asked(gm, ann.who, weights):
        assert 0 < row["weight"] <= 1
        assert (row["reliability"], row["inferred_by"]) == ("reliable", "offline")
    # Without a model nothing is asked, and nothing is thought up.
    assert await list_questions(gm, ann.session) == []
    assert await nodes(gm, ann.who, "Reflection") == []


async def test_a_natural_surprise_goes_all_the_way_by_itself(gm: Graphmem, ann: Pupil) -> None:
    at = datetime(2026, 1, 5, 9, tzinfo=UTC)
    sums = (
        "I add the tens first.",
        "Then I add the ones.",
        "So it is 42.",
        "I take 12 away.",
        "I get 30.",
        "Half is 15.",
    )
    for i, text in enumerate(sums):
        await say(gm, ann, text, at=at + timedelta(minutes=i))
    outcome = await say(
        gm,
        ann,
        "My grandma in Bergen gave me a telescope yesterday! "
        "We saw the rings of Saturn from her roof in the middle of the night.",
        at=at + timedelta(minutes=20),
    )
    assert [job.kind for job in outcome.jobs] == ["form"]
    await run_jobs(gm, ann.session)
    response = await response_of(gm, ann.session, f"episode-{outcome.seq}")
    assert response is not None
    assert (response.level, response.signal) == (outcome.level, outcome.surprise)
    assert outcome.level is not Level.NORMAL


# Episodes


async def test_what_is_said_while_an_episode_runs_belongs_to_it(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, TEAL)
    await responded(gm, ann, TOLD, Level.BOUNDARY)
    await surprises(gm, ann, "I always bring Bella apples and fresh hay from the meadow.", None)
    await run_jobs(gm, ann.session)
    await responded(gm, ann, "My uncle studies volcanoes and took me to one in Sicily.", Level.BOUNDARY)
    await surprises(gm, ann, "I keep a stone of black lava from Etna on my desk.", None)
    await run_jobs(gm, ann.session)
    episodes = await ids_of(gm, ann, MemoryRole.EPISODE)
    parts = {e for e in await edges_of(gm, ann, "ABSTRACTS") if e[0] in episodes}
    assert {e for e in parts if e[0] in {"episode-2", "episode-4"}} == {
        *(("episode-2", "memory-2-1"), ("episode-2", "memory-3-1")),
        *(("episode-4", "memory-4-1"), ("episode-4", "memory-5-1")),
    }
    assert await running(gm, ann) == ["episode-4"]


async def test_episodes_come_out_alike_in_whatever_order_the_work_is_done(gm: Graphmem, ann: Pupil) -> None:
    at = datetime(2026, 1, 5, 9, tzinfo=UTC)
    texts = (
        TEAL,
        TOLD,
        "I always bring Bella apples and fresh hay from the meadow.",
        "My uncle studies volcanoes and took me to one in Sicily.",
        "I keep a stone of black lava from Etna on my desk.",
    )
    levels = (None, Level.BOUNDARY, None, Level.BOUNDARY, None)
    for i, (text, level) in enumerate(zip(texts, levels, strict=True)):
        await surprises(gm, ann, text, level, at=at + timedelta(minutes=i))
    taken = await claimed(gm, ann)
    for place in (3, 0, 2, 4, 1):
        await form_messages(gm, ann.session, [taken[place]])
    episodes = await ids_of(gm, ann, MemoryRole.EPISODE)
    parts = {e for e in await edges_of(gm, ann, "ABSTRACTS") if e[0] in episodes}
    memory_ids = await ids_of(gm, ann, MemoryRole.SAID)
    assert parts == {("episode-2" if m < "memory-4" else "episode-4", m) for m in memory_ids if m > "memory-2"}
    assert await running(gm, ann) == ["episode-4"]


async def test_what_was_known_before_stays_where_it_was_said_first(gm: Graphmem, ann: Pupil) -> None:
    await responded(gm, ann, TOLD, Level.BOUNDARY)
    await responded(gm, ann, TOLD, Level.BOUNDARY)
    (memory,) = [m for m in await held(gm, ann.session) if as_said(m) == TOLD]
    assert memory.reinforcement_count == 1
    assert await edges_of(gm, ann, "ABSTRACTS") == {("episode-1", memory.id)}


async def test_a_session_that_closes_ends_the_episode(gm: Graphmem, ann: Pupil) -> None:
    await responded(gm, ann, TOLD, Level.BOUNDARY)
    assert await running(gm, ann) == ["episode-1"]
    await close_session(gm, ann.session, wait=True)
    assert await running(gm, ann) == []
    again = await again_open(gm, ann)
    await told(gm, again, TEAL)
    assert {e for e in await edges_of(gm, ann, "ABSTRACTS") if e[0] == "episode-1"} == {("episode-1", "memory-1-1")}


async def test_a_session_that_runs_out_ends_the_episode(gm: Graphmem, ann: Pupil) -> None:
    await responded(gm, ann, TOLD, Level.BOUNDARY)
    await expire_session(gm.graph, ann.who, ann.session.session_id, gm.clock())
    assert await running(gm, ann) == ["episode-1"]
    await expire_session(gm.graph, ann.who, ann.session.session_id, gm.clock() + timedelta(days=1))
    assert await running(gm, ann) == []


async def test_a_surprise_of_a_session_that_has_ended_begins_no_episode_of_the_next(gm: Graphmem, ann: Pupil) -> None:
    await surprises(gm, ann, TOLD, Level.BOUNDARY)
    # Whoever closed it left the job behind.
    await changed(
        gm,
        ann.who,
        "MATCH (t:Turn {institution: $i, student_id: $s}) DETACH DELETE t WITH count(*) AS n "
        "MATCH (o:OpenSession {institution: $i, student_id: $s}) SET o.id = 'next'",
    )
    gm.lock_up(ann.session)
    again = await again_open(gm, ann)
    await run_jobs(gm, again.session)
    assert ("episode-1", "memory-1-1") in await edges_of(gm, ann, "ABSTRACTS")
    assert await running(gm, ann) == []
