"""Formation on the real database: what is remembered of what was said, once, by whomever does the work."""

import asyncio
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from graphmem.app import Graphmem
from graphmem.flows.consolidation import consolidate, find_kept, verdict
from graphmem.flows.context import context
from graphmem.flows.formation import form_messages
from graphmem.flows.ledger import list_entries, settle_entry
from graphmem.flows.observation import observe
from graphmem.jobs.runner import FIRST_WAIT, HANDLERS, run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.language.analysis import MessageAnalysis
from graphmem.language.encoder import Tell
from graphmem.model import (
    OF_A_SITTING,
    EdgeType,
    LedgerCategory,
    MemoryKind,
    Modality,
    SourceKind,
)
from graphmem.store import jobs, memories
from graphmem.store.jobs import Kind
from graphmem.store.memories import list_waiting, save_verdicts
from tests.conftest import Pupil, another_replica, say
from tests.support.language import asked as requested
from tests.support.language import asks, with_model
from tests.support.llm_server import Act, llm_server
from tests.support.remembering import (
    TOLD,
    as_said,
    asked,
    changed,
    contents,
    formed,
    held,
    nodes,
    observations,
    told,
)

DISCLOSED = (
    "I owe Mia 5 euros for the museum ticket, and my brother Tom broke his arm at the Berlin zoo on Sunday because he "
    "fell off the fence, so now I feel sad and scared."
)
PHATIC = ("Hello", "Thanks!", "ok", "Hi there!", "🙂🙂🙂", "?", "Haha yes")
ALWAYS = {
    "id", "institution", "student_id", "kind", "domain", "gravity", "salience", "confidence", "strength", "valence",
    "timestamp", "last_accessed", "access_count", "reliability", "reinforcement_count", "source_kind", "snr", "passes",
    "importance", "surprise", "surprise_level", "flashbulb", "valid_at", "merged_count", "content_hash", "content",
    "embedding", "details", "consolidated", "in_ledger", "written",
}  # fmt: skip
"""Properties of a new memory of a turn (spec 2)."""


# What is written


async def test_a_telling_message_becomes_a_memory_with_everything_the_graph_keeps(gm: Graphmem, ann: Pupil) -> None:
    at = datetime(2026, 1, 5, 9, tzinfo=UTC)
    outcome = await say(gm, ann, TOLD, "t1", at=at)
    # The first message of a session surprises: an episode begins with it.
    assert [job.kind for job in outcome.jobs] == ["form"]
    assert await run_jobs(gm, ann.session) == 1
    (node,) = await formed(gm, ann.who)
    assert node["labels"] == {"Memory", "Episodic"}
    assert node.keys() >= ALWAYS | {"slot_key"}
    # What would tell anything lies sealed in `content`, `details` and `embedding`.
    assert {name for name, value in node.items() if isinstance(value, bytes)} == {"content", "details", "embedding"}
    assert 0 < node["gravity"] <= 1
    assert 0 < node["salience"] <= 1
    assert (node["timestamp"].to_native(), node["valid_at"].to_native()) == (at, at)
    assert (node["surprise"], node["surprise_level"]) == (outcome.surprise, outcome.level.value)
    assert node["importance"] == outcome.importance
    assert (node["access_count"], node["reinforcement_count"], node["merged_count"]) == (0, 0, 0)
    assert (node["reliability"], node["flashbulb"], node["source_kind"]) == ("reliable", False, "chat")
    assert node["passes"] == 2
    assert node["snr"] >= 400
    (memory,) = await held(gm, ann.session)
    assert (as_said(memory), memory.modality, memory.kind) == (TOLD, Modality.EPISODIC, MemoryKind.EPISODE)
    assert memory.source_refs == ("t1",)


