"""Background work on the real database and a real model server: at least once, effects once, never lost."""

import asyncio
import logging
import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import httpx
import pytest

from graphmem.app import Graphmem
from graphmem.bearer import make_token
from graphmem.errors import BudgetExceeded, Conflict, InvalidInput, NotFound
from graphmem.flows import students
from graphmem.flows.budget import most
from graphmem.flows.facts import list_facts
from graphmem.flows.observation import observe
from graphmem.jobs.dispatch import run_due_jobs, start_jobs
from graphmem.jobs.health import count_jobs, list_jobs, retry_job, spent, spent_by_kind
from graphmem.jobs.runner import FIRST_WAIT, HANDLERS, JOB_KINDS, TALK_PAUSE, JobHandler, failure, lease, run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.jobs.sweeper import sweep
from graphmem.model import Fact, JobState, Role, Session, SourceKind, TurnOutcome, Usage
from graphmem.store import jobs
from graphmem.store.changes import Changes, Origin, write
from graphmem.store.jobs import Kind
from graphmem.store.students import delete_old
from tests.conftest import PASSWORD, Enrol, Pupil, another_replica, say, served
from tests.support.client import TURN, Client
from tests.support.language import EXPECTED, UNEXPECTED, asked, remembering, surprise, with_model
from tests.support.llm_server import Act, llm_server
from tests.support.remembering import TOLD, held, observations, turn_state_of

SWIMS = [f"On day {i} I swam {i + 2} lanes in Uster." for i in range(7)]
BETTER = "Speaks of submarines, ferdinand, thunder when sums are asked for."


