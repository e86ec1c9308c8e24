"""Observations: noted once, sealed, and formed while the session runs."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput, NotFound, RateLimited
from graphmem.flows.observation import observe
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import (
    SourceKind,
    Who,
)
from graphmem.store import jobs, memories
from graphmem.validation import PAGE_SIZE
from tests.conftest import Enrol, Pupil, say
from tests.support.remembering import TOLD, again_open, as_said, contents, held, nodes, observations, told


async def test_an_observation_is_formed_while_the_session_runs(gm: Graphmem, ann: Pupil) -> None:
    (source,) = await observe(gm, ann.who, observations([TOLD], kind=SourceKind.CHAT, speaker="Julia"))
    assert (source.kind, source.ref) == (SourceKind.CHAT, "r0")
    assert await run_jobs(gm, ann.session) == 1
    (memory,) = await held(gm, ann.session)
    assert (as_said(memory), memory.speaker, memory.source_refs) == (TOLD, "Julia", ("r0",))
    assert (memory.surprise, memory.surprise_level, memory.consolidated) == (None, None, True)
    (node,) = await nodes(gm, ann.who, "Memory")
    assert not {"speaker", "before"} & node.keys()


async def test_what_is_observed_of_a_locked_student_is_formed_in_the_next_session(gm: Graphmem, ann: Pupil) -> None:
    await close_session(gm, ann.session, wait=True)
    (source,) = await observe(gm, ann.who, observations([TOLD], kind=SourceKind.TEACHER))
    (job,) = await nodes(gm, ann.who, "Job")
    assert b"Lisbon" not in job["payload"]
    assert await run_jobs(gm, ann.session) == 0
    assert await nodes(gm, ann.who, "Memory") == []
    opened = await again_open(gm, ann)
    assert await run_jobs(gm, opened.session) == 1
    (memory,) = await held(gm, opened.session)
    assert as_said(memory) == TOLD
    assert memory.source_kind is SourceKind.TEACHER
    assert [s.id for s in (await memories.list_sources(gm.graph, ann.who, [memory.id]))[memory.id]] == [source.id]


async def test_the_same_kind_and_ref_is_the_same_observation(gm: Graphmem, ann: Pupil) -> None:
    once = await observe(gm, ann.who, observations([TOLD]))
    again = await observe(gm, ann.who, observations(["Something else that nobody said of the moon landing."]))
    assert once == again
    other = await observe(gm, ann.who, observations([TOLD], kind=SourceKind.PROMPT_RUN))
    assert other != once
    assert await run_jobs(gm, ann.session) == 2
    assert await observe(gm, ann.who, observations([TOLD])) == once
    assert await run_jobs(gm, ann.session) == 0
    assert await contents(gm, ann.session) == [TOLD]


async def test_one_batch_may_name_a_ref_twice(gm: Graphmem, ann: Pupil) -> None:
    (first, second) = [replace(o, ref="r") for o in observations([TOLD, "My favourite colour is teal."])]
    found = await observe(gm, ann.who, [first, second])
    assert len(found) == 2
    assert found[0] == found[1]
    assert await run_jobs(gm, ann.session) == 1
    assert await contents(gm, ann.session) == [TOLD]


async def test_the_same_observation_at_once_on_two_replicas_is_noted_once(
    gm: Graphmem, replica: Graphmem, ann: Pupil
) -> None:
    found = await asyncio.gather(*(observe((gm, replica)[i % 2], ann.who, observations([TOLD])) for i in range(20)))
    assert all(each == found[0] for each in found)
    assert len(await nodes(gm, ann.who, "Source")) == len(await nodes(gm, ann.who, "Job")) == 1


async def test_a_remark_of_a_turns_name_is_no_turn(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, TOLD, turn_id="r0")
    (source,) = await observe(gm, ann.who, observations(["My favourite colour is teal."], kind=SourceKind.CHAT))
    assert source.ref == "r0"
    assert await run_jobs(gm, ann.session) == 1
    assert set(await contents(gm, ann.session)) == {TOLD, "My favourite colour is teal."}


async def test_the_same_ref_of_another_student_is_another_observation(gm: Graphmem, ann: Pupil, enrol: Enrol) -> None:
    bob = await enrol("bob")
    for pupil in (ann, bob):
        await observe(gm, pupil.who, observations([f"{pupil.who.student_id.capitalize()} sailed to Corsica in June."]))
        await run_jobs(gm, pupil.session)
    assert await contents(gm, ann.session) == ["Ann sailed to Corsica in June."]
    assert await contents(gm, bob.session) == ["Bob sailed to Corsica in June."]


async def test_an_observation_moved_to_another_student_does_not_open(gm: Graphmem, ann: Pupil, enrol: Enrol) -> None:
    bob = await enrol("bob")
    await observe(gm, ann.who, observations([TOLD]))
    await observe(gm, bob.who, observations(["My favourite colour is teal."]))
    await gm.graph.execute(
        """MATCH (a:Job {institution: $i, student_id: 'ann'}), (b:Job {institution: $i, student_id: 'bob'})
           SET b.payload = a.payload""",
        {"i": ann.who.institution},
        reads=False,
    )
    assert await run_jobs(gm, bob.session) == 0
    (job,) = await nodes(gm, bob.who, "Job")
    assert "does not open" in job["error"]
    assert await nodes(gm, bob.who, "Memory") == []


async def test_nobody_observes_an_unknown_student(gm: Graphmem, ann: Pupil) -> None:
    nobody = Who(ann.who.institution, "nobody")
    for given in ([], observations([TOLD])):
        with pytest.raises(NotFound):
            await observe(gm, nobody, given)
    assert await nodes(gm, nobody, "Source") == []
    assert await observe(gm, ann.who, []) == []


async def test_too_many_observations_at_once_are_refused_and_none_is_noted(gm: Graphmem, ann: Pupil) -> None:
    most = PAGE_SIZE
    with pytest.raises(InvalidInput):
        await observe(gm, ann.who, observations(["My favourite colour is teal."] * (most + 1)))
    assert await nodes(gm, ann.who, "Source") == []
    found = await observe(gm, ann.who, observations([f"I collected {i} shells in Brittany." for i in range(most)]))
    assert [source.ref for source in found] == [f"r{i}" for i in range(most)]


@pytest.mark.parametrize(
    "change",
    [
        {"text": ""},
        {"text": "x" * 32_001},
        {"text": "a\x00b"},
        {"text": "half \ud800"},
        {"ref": ""},
        {"ref": "x" * 129},
        {"ref": "a\nb"},
        {"speaker": ""},
        {"speaker": "x" * 101},
        {"speaker": "a\x1bb"},
        {"at": datetime(2026, 1, 5)},  # noqa: DTZ001
        {"at": datetime(2999, 1, 5, tzinfo=UTC)},
        {"at": datetime(1, 1, 1, tzinfo=UTC)},
    ],
)
async def test_one_bad_observation_refuses_them_all(gm: Graphmem, ann: Pupil, change: dict[str, Any]) -> None:
    good, bad = observations([TOLD, "My favourite colour is teal."])
    with pytest.raises(InvalidInput):
        await observe(gm, ann.who, [good, replace(bad, **change)])
    assert await nodes(gm, ann.who, "Source") == []
    assert await nodes(gm, ann.who, "Job") == []


async def test_what_was_observed_just_before_is_the_context_of_what_follows(gm: Graphmem, ann: Pupil) -> None:
    first, second = observations(["Did you see the aurora over Tromso?", "I saw it with Sigrid at the harbour."])
    far = replace(second, ref="far", text="I repaired the clock of my grandfather.", at=second.at + timedelta(days=1))
    await observe(gm, ann.who, [first, second, far])
    await run_jobs(gm, ann.session)
    before = {as_said(memory): memory.before for memory in await held(gm, ann.session)}
    assert before["I saw it with Sigrid at the harbour."] == "Did you see the aurora over Tromso?"
    assert before["I repaired the clock of my grandfather."] == ""


def small(gm: Graphmem, **limits: float) -> Graphmem:
    return replace(gm, settings=gm.settings.model_copy(update=limits))


async def state(gm: Graphmem, who: Who) -> list[dict[str, Any]]:
    """Everything that the graph holds of a student."""
    query = (
        "MATCH (n) WHERE n.institution = $i RETURN labels(n) AS labels, properties(n) AS values ORDER BY elementId(n)"
    )
    return await gm.graph.execute(query, {"i": who.institution}, reads=True)


async def test_more_waiting_jobs_than_allowed_are_refused_and_nothing_is_written(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphmem.flows.observation.JOBS_WAITING", 3)
    narrow = gm
    told = observations(["I like teal.", "I like green.", "I like brown.", "I like beige."])
    noted = await observe(narrow, ann.who, told[:3])
    before = await state(gm, ann.who)
    with pytest.raises(RateLimited):
        await observe(narrow, ann.who, told[2:])
    assert await state(gm, ann.who) == before
    assert await observe(narrow, ann.who, told[:3]) == noted
    assert await run_jobs(gm, ann.session) == 3
    assert len(await observe(narrow, ann.who, told[2:])) == 2


async def test_observations_at_once_never_exceed_what_may_wait(
    gm: Graphmem, replica: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphmem.flows.observation.JOBS_WAITING", 5)
    narrow = [gm, replica]
    one = observations([TOLD])[0]
    noted = await asyncio.gather(
        *(observe(narrow[i % 2], ann.who, [replace(one, ref=f"r{i}")]) for i in range(12)), return_exceptions=True
    )
    assert sum(isinstance(each, RateLimited) for each in noted) == 7
    assert len(await nodes(gm, ann.who, "Source")) == len(await nodes(gm, ann.who, "Job")) == 5


async def test_closing_takes_little_time_and_what_is_not_formed_waits_for_the_next_session(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphmem.jobs.sessions.CLOSE_SECONDS", 0.2)
    texts = [f"I collected {i} shells in Brittany with my aunt Ilse in {1800 + i}." for i in range(60)]
    await observe(gm, ann.who, observations(texts))
    start = monotonic()
    await close_session(gm, ann.session, wait=True)
    assert monotonic() - start < 5.0
    waiting = [job for job in await nodes(gm, ann.who, "Job") if job["state"] == "waiting"]
    assert waiting
    assert not any("lease_until" in job for job in waiting)
    formed = await run_jobs(gm, (await again_open(gm, ann)).session)
    assert formed == len(waiting)
    assert not [source for source in await nodes(gm, ann.who, "Source") if "formed_at" not in source]


async def test_whoever_is_stopped_while_taking_jobs_gives_them_back(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    await observe(gm, ann.who, observations([TOLD]))
    taken, claim = asyncio.Event(), jobs.claim

    async def claim_and_answer_late(*args: Any, **kwargs: Any) -> list[jobs.Claimed]:
        claimed = await claim(*args, **kwargs)
        taken.set()
        await asyncio.sleep(1.0)
        return claimed

    monkeypatch.setattr(jobs, "claim", claim_and_answer_late)
    running = asyncio.create_task(run_jobs(gm, ann.session))
    await taken.wait()
    assert "lease_until" in (await nodes(gm, ann.who, "Job"))[0]
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (job,) = await nodes(gm, ann.who, "Job")
    assert job["state"] == "waiting"
    assert "lease_until" not in job
    monkeypatch.undo()
    assert await run_jobs(gm, ann.session) == 1


async def test_a_remark_and_a_turn_may_bear_the_same_name(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    remarks = [replace(each, ref="turn-1") for each in observations([TOLD], kind=SourceKind.CHAT)]
    (source,) = await observe(gm, ann.who, remarks)
    assert (source.kind, source.ref) == (SourceKind.CHAT, "turn-1")
    for each in (gm, replica):
        outcome = await say(each, ann, "My favourite colour is teal.", "turn-1")
        assert outcome.repeated is (each is replica)
    assert await observe(gm, ann.who, remarks) == [source]
    await run_jobs(gm, ann.session)
    assert set(await contents(gm, ann.session)) == {TOLD, "My favourite colour is teal."}
    by_id = {m.id: as_said(m) for m in await held(gm, ann.session)}
    sources = await memories.list_sources(gm.graph, ann.who, list(by_id))
    found = {by_id[memory_id]: own for memory_id, own in sources.items()}
    assert found[TOLD] == [source]
    assert found["My favourite colour is teal."][0].kind is SourceKind.CHAT
    assert found["My favourite colour is teal."][0].id != source.id


@pytest.mark.parametrize("formed", [True, False])
async def test_remarks_that_were_noted_with_the_kind_of_turns_go_on(gm: Graphmem, ann: Pupil, formed: bool) -> None:
    remarks = observations([TOLD], kind=SourceKind.CHAT)
    (source,) = await observe(gm, ann.who, remarks)
    change = "MATCH (s:Source {institution: $i, kind: 'remark'}) SET s.kind = 'chat' RETURN s.id AS id"
    assert await gm.graph.execute(change, {"i": ann.who.institution}, reads=False) == [{"id": source.id}]
    if formed:
        assert await run_jobs(gm, ann.session) == 1
    assert await observe(gm, ann.who, remarks) == [source]
    assert await run_jobs(gm, ann.session) == (0 if formed else 1)
    assert await contents(gm, ann.session) == [TOLD]
    assert len(await nodes(gm, ann.who, "Source")) == 1