async def test_every_memory_names_the_span_it_comes_from(gm: Graphmem, ann: Pupil) -> None:
    text = f"Hi! {DISCLOSED} " + " ".join(
        f"On {day} I swam {lanes} lanes in the lake of Uster with my cousin, and it was cold."
        for lanes, day in enumerate(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"), start=7)
    )
    await told(gm, ann, text)
    found = await asked(
        gm,
        ann.who,
        """MATCH (m:Memory {institution: $i, student_id: $s})-[f:FORMED_FROM]->(x:Source)
           RETURN m.id AS id, m.role AS role, f.start AS start, f.end AS end, x.kind AS kind, x.formed_at AS formed,
                  x.snr AS snr""",
    )
    by_id = {memory.id: as_said(memory) for memory in await held(gm, ann.session)}
    (episode,) = [span for span in found if span["role"] in OF_A_SITTING]
    assert (episode["start"], episode["end"]) == (0, len(text))
    assert len(found) - 1 == len(by_id) >= 2
    for span in found:
        assert 0 <= span["start"] < span["end"] <= len(text)
        own = " ".join(text[span["start"] : span["end"]].split())
        # A surprise may leave a way to go about it, which is in nobody's words.
        assert span is episode or span["role"] == "procedure" or by_id[span["id"]] == own
        assert span["kind"] == "chat"
        assert span["formed"] is not None
        assert span["snr"] >= 100


@pytest.mark.parametrize("text", PHATIC)
async def test_talk_that_says_nothing_is_not_remembered(gm: Graphmem, ann: Pupil, text: str) -> None:
    await told(gm, ann, text)
    assert await nodes(gm, ann.who, "Memory") == []
    assert await nodes(gm, ann.who, "Entity") == []


async def test_who_asks_for_what_was_told_ends_nothing(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, "I have a test in biology on 20 March.")
    await told(gm, ann, "I am over the test in biology, what day was it when I told you about it?")
    (memory,) = [m for m in await held(gm, ann.session) if "20 March" in as_said(m)]
    assert memory.invalid_at is None


async def test_people_places_and_topics_are_linked_and_their_names_sealed(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, TOLD, "My brother Tom moved to Lisbon, too, and took his tortoise Speedy with him in June.")
    found = await asked(
        gm,
        ann.who,
        """MATCH (:Memory {institution: $i, student_id: $s})-[r]->(e:Entity)
           RETURN type(r) AS type, e.kind AS kind, e.key AS key, properties(r) AS r""",
    )
    types = {(row["type"], row["kind"]) for row in found}
    assert {("INVOLVES", "person"), ("LOCATED_AT", "place"), ("ABOUT", "thing")} <= types
    for row in found:
        assert row["r"].keys() == {"weight", "reliability", "created_at", "inferred_by"}
        assert 0 < row["r"]["weight"] <= 1
        assert row["r"]["inferred_by"] == "offline"
    lisbon = [row["key"] for row in found if row["kind"] == "place"]
    assert len(lisbon) == 2
    assert len(set(lisbon)) == 1
    for entity in await nodes(gm, ann.who, "Entity"):
        assert entity.keys() - {"labels"} == {"id", "institution", "student_id", "kind", "key", "name"}
        assert isinstance(entity["name"], bytes)
        assert b"Lisbon" not in entity["name"]


async def test_memories_hang_together_in_time_and_by_likeness(gm: Graphmem, ann: Pupil) -> None:
    at = datetime(2026, 1, 5, 9, tzinfo=UTC)
    texts = (
        "My horse Bella won a prize at the riding school on Sunday.",
        "I fell off my horse Bella twice because she is afraid of dogs.",
        "I am scared of volcanoes since last summer.",
    )
    for i, text in enumerate(texts):
        await told(gm, ann, text, at=at + timedelta(minutes=i))
    first, second, third = await held(gm, ann.session)
    read = await memories.list_edges(gm.graph, ann.who, [first.id, second.id, third.id])
    edges = {
        (e.from_id, e.to_id, e.type): e.weight for of_one in read.values() for e in of_one if e.to_label == "Memory"
    }
    assert (first.id, second.id, EdgeType.PRECEDES) in edges
    assert (second.id, third.id, EdgeType.PRECEDES) in edges
    assert (second.id, first.id, EdgeType.RELATES_TO) in edges
    assert all(0 < weight <= 1 for weight in edges.values())
    assert not any(from_id == to_id for from_id, to_id, _ in edges)


async def test_the_next_sitting_does_not_follow_from_the_last(gm: Graphmem, ann: Pupil) -> None:
    at = datetime(2026, 1, 5, 9, tzinfo=UTC)
    await told(gm, ann, TOLD, at=at)
    await told(gm, ann, "My favourite colour is teal.", at=at + timedelta(hours=2))
    (_, second) = await held(gm, ann.session)
    edges = (await memories.list_edges(gm.graph, ann.who, [second.id]))[second.id]
    assert EdgeType.PRECEDES not in {edge.type for edge in edges}


async def test_a_thought_is_judged_by_the_talk_around_it(gm: Graphmem, ann: Pupil) -> None:
    began = gm.clock() - timedelta(hours=3)
    await say(gm, ann, "I have a brown dog called Rex.", at=began)
    await say(gm, ann, "My sister lives in Bergen.", at=began + timedelta(hours=2))
    for i in range(20):
        await say(gm, ann, "OK.", at=began + timedelta(hours=2, seconds=30 + i))
    await run_jobs(gm, ann.session)
    thoughts, said = await list_waiting(gm.graph, ann.who, 50, None)
    first, second = (verdict(thought, said) for thought in thoughts)
    assert len(said) == 22
    assert first.activity == pytest.approx(2.0)
    assert second.activity == pytest.approx(21 * 60 / 49)
    assert await consolidate(gm, ann.who) == (2, first.consolidated + second.consolidated)
    kept = {node["activity"] for node in await formed(gm, ann.who)}
    assert kept == {first.activity, second.activity}


async def test_what_memories_know_is_less_new_whatever_this_process_holds(gm: Graphmem, ann: Pupil) -> None:
    await observe(gm, ann.who, observations(["Ann has a brown dog called Rex."]))
    await run_jobs(gm, ann.session)
    found = [await say(each, ann, "I have a brown dog called Rex.") for each in (another_replica(gm), gm)]
    shown = [{each.feature: each.value for each in outcome.attention} for outcome in found]
    assert shown[0]["mentioned"] == shown[1]["mentioned"] == 1.0
    assert shown[0]["novelty"] < 0.5


async def test_a_memory_of_a_turn_is_tentative_until_it_is_consolidated(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, TOLD)
    (tentative,) = await held(gm, ann.session)
    assert (tentative.consolidated, tentative.gravity, tentative.strength) == (False, 0.5, 0.25)
    assert await consolidate(gm, ann.who) == (1, 1)
    (kept,) = await held(gm, ann.session)
    assert (kept.consolidated, kept.strength) == (True, 0.5)
    assert kept.gravity >= tentative.gravity
    assert await consolidate(gm, ann.who) == (0, 0)
    assert await held(gm, ann.session) == [kept]


async def test_a_turn_says_later_whether_it_was_kept(gm: Graphmem, ann: Pupil) -> None:
    talk = {"t0": TOLD, "t1": "Hello!", "t2": "My sister lives in Bergen."}
    for turn_id, text in talk.items():
        await say(gm, ann, text, turn_id)
    assert await find_kept(gm, ann.who, [*talk]) == (None, None, None)
    await run_jobs(gm, ann.session)
    assert await find_kept(gm, ann.who, [*talk]) == (None, None, None)
    thoughts, _ = await list_waiting(gm.graph, ann.who, 50, None)
    verdicts = [replace(verdict(each, [each.at.timestamp()]), consolidated=each is thoughts[0]) for each in thoughts]
    await save_verdicts(gm.graph, ann.who, verdicts, gm.clock())
    assert await find_kept(gm, ann.who, ["t2", "t1", "t0", "t2", "none"]) == (False, None, True, False, None)


async def test_nothing_is_formed_from_the_companions_words_or_from_what_was_recalled(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, TOLD, reply="Marmalade crocodiles juggle saxophones in Reykjavik every Thursday.")
    await told(gm, ann, "Yes, she did so.", reply="Your uncle Ferdinand collects zeppelins, does he not?")
    await told(gm, ann, "What did my sister Ada do, and where does she live now?")
    texts = " ".join(await contents(gm, ann.session))
    for word in ("Marmalade", "Reykjavik", "Ferdinand", "zeppelins"):
        assert word not in texts
    assert texts.count("moved to Lisbon") == 1
    replies = [memory.content for memory in await held(gm, ann.session) if memory.speaker is not None]
    assert replies == []


# The same again


async def test_the_same_message_again_reinforces_and_makes_no_copy(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, TOLD, turn_id="t1")
    (once,) = await held(gm, ann.session)
    await told(gm, ann, TOLD.upper().replace("  ", " "), turn_id="t2")
    (twice,) = await held(gm, ann.session)
    assert twice.id == once.id
    assert twice.reinforcement_count == 1
    assert twice.strength > once.strength
    assert twice.confidence > once.confidence
    assert twice.last_reinforced_at is not None
    assert set(twice.source_refs) == {"t1", "t2"}
    read = await memories.list_sources(gm.graph, ann.who, [twice.id, "memory-nobody-has"])
    assert [source.ref for source in read[twice.id]] == ["t1", "t2"]
    assert read["memory-nobody-has"] == []


async def test_the_same_message_sixty_times_is_one_memory(gm: Graphmem, ann: Pupil) -> None:
    at = datetime(2026, 1, 5, 9, tzinfo=UTC)
    said = [await say(gm, ann, TOLD, f"t{i}", at=at + i * timedelta(seconds=30)) for i in range(60)]
    assert [job.kind for outcome in said for job in outcome.jobs].count("form") == 60
    assert await run_jobs(gm, ann.session) == 60
    # Only the first time it surprises.
    assert [node["id"] for node in await nodes(gm, ann.who, "Memory") if node["role"] in OF_A_SITTING] == ["episode-1"]
    (memory,) = await held(gm, ann.session)
    assert memory.reinforcement_count == 59
    assert len(memory.source_refs) == 60
    assert memory.strength <= 1
    assert memory.confidence <= 1
    assert memory.gravity <= 1
    keys = [entity["key"] for entity in await nodes(gm, ann.who, "Entity")]
    assert len(keys) == len(set(keys))


async def test_what_was_used_is_not_forgotten_when_it_is_said_again(gm: Graphmem, ann: Pupil) -> None:
    """Reinforcing rests on what this process holds; being used is counted in the graph alone."""
    await told(gm, ann, TOLD)
    await say(gm, ann, "One.")
    await say(gm, ann, "Two.")
    await say(gm, ann, "Three.")
    await say(gm, ann, "Where did my sister Ada move with her horse Bella?")
    (used,) = [m for m in await held(gm, ann.session) if as_said(m) == TOLD]
    assert used.access_count == 1
    await told(gm, ann, TOLD)
    (again,) = [m for m in await held(gm, ann.session) if as_said(m) == TOLD]
    assert again.reinforcement_count == 1
    assert again.access_count >= 1
    assert again.gravity >= used.gravity - 0.001


async def test_other_numbers_or_a_negation_say_something_else(gm: Graphmem, ann: Pupil) -> None:
    texts = ("I have 3 pet rabbits at home.", "I have 4 pet rabbits at home.", "I don't have 3 pet rabbits at home.")
    for text in texts:
        await told(gm, ann, text)
    assert len(await held(gm, ann.session)) >= 2


# Once, whoever does the work and however often


async def test_a_job_that_two_workers_took_takes_effect_once(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, TOLD)
    now = gm.clock()
    (slow,) = await jobs.claim(gm.graph, ann.session, [Kind.FORM], 1, now + timedelta(seconds=10), now)
    later = another_replica(gm, clock=lambda: now + timedelta(seconds=11))
    assert await run_jobs(another_replica(gm, clock=lambda: now), ann.session) == 0
    assert await run_jobs(later, ann.session) == 1
    before = await nodes(gm, ann.who, "Memory"), await nodes(gm, ann.who, "Entity")
    assert await form_messages(gm, ann.session, [slow]) == 0
    assert (await nodes(gm, ann.who, "Memory"), await nodes(gm, ann.who, "Entity")) == before
    assert len(await formed(gm, ann.who)) == 1
    found = await nodes(gm, ann.who, "Job")
    assert [(job["kind"], job["state"]) for job in found] == [("form", "done")]
    for job in found:
        assert not {"payload", "lease", "lease_until", "error"} & job.keys()


async def test_two_workers_at_once_form_everything_once(gm: Graphmem, ann: Pupil) -> None:
    texts = [
        f"My cousin {name} plays the {thing} in Oslo."
        for name, thing in (("Ida", "cello"), ("Kim", "tuba"), ("Ole", "harp"))
    ]
    for text in texts:
        await say(gm, ann, text)
    workers = [gm, *(another_replica(gm) for _ in range(5))]
    finished = await asyncio.gather(*(run_jobs(worker, ann.session) for worker in workers))
    assert sum(finished) == len(texts)
    episodes = [node for node in await nodes(gm, ann.who, "Memory") if node["role"] in OF_A_SITTING]
    assert len(episodes) >= 1
    assert sorted(await contents(gm, ann.session)) == sorted(texts)


async def test_two_replicas_forming_at_once_lose_and_double_nothing(gm: Graphmem, ann: Pupil) -> None:
    animals = "otter heron newt badger lynx stork weasel toad finch moth".split()  # noqa: SIM905
    said = [
        f"In the forest near Bergen my aunt photographed a {animal} on day {i}." for i, animal in enumerate(animals)
    ]
    await observe(gm, ann.who, observations(said))
    await observe(gm, ann.who, observations([*said[:5], "My aunt Ilse lives in Bergen."], kind=SourceKind.SYSTEM))
    small = [another_replica(gm) for _ in range(3)]

    async def one_by_one(worker: Graphmem) -> None:
        """Jobs taken one at a time, so that the workers come between each other."""
        while claimed := await jobs.claim(
            worker.graph, ann.session, [Kind.OBSERVE], 1, worker.clock() + timedelta(seconds=99), worker.clock()
        ):
            assert await HANDLERS[claimed[0].kind].run(worker, ann.session, claimed) == 1

    await asyncio.gather(*(one_by_one(worker) for worker in small))
    assert sorted(await contents(gm, ann.session)) == sorted([*said, "My aunt Ilse lives in Bergen."])
    reinforced = {as_said(memory) for memory in await held(gm, ann.session) if memory.reinforcement_count == 1}
    assert reinforced == set(said[:5])
    hashes = [node["content_hash"] for node in await nodes(gm, ann.who, "Memory")]
    assert len(hashes) == len(set(hashes))
    assert {job["state"] for job in await nodes(gm, ann.who, "Job")} == {"done"}
    keys = [entity["key"] for entity in await nodes(gm, ann.who, "Entity")]
    assert len(keys) == len(set(keys))


async def test_two_whole_workers_with_many_jobs_finish_them_at_the_first_try(gm: Graphmem, ann: Pupil) -> None:
    said = [f"On day {i} I swam {i + 2} lanes in the lake of Uster." for i in range(50)]
    await observe(gm, ann.who, observations(said))
    finished = await asyncio.gather(*(run_jobs(another_replica(gm), ann.session) for _ in range(3)))
    states = [(job["state"], job["attempts"]) for job in await nodes(gm, ann.who, "Job")]
    assert sum(finished) == 50
    assert set(states) == {("done", 0)}
    assert len(await nodes(gm, ann.who, "Memory")) == 50


async def test_a_crash_after_the_turn_loses_no_memory(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, TOLD)
    now = gm.clock()
    # A worker that took the job and died.
    await jobs.claim(gm.graph, ann.session, [Kind.FORM], 1, now + timedelta(seconds=60), now)
    assert await run_jobs(replica, ann.session) == 0
    late = gm.settings.model_timeout + gm.settings.jobs_lease + 61
    assert await run_jobs(another_replica(gm, clock=lambda: now + timedelta(seconds=late)), ann.session) == 1
    assert await contents(gm, ann.session) == [TOLD]


async def test_a_turn_formed_on_another_replica_is_the_same_memory(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, TOLD)
    assert await run_jobs(replica, ann.session) == 1
    await say(gm, ann, TOLD)
    assert await run_jobs(gm, ann.session) == 1
    (memory,) = await held(gm, ann.session)
    assert memory.reinforcement_count == 1


async def test_closing_the_session_forms_what_was_said(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, TOLD)
    await close_session(gm, ann.session, wait=True)
    assert len(await formed(gm, ann.who)) == 1
    assert {job["state"] for job in await nodes(gm, ann.who, "Job")} == {"done"}
    assert await nodes(gm, ann.who, "Turn") == []


async def test_a_job_with_a_payload_cut_short_is_dead_in_the_end_and_says_why(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, TOLD)
    await changed(gm, ann.who, "MATCH (j:Job {institution: $i, student_id: $s}) SET j.payload = $p", p=b"\x00" * 60)
    now, waited = gm.clock(), 0.0
    for _ in range(5):
        assert await run_jobs(another_replica(gm, clock=lambda: now + timedelta(seconds=waited)), ann.session) == 0  # noqa: B023
        waited += 600
    found = await nodes(gm, ann.who, "Job")
    assert [job["kind"] for job in found] == ["form"]
    for job in found:
        assert (job["state"], job["attempts"]) == ("dead", 5)
        assert "does not open" in job["error"]
    assert await nodes(gm, ann.who, "Memory") == []


# The ledger


async def test_what_must_not_be_forgotten_goes_into_the_ledger_with_its_memory(gm: Graphmem, ann: Pupil) -> None:
    promise = "I promise I will bring the harmonica to Zebediah tomorrow."
    await told(gm, ann, promise, "I owe Mia five euros.")
    kept = {entry.category: entry for entry in await list_entries(gm, ann.session)}
    assert kept.keys() == {LedgerCategory.PROMISE, LedgerCategory.DEBT}
    assert "harmonica" in kept[LedgerCategory.PROMISE].triggers
    assert kept[LedgerCategory.PROMISE].is_active
    linked = await asked(
        gm,
        ann.who,
        """MATCH (:Student {institution: $i, id: $s})-[:KEEPS]->(e:LedgerEntry)-[:CONCERNS]->(m:Memory)
           MATCH (e)-[:FORMED_FROM]->(:Source)<-[:FORMED_FROM]-(m)
           RETURN m.in_ledger AS linked, e.category AS category""",
    )
    assert sorted((row["category"], row["linked"]) for row in linked) == [("debt", True), ("promise", True)]


async def test_what_tells_too_little_for_a_memory_may_still_be_an_entry(gm: Graphmem, ann: Pupil) -> None:
    wish = "Remind me at the end of each lesson to write down my homework."
    await told(gm, ann, wish, "Thanks! See you tomorrow.", "12 + 3 = 15", "lol")
    (entry,) = await list_entries(gm, ann.session, active=True)
    assert (entry.content, entry.given_by) == (wish, SourceKind.CHAT)
    assert await contents(gm, ann.session) == [wish]
    assert entry in (await context(gm, ann.session, "What did I forget to write down?")).ledger


async def test_a_promise_said_again_is_one_entry_and_a_settled_one_stays_settled(gm: Graphmem, ann: Pupil) -> None:
    promise = "I promise I will bring the harmonica to Zebediah tomorrow."
    await told(gm, ann, promise)
    (entry,) = await list_entries(gm, ann.session)
    await told(gm, ann, promise)
    assert [e.id for e in await list_entries(gm, ann.session)] == [entry.id]
    await settle_entry(gm, ann.session, entry.id)
    await told(gm, ann, promise)
    (settled,) = await list_entries(gm, ann.session)
    assert not settled.is_active


async def test_an_instruction_replaces_the_one_before_it_and_can_come_back(gm: Graphmem, ann: Pupil) -> None:
    async def active() -> list[str | None]:
        return [e.content for e in await list_entries(gm, ann.session, active=True)]

    await told(gm, ann, "Please call me Kate.")
    assert [each and "Kate" in each for each in await active()] == [True]
    await told(gm, ann, "Call me Kit from now on.")
    assert [each and "Kit" in each for each in await active()] == [True]
    await told(gm, ann, "Please call me Kate.")
    assert [each and "Kate" in each for each in await active()] == [True]


@pytest.mark.parametrize("text", ["Please forget that I'm allergic to peanuts.", "That's not true."])
async def test_what_is_taken_back_ends_its_ledger_entry(gm: Graphmem, ann: Pupil, text: str) -> None:
    await told(gm, ann, "I'm allergic to peanuts.")
    (entry,) = await list_entries(gm, ann.session, active=True)
    await told(gm, ann, text)
    (ended,) = await list_entries(gm, ann.session)
    assert (ended.id, ended.is_active) == (entry.id, False)


async def test_an_entry_is_of_the_time_it_was_said(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, "I'm allergic to peanuts.")
    (entry,) = await list_entries(gm, ann.session)
    (memory,) = [m for m in await held(gm, ann.session) if m.in_ledger]
    assert entry.created_at == memory.timestamp


# With a language model


async def test_a_language_model_forms_memories_that_point_into_the_message(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await say(talking, ann, TOLD)
            before = len(server.seen)
            assert await run_jobs(talking, ann.session) == 1
            assert len(server.seen) == before + 1
            assert len(asks(server, "notes")) == 1
    (memory,) = await held(gm, ann.session)
    assert memory.content == f"The student wrote: {TOLD}"
    # How important it is the model has said: the end of the talk weighs it no more.
    assert (memory.importance, memory.consolidated) == (0.5, True)
    assert await consolidate(gm, ann.who) == (0, 0)
    (span,) = await asked(
        gm,
        ann.who,
        """MATCH (m:Memory {institution: $i, student_id: $s})-[f:FORMED_FROM]->() WHERE m.id = $id
           RETURN f.start AS start, f.end AS end""",
        id=memory.id,
    )
    assert TOLD[span["start"] : span["end"]] == TOLD
    (student,) = await asked(gm, ann.who, "MATCH (s:Student {institution: $i, id: $s}) RETURN s.calls AS calls")
    assert student["calls"] == 2


async def test_while_the_language_model_is_away_formation_waits(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphmem.llm.fallback.MODEL_PAUSE", 0.0)
    with llm_server() as server:
        async with with_model(gm, server, failures=100) as talking:
            await say(talking, ann, TOLD)
            server.act(Act(status=503))
            now = gm.clock()
            assert await run_jobs(another_replica(talking, clock=lambda: now), ann.session) == 0
            assert await nodes(gm, ann.who, "Memory") == []
            found = await nodes(gm, ann.who, "Job")
            # Away is no attempt.
            assert [(job["kind"], job["state"], job["attempts"]) for job in found] == [("form", "waiting", 0)]
            assert all("payload" in job for job in found)
            later = another_replica(talking, clock=lambda: now + timedelta(seconds=FIRST_WAIT + 1))
            assert await run_jobs(later, ann.session) == 1
    assert len(await formed(gm, ann.who)) == 1


async def test_where_the_language_model_answers_nonsense_rules_read_the_message(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server, failures=100) as talking:
            await say(talking, ann, TOLD)
            server.act(*[Act(content="no JSON at all")] * 4)
            assert await run_jobs(talking, ann.session) == 1
            assert len(asks(server, "notes")) == 2
    assert await contents(gm, ann.session) == [TOLD]
    found = await asked(
        gm,
        ann.who,
        "MATCH (:Memory {institution: $i, student_id: $s})-[r:INVOLVES]->() RETURN DISTINCT r.inferred_by AS by",
    )
    assert [row["by"] for row in found] == ["offline"]


async def test_a_turn_does_not_wait_for_formation(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await say(talking, ann, TOLD)
            server.act(Act(until=(gate := threading.Event())))
            forming = asyncio.create_task(run_jobs(talking, ann.session))
            await requested(server, 2)
            assert (await say(talking, ann, "So it is 42?")).reply
            assert not forming.done()
            gate.set()
            assert await forming >= 1
    assert len(await nodes(gm, ann.who, "Memory")) >= 1


# What is read


async def test_a_message_is_read_once_by_its_turn_and_not_again_to_form_memories(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    analyse = gm.reader._network.analyse

    def counted(text: str, *told: Tell) -> MessageAnalysis:
        read.append(text)
        return analyse(text, *told)

    monkeypatch.setattr(gm.reader._network, "analyse", counted)
    await say(gm, ann, TOLD)
    assert read.count(TOLD) == 1
    assert await run_jobs(gm, ann.session) == 1
    assert await contents(gm, ann.session) == [TOLD]
    assert read.count(TOLD) == 1


async def test_an_answer_of_a_word_is_remembered_by_the_question_it_answers(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "manhattan", opener="Hello! Where do you live?")
    await run_jobs(gm, ann.session)
    (memory,) = await held(gm, ann.session)
    assert (memory.content, memory.before) == ("manhattan", "Hello! Where do you live?")
    asked = await say(gm, ann, "Where do I live?")
    assert "“manhattan”" in asked.reply


async def test_what_is_told_beside_a_question_or_praise_is_remembered(gm: Graphmem, ann: Pupil) -> None:
    for turn, text in enumerate(("i have a cat, how about you?", "can we draw next time, i like drawing comics")):
        # As a whole it seems to tell nothing.
        (read,) = await gm.reader.read([text])
        assert read.passes == 0
        await told(gm, ann, text, f"t{turn}")
    assert [memory.content for memory in await held(gm, ann.session)] == [
        "i have a cat",
        "can we draw next time, i like drawing comics",
    ]