class Clock:
    """A clock that a test moves."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


async def surprised(gm: Graphmem, pupil: Pupil) -> TurnOutcome:
    """Two turns, of which the second violates what was expected; its job alone is left, which remembers it."""
    outcome = await surprise(gm, pupil)
    others = "MATCH (job:Job {institution: $i, student_id: $s}) WHERE job.id <> $id DELETE job"
    params = {"i": pupil.who.institution, "s": pupil.who.student_id, "id": "form-2"}
    await gm.graph.execute(others, params, reads=False)
    return outcome


async def job_of(gm: Graphmem, pupil: Pupil) -> dict[str, Any]:
    """The job that remembers the surprising message."""
    find = "MATCH (job:Job {institution: $i, student_id: $s, id: 'form-2'}) RETURN properties(job) AS job"
    params = {"i": pupil.who.institution, "s": pupil.who.student_id}
    (row,) = await gm.graph.execute(find, params, reads=True)
    found: dict[str, Any] = row["job"]
    return found


async def fact_of(gm: Graphmem, session: Session) -> Fact:
    """The fact that a job has learned."""
    (fact,) = [fact for fact in await list_facts(gm, session, 10) if fact.id == "fact-t2"]
    return fact


async def totals(gm: Graphmem, pupil: Pupil) -> dict[str, Any]:
    find = """MATCH (s:Student {institution: $i, id: $s}) RETURN s.calls AS calls, s.input_tokens AS input_tokens,
              s.output_tokens AS output_tokens, s.version AS version"""
    params = {"i": pupil.who.institution, "s": pupil.who.student_id}
    (row,) = await gm.graph.execute(find, params, reads=True)
    return row


async def test_a_job_remembers_a_message_and_what_it_taught(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            outcome = await surprised(talking, ann)
            assert outcome.fact is None
            assert (await job_of(gm, ann))["state"] == "waiting"
            before = await totals(gm, ann)
            assert await run_jobs(talking, ann.session) == 1
    fact = await fact_of(gm, ann.session)
    assert (fact.seq, fact.text, fact.created_at) == (1, BETTER, outcome.at)
    assert 1 <= len(fact.tags) <= 5
    job = await job_of(gm, ann)
    assert (job["state"], job["attempts"]) == ("done", 0)
    assert not {"payload", "lease", "lease_until", "error"} & job.keys()
    (asked,) = remembering(server)
    assert UNEXPECTED in asked.question
    assert EXPECTED in asked.question
    after = await totals(gm, ann)
    assert after["calls"] == before["calls"] + 1
    assert after["input_tokens"] > before["input_tokens"]
    assert after["output_tokens"] > before["output_tokens"]


async def test_what_is_held_in_memory_is_kept_in_step(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await surprised(talking, ann)
            other = another_replica(talking)
            await say(other, ann, EXPECTED)
            await run_jobs(other, ann.session)
            held = turn_state_of(other, ann)
            assert held.state.version == (await totals(gm, ann))["version"]
            assert [f.id for f in held.facts] == [f.id for f in await list_facts(gm, ann.session, 10)] != []
            for each in (other, talking):
                # A fact is not recalled while the words it was learned from stand in the conversation.
                await say(each, ann, "My uncle Ferdinand likes purple submarines and thunder.")
                held = turn_state_of(each, ann)
                assert held.state.version == (await totals(gm, ann))["version"]
                assert [f.id for f in held.facts] == [f.id for f in await list_facts(gm, ann.session, 10)] != []


async def test_a_turn_at_the_same_time_does_not_lose_what_a_job_cost(
    gm: Graphmem, replica: Graphmem, ann: Pupil
) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await surprised(talking, ann)
            server.act(Act(until=(gate := threading.Event())))
            other = asyncio.create_task(say(talking, ann, "So it is 42?"))
            await asked(server, 3)
            assert await run_jobs(another_replica(talking), ann.session) == 1
            gate.set()
            outcome = await other
    assert outcome.usage.calls == 1
    assert (await totals(gm, ann))["calls"] == len(server.seen) == 4
    assert BETTER in [f.text for f in await list_facts(gm, ann.session, 10)]


async def test_two_workers_at_once_take_effect_once(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await surprised(talking, ann)
            before = await totals(gm, ann)
            workers = [another_replica(talking) for _ in range(6)]
            finished = await asyncio.gather(*(run_jobs(worker, ann.session) for worker in workers))
    assert sum(finished) == 1
    assert len(remembering(server)) == 1
    after = await totals(gm, ann)
    assert after["calls"] == before["calls"] + 1
    assert after["version"] == before["version"] + 1


async def test_what_a_worker_writes_after_its_lease_ran_out_has_no_effect(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await surprised(talking, ann)
            clock = Clock(gm.clock())
            lease = clock() + timedelta(seconds=10)
            (slow,) = await jobs.claim(gm.graph, ann.session, [Kind.FORM], 1, lease, clock())
            later = another_replica(talking, clock=clock)
            assert await run_jobs(later, ann.session) == 0
            clock.wait(11)
            assert await run_jobs(later, ann.session) == 1
            before = await totals(gm, ann)
            work = jobs.opened_payload(ann.session, slow)
            spent = Usage(calls=1)
            done = jobs.Finished(slow, spent, gm.settings.facts_kept)
            wrong = (Fact("fact-t2", 0, "Likes nothing.", ("x",), work.at),)
            changes = Changes(None, "slow", wrong, Origin(SourceKind.CHAT, work.turn_id))
            assert await write(gm.graph, ann.session, changes, clock(), done) is None
            late = failure(slow.attempts, "too slow", clock())
            assert not await jobs.postpone(gm.graph, ann.session, slow, late, spent, clock())
    assert (await fact_of(gm, ann.session)).text == BETTER
    assert (await totals(gm, ann))["calls"] == before["calls"]


async def test_while_the_model_is_away_jobs_wait_however_long(
    gm: Graphmem, ann: Pupil, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "graphmem")
    with llm_server(then=Act(status=500)) as server:
        async with with_model(gm, server, failures=1000) as talking:
            for text in SWIMS[:6]:
                assert (await say(talking, ann, text)).degraded
            clock = Clock(gm.clock())
            later = another_replica(talking, clock=clock)
            # Twelve minutes of 500s.
            for _ in range(24):
                await run_jobs(later, ann.session)
                clock.wait(30)
            listed = (await list_jobs(gm, ann.who.institution, "ann", None, 20, None)).items
            found = [job for job in listed if job.kind == "form"]
            assert len(found) == 6
            assert {(job.state.value, job.attempts) for job in found} == {("waiting", 0)}
            assert any("HTTP status 500" in (job.error or "") for job in found)
            server.recover()
            await run_jobs(later, ann.session)
            texts = {memory.quote or memory.content for memory in await held(gm, ann.session)}
            assert {text.rstrip(".") for text in SWIMS[:6]} <= {(text or "").rstrip(".") for text in texts}
            by = "MATCH (:Memory {institution: $i})-[r]->(:Memory) RETURN DISTINCT r.inferred_by AS by"
            rows = await gm.graph.execute(by, {"i": ann.who.institution}, reads=True)
            assert "offline" not in {row["by"] for row in rows}
    assert "lanes" not in caplog.text


async def test_a_job_that_fails_is_tried_again_later_and_is_dead_in_the_end(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    async def failing(_gm: Graphmem, _session: Session, _group: Sequence[jobs.Claimed]) -> int:
        tries.append(1)
        raise KeyError

    monkeypatch.setitem(cast(Any, HANDLERS), Kind.OBSERVE, JobHandler(failing, 1))
    await observe(gm, ann.who, observations(SWIMS[:1]))
    clock = Clock(gm.clock())
    later = another_replica(gm, clock=clock)
    for attempt in range(1, 6):
        assert await run_jobs(later, ann.session) == 0
        assert len(tries) == attempt
        (job,) = (await list_jobs(gm, ann.who.institution, "ann", None, 10, None)).items
        assert job.attempts == attempt
        clock.wait(FIRST_WAIT * 2 ** (attempt - 1) - 1)
        await run_jobs(later, ann.session)
        assert len(tries) == attempt
        clock.wait(1)
    assert job.state.value == "dead"
    clock.wait(3000)
    assert await run_jobs(later, ann.session) == 0
    assert len(tries) == 5


async def test_a_job_whose_payload_was_tampered_with_dies_and_says_why(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await surprised(talking, ann)
            cut = "MATCH (job:Job {institution: $i, kind: 'form'}) SET job.payload = $cut"
            await gm.graph.execute(cut, {"i": ann.who.institution, "cut": b"\x00" * 60}, reads=False)
            clock = Clock(gm.clock())
            for _ in range(5):
                await run_jobs(another_replica(talking, clock=clock), ann.session)
                clock.wait(600)
    job = await job_of(gm, ann)
    assert job["state"] == "dead"
    assert "does not open" in job["error"]
    assert remembering(server) == []


@pytest.mark.usefixtures("nobody_else")
async def test_the_sweeper_runs_jobs_of_open_sessions_and_the_others_wait(
    gm: Graphmem, ann: Pupil, enrol: Enrol
) -> None:
    bob = await enrol("bob")
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            for pupil in (ann, bob):
                await surprised(talking, pupil)
            # Closed while the model is away: what is due is done before a session ends.
            server.act(Act(status=503))
            await close_session(talking, bob.session, wait=True)
            pause = timedelta(seconds=max(FIRST_WAIT, TALK_PAUSE) + 1)
            later = another_replica(talking, clock=lambda: gm.clock() + pause)
            await sweep(later)
            assert (await job_of(gm, ann))["state"] == "done"
            assert (await job_of(gm, bob))["state"] == "waiting"
            _, session = await students.open_session(talking, bob.who, PASSWORD)
            await sweep(later)
    assert (await job_of(gm, bob))["state"] == "done"
    assert (await fact_of(gm, session)).text == BETTER


@pytest.mark.usefixtures("nobody_else")
async def test_one_students_trouble_does_not_stop_the_others(
    gm: Graphmem, ann: Pupil, enrol: Enrol, caplog: pytest.LogCaptureFixture
) -> None:
    bob = await enrol("bob")
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            for pupil in (ann, bob):
                await surprised(talking, pupil)
            spoil = "MATCH (s:OpenSession {institution: $i, student_id: 'ann'}) SET s.token = $token"
            await gm.graph.execute(spoil, {"i": ann.who.institution, "token": b"no token"}, reads=False)
            paused = gm.clock() + timedelta(seconds=TALK_PAUSE + 1)
            await run_due_jobs(another_replica(talking, clock=lambda: paused))
    assert (await job_of(gm, ann))["state"] == "waiting"
    assert (await job_of(gm, bob))["state"] == "done"
    assert "LOCKED" in caplog.text


@pytest.mark.usefixtures("nobody_else")
async def test_a_worker_that_died_is_followed_by_another(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: Any) -> None:
        """Of the dead nothing is given back."""

    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await surprised(talking, ann)
            server.act(Act(hang=True))
            worker = asyncio.create_task(run_jobs(talking, ann.session))
            await asked(server, 3)
            with monkeypatch.context() as dead:
                dead.setattr(jobs, "release", nothing)
                worker.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await worker
            await sweep(talking)
            assert (await job_of(gm, ann))["state"] == "waiting"
            over = lease(talking) + timedelta(seconds=1)
            await sweep(another_replica(talking, clock=lambda: gm.clock() + over))
    assert (await job_of(gm, ann))["state"] == "done"


async def test_a_job_runs_after_the_reply_of_the_api(gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphmem.jobs.runner.TALK_PAUSE", 0.0)
    token = make_token(gm.secret, ann.who.institution, Role.APP, 60, gm.clock())
    with llm_server() as server:
        async with (
            with_model(gm, server) as talking,
            served(talking) as address,
            httpx.AsyncClient(base_url=address, timeout=30) as http,
        ):
            client = Client(http, token, ann.token)
            await client.call(TURN, student="ann", turn="t1", text=EXPECTED)
            await asyncio.gather(*talking.background.tasks)
            server.act(Act(), Act(until=(gate := threading.Event())))
            turn = await client.call(TURN, student="ann", turn="t2", text=UNEXPECTED)
            assert (await job_of(gm, ann))["state"] == "waiting"
            gate.set()
            await asyncio.gather(*talking.background.tasks)
            numbers = (await http.get("/metrics")).text
    assert turn["learnedFact"] is None
    assert (await job_of(gm, ann))["state"] == "done"
    assert (await fact_of(gm, ann.session)).text == BETTER
    # Of turns only: what the job asked is told by `usage`.
    assert 'graphmem_model_tokens_total{direction="input",prompt="respond"}' in numbers
    assert 'prompt="remember"' not in numbers
    spent = await spent_by_kind(gm, ann.who.institution, "ann", None)
    (replied,), (remembered,) = spent["turn"].prompts, spent["form"].prompts
    assert (replied.prompt, replied.calls, replied.input_tokens) == ("respond", 2, spent["turn"].input_tokens)
    assert (remembered.prompt, remembered.calls) == ("remember", 2)


async def test_an_unexpected_error_is_kept_with_its_place_and_without_what_was_said(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def failing(_gm: Graphmem, _session: Session, _group: Sequence[jobs.Claimed]) -> int:
        raise KeyError(SWIMS[0])

    monkeypatch.setitem(cast(Any, HANDLERS), Kind.OBSERVE, JobHandler(failing, 1))
    await observe(gm, ann.who, observations(SWIMS[:1]))
    assert await run_jobs(gm, ann.session) == 0
    (job,) = (await list_jobs(gm, ann.who.institution, "ann", None, 10, None)).items
    assert job.error is not None
    assert re.fullmatch(r"Unexpected KeyError at .*runner\.py:\d+:_run_with > test_jobs\.py:\d+:failing\.", job.error)
    assert job.error in caplog.text
    assert "lanes" not in caplog.text + job.error


async def test_sessions_nobody_can_serve_keep_nobody_else_waiting(gm: Graphmem, ann: Pupil, enrol: Enrol) -> None:
    for student in ("bob", "eve"):
        await say(gm, await enrol(student), "I have a dog called Rex.")
    await say(gm, ann, "I have a cat called Minka.")
    due = await jobs.list_due(gm.graph, JOB_KINDS, gm.clock(), limit=2)
    ours = [who.student_id for who, *_ in due if who.institution == ann.who.institution]
    assert sorted(ours) == ["ann", "bob", "eve"]


# Who runs what, and when


async def test_a_student_is_served_by_one_worker_at_a_time(gm: Graphmem, ann: Pupil) -> None:
    await observe(gm, ann.who, observations(["I have a dog called Rex.", "I have a cat called Minka."]))
    now = gm.clock()
    (held,) = await jobs.claim(gm.graph, ann.session, [Kind.OBSERVE], 1, now + timedelta(seconds=60), now, alone=True)
    assert (
        await jobs.claim(gm.graph, ann.session, [Kind.OBSERVE], 9, now + timedelta(seconds=60), now, alone=True) == []
    )
    assert ann.who not in [who for who, *_ in await jobs.list_due(gm.graph, JOB_KINDS, now)]
    assert await run_jobs(another_replica(gm), ann.session, yield_to_turns=True) == 0
    await jobs.release(gm.graph, ann.session, held.lease, now)
    assert ann.who in [who for who, *_ in await jobs.list_due(gm.graph, JOB_KINDS, now)]
    assert await run_jobs(another_replica(gm), ann.session, yield_to_turns=True) == 2


async def test_a_process_that_ends_gives_back_what_it_has_not_begun(gm: Graphmem, ann: Pupil) -> None:
    await observe(gm, ann.who, observations(SWIMS[:3]))
    ending = another_replica(gm)
    with ending.background.gate.turn():
        running = asyncio.create_task(run_jobs(ending, ann.session, yield_to_turns=True))
        # It has taken the jobs and lets the turn go first.
        while True:
            if await jobs.runs(gm.graph, ann.who, gm.clock()):
                break
            await asyncio.sleep(0.01)
        ending.background.stopping.set()
    assert await running == 0
    assert not await jobs.runs(gm.graph, ann.who, gm.clock())
    assert await run_jobs(gm, ann.session) == 3


async def test_jobs_wait_for_a_quiet_moment_but_not_for_ever(gm: Graphmem, ann: Pupil) -> None:
    patient = gm.settings.model_copy(update={"jobs_quiet": 0.0, "jobs_patience": 3600.0})
    calm = another_replica(gm, settings=patient)
    await observe(gm, ann.who, observations(SWIMS[:1]))
    with calm.background.gate.turn():
        start_jobs(calm, ann.session)
        start_jobs(calm, ann.session)
        await asyncio.sleep(0.2)
        assert len(calm.background.tasks) == 1
        assert await jobs.wait(gm.graph, ann.who)
    await asyncio.gather(*calm.background.tasks)
    assert not await jobs.wait(gm.graph, ann.who)
    hasty = another_replica(calm, settings=patient.model_copy(update={"jobs_patience": 0.1}))
    await observe(gm, ann.who, observations(SWIMS[:2]))
    with hasty.background.gate.turn():
        start_jobs(hasty, ann.session)
        await asyncio.gather(*hasty.background.tasks)
    assert not await jobs.wait(gm.graph, ann.who)


async def test_jobs_asked_about_together_are_run_together(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    async def together(gm: Graphmem, session: Session, group: Sequence[jobs.Claimed]) -> int:
        seen.append(len(group))
        return await usual[Kind.OBSERVE][0](gm, session, group)

    usual = dict(HANDLERS)
    monkeypatch.setitem(cast(Any, HANDLERS), Kind.OBSERVE, JobHandler(together, 2))
    await observe(gm, ann.who, observations(SWIMS[:5]))
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            assert await run_jobs(talking, ann.session) == 5
    assert seen == [2, 2, 1]


# Dead ones, finished ones, late ones


async def dead_job(gm: Graphmem, pupil: Pupil) -> str:
    """A job of a student that has been given up; its id."""
    await observe(gm, pupil.who, observations([TOLD], kind=SourceKind.TEACHER))
    kill = """MATCH (j:Job {institution: $i, student_id: $s, state: 'waiting'})
              SET j.state = 'dead', j.attempts = 5, j.error = 'The language model gave no valid answer.'
              RETURN j.id AS id"""
    params = {"i": pupil.who.institution, "s": pupil.who.student_id}
    (row,) = await gm.graph.execute(kill, params, reads=False)
    return f"{pupil.who.student_id}/{row['id']}"


async def test_a_dead_job_is_started_again(gm: Graphmem, ann: Pupil, enrol: Enrol) -> None:
    ref, institution = await dead_job(gm, ann), ann.who.institution
    assert await run_jobs(gm, ann.session) == 0
    for wrong in (ref.replace("ann", "bob"), "ann/form-9", "form-1", ""):
        with pytest.raises(NotFound):
            await retry_job(gm, institution, wrong)
    with pytest.raises(NotFound):
        await retry_job(gm, f"other-{institution}", ref)
    again = await retry_job(gm, institution, ref)
    assert (again.ref, again.state, again.attempts, again.error) == (ref, JobState.WAITING, 0, None)
    with pytest.raises(Conflict, match="waiting"):
        await retry_job(gm, institution, ref)
    assert await run_jobs(gm, ann.session) == 1


async def test_pages_show_each_job_once_and_nobody_elses(gm: Graphmem, ann: Pupil, enrol: Enrol) -> None:
    bob, institution = await enrol("bob"), ann.who.institution
    noted = observations(SWIMS)
    for pupil in (ann, bob):
        await observe(gm, pupil.who, noted)
    await run_jobs(gm, bob.session)
    now = gm.clock()
    await jobs.claim(gm.graph, ann.session, [Kind.OBSERVE], 2, now + timedelta(seconds=60), now)
    shown, after = [], None
    for _ in range(5):
        page = await list_jobs(gm, institution, None, None, 3, after)
        shown += [job.ref for job in page.items]
        after = page.next
    assert after is None
    assert len(set(shown)) == len(shown) == 14
    assert await count_jobs(gm, institution, None, None) == 14
    states = {state: await count_jobs(gm, institution, "ann", state) for state in JobState}
    listed = {state: len((await list_jobs(gm, institution, "ann", state, 50, None)).items) for state in JobState}
    assert listed == states == {JobState.WAITING: 5, JobState.RUNNING: 2, JobState.DONE: 0, JobState.DEAD: 0}
    for theirs in ((institution, "an"), (f"other-{institution}", None)):
        assert (await list_jobs(gm, theirs[0], theirs[1], None, 50, None)).items == ()
        assert await count_jobs(gm, theirs[0], theirs[1], None) == 0
    for wrong in ("x", "1", ":", "99999999999999999999999:ann/form-1"):
        with pytest.raises(InvalidInput):
            await list_jobs(gm, institution, None, None, 3, wrong)


@pytest.mark.usefixtures("nobody_else")
async def test_finished_jobs_are_deleted_and_what_they_formed_is_not_formed_again(gm: Graphmem, ann: Pupil) -> None:
    noted = observations(SWIMS[:1])
    await observe(gm, ann.who, noted)
    assert await run_jobs(gm, ann.session) == 1
    dead = await dead_job(gm, ann)
    await sweep(gm)
    assert await count_jobs(gm, ann.who.institution, "ann", None) == 2
    await jobs.delete_done(gm.graph, gm.clock(), gm.clock())
    (left,) = (await list_jobs(gm, ann.who.institution, "ann", None, 9, None)).items
    assert left.ref == dead
    await observe(gm, ann.who, noted)
    assert not await jobs.wait(gm.graph, ann.who)


async def test_what_is_old_is_deleted_and_what_is_not_stays(gm: Graphmem, ann: Pupil) -> None:
    make = """CYPHER 25 UNWIND $made AS new
              CREATE (n:$(new[0]) {institution: $i, student_id: $s, id: new[1] + '-' + toString(new[2].year)})
              SET n[new[1]] = CASE new[1] WHEN 'day' THEN date(new[2]) ELSE new[2] END"""
    # Questions and reflections are deleted of students who are there.
    enrolled = "CREATE (:Student {institution: $i, id: $s})"
    kinds_kept = (
        *(("PasswordTry", "at"), ("Usage", "day"), ("StudentBudget", "day"), ("Reservation", "day")),
        *(("Question", "answered_at"), ("Reflection", "created_at"), ("Job", "run_after")),
    )
    years = [datetime(year, 1, 1, tzinfo=UTC) for year in (1999, 2001)]
    for at, student_id in zip(years, ("old", "new"), strict=True):
        made = [[label, name, at] for label, name in kinds_kept]
        await gm.graph.execute(make, {"i": ann.who.institution, "s": student_id, "made": made}, reads=False)
        await gm.graph.execute(enrolled, {"i": ann.who.institution, "s": student_id}, reads=False)
    kill = "MATCH (j:Job {institution: $i}) SET j.state = 'dead'"
    await gm.graph.execute(kill, {"i": ann.who.institution}, reads=False)
    retention = dict.fromkeys(("tries", "usage", "questions", "jobs"), datetime(2000, 1, 1, tzinfo=UTC))
    assert await delete_old(gm.graph, retention, limit=1) == len(kinds_kept)
    assert await delete_old(gm.graph, retention) == 0
    left = """MATCH (n {institution: $i}) WHERE n.student_id IN ['old', 'new'] AND NOT n:ManifestNote
              RETURN n.student_id AS id"""
    rows = await gm.graph.execute(left, {"i": ann.who.institution}, reads=True)
    assert [row["id"] for row in rows] == ["new"] * len(kinds_kept)
    tidy = "MATCH (n {institution: $i}) WHERE n.student_id IN ['old', 'new'] OR n.id IN ['old', 'new'] DETACH DELETE n"
    await gm.graph.execute(tidy, {"i": ann.who.institution}, reads=False)


async def test_the_oldest_job_counts_from_when_it_could_be_run(gm: Graphmem, ann: Pupil) -> None:
    old = "MATCH (j:Job {institution: $i}) SET j.run_after = datetime('2020-01-01T00:00:00Z')"
    await observe(gm, ann.who, observations(SWIMS[:1]))
    await gm.graph.execute(old, {"i": ann.who.institution}, reads=False)
    opened = "MATCH (s:OpenSession {institution: $i}) RETURN s.opened_at AS at"
    (row,) = await gm.graph.execute(opened, {"i": ann.who.institution}, reads=True)
    since = await jobs.find_oldest_due(gm.graph, JOB_KINDS, gm.clock())
    assert since is not None
    # Others may wait in this database, too, but none since 2020.
    assert since <= row["at"].to_native()
    assert since.year > 2020


async def test_health_is_red_when_a_job_waits_too_long(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "I have a dog called Rex.")
    strict = another_replica(gm, settings=gm.settings.model_copy(update={"jobs_late": 0.001}))
    for replica, status in ((strict, 503), (another_replica(gm), 200)):
        async with served(replica) as address, httpx.AsyncClient(base_url=address) as http:
            health = await http.get("/healthz")
            assert health.status_code == status
            assert health.json()["oldest_job_seconds"] > 0
            assert health.json()["broker"] == "memory"


# Budgets


async def test_a_budget_is_never_exceeded_by_workers_at_once(gm: Graphmem, ann: Pupil) -> None:
    limits = jobs.Limits(student_tokens=50_000)
    now = gm.clock()
    wanted = most(0, 1, 0.0, now)
    ids = [f"form-{i}" for i in range(20)]
    given = await asyncio.gather(*(jobs.reserve(gm.graph, ann.who, i, limits, wanted) for i in ids))
    assert sum(given) == 50_000 // wanted.tokens == 5
    fitting = [job_id for job_id, fits in zip(ids, given, strict=True) if fits]
    # A second time changes nothing, be it reserved or released.
    assert all([await jobs.reserve(gm.graph, ann.who, job_id, limits, wanted) for job_id in fitting])
    for _ in range(2):
        await jobs.release_budget(gm.graph, ann.who, fitting[0], now, now)
    more = [await jobs.reserve(gm.graph, ann.who, job_id, limits, wanted) for job_id in ("more-1", "more-2")]
    assert more == [True, False]
    # Another day, another budget; and money counts like tokens.
    tomorrow = replace(wanted, at=now + timedelta(days=1))
    assert await jobs.reserve(gm.graph, ann.who, "form-1", limits, tomorrow)
    dear, dollar = replace(tomorrow, cost=0.6), jobs.Limits(student_cost=1.0)
    assert await jobs.reserve(gm.graph, ann.who, "form-2", dollar, dear)
    assert not await jobs.reserve(gm.graph, ann.who, "form-3", dollar, dear)
    assert await jobs.by_kind(gm.graph, ann.who.institution, "ann", None) == {}


async def test_past_the_budget_memories_are_formed_offline(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server, budget_student_tokens=1) as talking:
            await surprise(talking, ann)
            assert await run_jobs(talking, ann.session) >= 1
            assert server.seen == []
        edges = "MATCH (:Memory {institution: $i})-[r]->(:Memory) RETURN DISTINCT r.inferred_by AS by"
        by = await gm.graph.execute(edges, {"i": ann.who.institution}, reads=True)
        assert not {talking.mind.name, None} & {row["by"] for row in by}


async def test_past_the_budget_a_turn_is_answered_offline_or_refused(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server, budget_student_tokens=1) as talking:
            outcome = await say(talking, ann, EXPECTED)
            assert outcome.degraded
            assert outcome.reply
        async with with_model(gm, server, budget_student_tokens=1, degrade="refuse") as strict:
            with pytest.raises(BudgetExceeded, match="budget"):
                await say(strict, ann, "I like the lake.")
            # What endangers somebody is answered, whatever it costs.
            assert (await say(strict, ann, "I want to kill myself.")).degraded
        assert server.seen == []
        async with with_model(gm, server, budget_student_tokens=1_000_000) as talking:
            assert not (await say(talking, ann, "I like the lake.")).degraded
    assert server.seen


async def test_what_is_spent_can_be_asked_for_by_student_and_day(gm: Graphmem, ann: Pupil, enrol: Enrol) -> None:
    bob, institution = await enrol("bob"), ann.who.institution
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await surprised(talking, ann)
            await run_jobs(talking, ann.session)
            await say(talking, bob, EXPECTED)
    both, of_ann = await spent(gm, institution, None, None), await spent(gm, institution, "ann", gm.clock())
    assert both.calls == len(server.seen)
    assert of_ann.calls == (await totals(gm, ann))["calls"] == both.calls - 1
    assert of_ann.input_tokens == (await totals(gm, ann))["input_tokens"] > 0
    by_kind = await spent_by_kind(gm, institution, "ann", None)
    calls = {kind: each.calls for kind, each in by_kind.items()}
    assert calls == {"turn": 2, "form": 1}
    assert sum(calls.values()) == of_ann.calls
    assert (await spent(gm, institution, None, gm.clock() + timedelta(days=1))).calls == 0
    assert (await spent(gm, f"other-{institution}", None, None)).calls == 0
