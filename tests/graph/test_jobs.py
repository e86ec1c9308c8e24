"""Background work on the real database and a real model server: at least once, effects once, never lost."""

import asyncio
import logging
import threading
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from api.access import make_token
from graphmem.app import Graphmem
from graphmem.commands.client import TURN, Client
from graphmem.errors import Locked
from graphmem.flows import students
from graphmem.flows.facts import list_facts
from graphmem.flows.jobs import FIRST_WAIT, LEASE_SLACK, run_due_jobs, run_jobs
from graphmem.flows.sweep import sweep
from graphmem.model import Mismatch, Role, Session, TurnOutcome
from graphmem.sealing import opened_token
from graphmem.store import jobs
from graphmem.store.jobs import Kind
from tests.conftest import PASSWORD, Enrol, Pupil, another_replica, say, served
from tests.language import EXPECTED, UNEXPECTED, asked, distils, surprise, with_model
from tests.llm_server import Act, llm_server

BETTER = f"The student wrote: {UNEXPECTED}"


class Clock:
    """A clock that a test moves."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


async def surprised(gm: Graphmem, pupil: Pupil) -> TurnOutcome:
    """Two turns, of which the second violates what was expected; memories are formed of them by rule already."""
    outcome = await surprise(gm, pupil)
    await formed(gm, pupil.session)
    return outcome


async def formed(gm: Graphmem, session: Session) -> int:
    """Form what waits without asking a model, which leaves the jobs that word facts."""
    return await run_jobs(another_replica(gm, mind=gm.offline), session)


async def job_of(gm: Graphmem, pupil: Pupil) -> dict[str, Any]:
    """The job that words a fact."""
    find = "MATCH (job:Job {institution: $i, student_id: $s, kind: 'distil'}) RETURN properties(job) AS job"
    params = {"i": pupil.who.institution, "s": pupil.who.student_id}
    (row,) = await gm.graph.execute(find, params, reads=True)
    found: dict[str, Any] = row["job"]
    return found


async def totals(gm: Graphmem, pupil: Pupil) -> dict[str, Any]:
    find = """MATCH (s:Student {institution: $i, id: $s}) RETURN s.calls AS calls, s.input_tokens AS input_tokens,
              s.output_tokens AS output_tokens, s.version AS version"""
    params = {"i": pupil.who.institution, "s": pupil.who.student_id}
    (row,) = await gm.graph.execute(find, params, reads=True)
    return row


async def test_a_job_puts_the_fact_into_the_models_words(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            outcome = await surprised(talking, ann)
            assert outcome.fact is not None
            assert outcome.fact.text != BETTER
            assert (await job_of(gm, ann))["state"] == "waiting"
            before = await totals(gm, ann)
            assert await run_jobs(talking, ann.session) == 1
    (fact,) = await list_facts(gm, ann.session, 10)
    assert fact == replace(outcome.fact, text=BETTER, tags=("submarines", "ferdinand", "thunder"))
    job = await job_of(gm, ann)
    assert (job["state"], job["attempts"]) == ("done", 0)
    assert not {"payload", "lease", "lease_until", "error"} & job.keys()
    (asked,) = distils(server)
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
            held = other.unlocked[ann.who.institution, "ann"]
            assert held.state.version == (await totals(gm, ann))["version"]
            assert BETTER in [f.text for f in held.facts]
            for each in (other, talking):
                outcome = await say(each, ann, "My uncle Ferdinand likes purple submarines and thunder.")
                assert BETTER in [f.text for f in outcome.recalled_facts]


async def test_a_turn_at_the_same_time_does_not_lose_what_a_job_cost(
    gm: Graphmem, replica: Graphmem, ann: Pupil
) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await surprised(talking, ann)
            server.act(Act(until=(gate := threading.Event())))
            other = asyncio.create_task(say(talking, ann, "So it is 42?"))
            await asked(server, 5)
            assert await run_jobs(another_replica(talking), ann.session) == 1
            gate.set()
            outcome = await other
    assert outcome.usage.calls == 2
    assert (await totals(gm, ann))["calls"] == len(server.seen) == 7
    assert BETTER in [f.text for f in await list_facts(gm, ann.session, 10)]


async def test_two_workers_at_once_take_effect_once(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await surprised(talking, ann)
            before = await totals(gm, ann)
            workers = [another_replica(talking) for _ in range(6)]
            finished = await asyncio.gather(*(run_jobs(worker, ann.session) for worker in workers))
    assert sum(finished) == 1
    assert len(distils(server)) == 1
    after = await totals(gm, ann)
    assert after["calls"] == before["calls"] + 1
    assert after["version"] == before["version"] + 1


async def test_what_a_worker_writes_after_its_lease_ran_out_has_no_effect(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await surprised(talking, ann)
            clock = Clock(gm.clock())
            lease = clock() + timedelta(seconds=10)
            (slow,) = await jobs.claim(gm.graph, ann.session, [Kind.DISTIL], 1, lease, clock())
            later = another_replica(talking, clock=clock)
            assert await run_jobs(later, ann.session) == 0
            clock.wait(11)
            assert await run_jobs(later, ann.session) == 1
            before = await totals(gm, ann)
            answer = await gm.offline.distil(Mismatch(EXPECTED, UNEXPECTED))
            fact_id = jobs.opened_distil(ann.session, slow).fact_id
            spent = replace(answer.usage, calls=1)
            assert await jobs.finish_distil(gm.graph, ann.session, slow, fact_id, answer.value, spent, clock()) is None
    assert [f.text for f in await list_facts(gm, ann.session, 10)] == [BETTER]
    assert (await totals(gm, ann))["calls"] == before["calls"]


async def test_a_failing_model_is_tried_again_later_and_the_job_is_dead_in_the_end(
    gm: Graphmem, ann: Pupil, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "graphmem")
    with llm_server() as server:
        async with with_model(gm, server, model_failures=100) as talking:
            outcome = await surprised(talking, ann)
            before = await totals(gm, ann)
            clock = Clock(gm.clock())
            later = another_replica(talking, clock=clock)
            server.act(*[Act(status=500)] * 5)
            for attempt in range(1, 6):
                assert await run_jobs(later, ann.session) == 0
                assert len(distils(server)) == attempt
                job = await job_of(gm, ann)
                assert job["attempts"] == attempt
                assert job["error"] == "The language model's server refused with HTTP status 500."
                wait = FIRST_WAIT * 2 ** (attempt - 1)
                assert job["run_after"].to_native() == clock.now + timedelta(seconds=wait)
                clock.wait(wait - 1)
                await run_jobs(later, ann.session)
                assert len(distils(server)) == attempt
                clock.wait(1)
            assert job["state"] == "dead"
            assert "payload" in job
            clock.wait(3000)
            assert await run_jobs(later, ann.session) == 0
    assert len(distils(server)) == 5
    assert (await list_facts(gm, ann.session, 10)) == [outcome.fact]
    assert (await totals(gm, ann))["calls"] == before["calls"] + 5
    assert "submarine" not in caplog.text


async def test_a_failed_job_succeeds_when_the_model_is_back(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await surprised(talking, ann)
            clock = Clock(gm.clock())
            later = another_replica(talking, clock=clock)
            server.act(Act(content="no JSON"), Act(content="nor this"))
            assert await run_jobs(later, ann.session) == 0
            assert (await job_of(gm, ann))["error"] == "The language model gave no valid answer."
            clock.wait(FIRST_WAIT)
            assert await run_jobs(later, ann.session) == 1
    job = await job_of(gm, ann)
    assert (job["state"], job["attempts"], job.get("error")) == ("done", 1, None)


async def test_a_job_whose_payload_was_tampered_with_dies_and_says_why(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await surprised(talking, ann)
            cut = "MATCH (job:Job {institution: $i, kind: 'distil'}) SET job.payload = $cut"
            await gm.graph.execute(cut, {"i": ann.who.institution, "cut": b"\x00" * 60}, reads=False)
            clock = Clock(gm.clock())
            for _ in range(5):
                await run_jobs(another_replica(talking, clock=clock), ann.session)
                clock.wait(600)
    job = await job_of(gm, ann)
    assert job["state"] == "dead"
    assert "does not open" in job["error"]
    assert distils(server) == []


async def test_a_fact_trimmed_meanwhile_stays_away(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await surprised(talking, ann)
            trim = "MATCH (fact:Fact {institution: $i}) DETACH DELETE fact"
            await gm.graph.execute(trim, {"i": ann.who.institution}, reads=False)
            assert await run_jobs(talking, ann.session) == 1
    assert await list_facts(gm, ann.session, 10) == []
    assert (await job_of(gm, ann))["state"] == "done"


async def test_without_a_language_model_jobs_wait(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await surprised(talking, ann)
    assert await run_jobs(gm, ann.session) == 0
    await run_due_jobs(gm)
    assert (await job_of(gm, ann))["state"] == "waiting"


async def test_the_sweeper_runs_jobs_of_open_sessions_and_the_others_wait(
    gm: Graphmem, ann: Pupil, enrol: Enrol
) -> None:
    bob = await enrol("bob")
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            for pupil in (ann, bob):
                await surprised(talking, pupil)
            # Closed where nobody words facts: what is due is done before a session ends.
            await students.close_session(gm, bob.session)
            assert await run_jobs(talking, bob.session) == 0
            await sweep(talking)
            assert (await job_of(gm, ann))["state"] == "done"
            assert (await job_of(gm, bob))["state"] == "waiting"
            _, session = await students.open_session(talking, bob.who, PASSWORD)
            await sweep(talking)
    assert (await job_of(gm, bob))["state"] == "done"
    assert (await list_facts(gm, session, 10))[0].text == BETTER


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
            await run_due_jobs(talking)
    assert (await job_of(gm, ann))["state"] == "waiting"
    assert (await job_of(gm, bob))["state"] == "done"
    assert "LOCKED" in caplog.text


async def test_a_worker_that_died_is_followed_by_another(gm: Graphmem, ann: Pupil) -> None:
    with llm_server() as server:
        async with with_model(gm, server) as talking:
            await surprised(talking, ann)
            server.act(Act(hang=True))
            worker = asyncio.create_task(run_jobs(talking, ann.session))
            await asked(server, 5)
            worker.cancel()
            with pytest.raises(asyncio.CancelledError):
                await worker
            await sweep(talking)
            assert (await job_of(gm, ann))["state"] == "waiting"
            lease = talking.settings.model_timeout + LEASE_SLACK + 1
            await sweep(another_replica(talking, clock=lambda: gm.clock() + timedelta(seconds=lease)))
    assert (await job_of(gm, ann))["state"] == "done"


async def test_a_job_runs_after_the_reply_of_the_api(gm: Graphmem, ann: Pupil) -> None:
    token = make_token(gm.secret, ann.who.institution, Role.APP, 60, gm.clock())
    with llm_server() as server:
        async with (
            with_model(gm, server) as talking,
            served(talking) as address,
            httpx.AsyncClient(base_url=address, timeout=30) as http,
        ):
            client = Client(http, token, ann.token)
            await client.call(TURN, student="ann", turn="t1", text=EXPECTED)
            server.act(Act(), Act(), Act(until=(gate := threading.Event())))
            turn = await client.call(TURN, student="ann", turn="t2", text=UNEXPECTED)
            assert (await job_of(gm, ann))["state"] == "waiting"
            gate.set()
            await asyncio.gather(*talking.background)
            numbers = (await http.get("/metrics")).text
    assert turn["learnedFact"]["text"] != BETTER
    assert (await job_of(gm, ann))["state"] == "done"
    assert (await list_facts(gm, ann.session, 10))[0].text == BETTER
    assert "graphmem_model_calls_total 0.0" not in numbers


async def test_sessions_nobody_can_serve_keep_nobody_else_waiting(gm: Graphmem, ann: Pupil, enrol: Enrol) -> None:
    for student in ("bob", "eve"):
        await say(gm, await enrol(student), "I have a dog called Rex.")
    await say(gm, ann, "I have a cat called Minka.")
    due = await jobs.list_due_sessions(gm.graph, gm.clock(), limit=2)
    ours = [token for token in due if opened_or_none(gm, token) in ("ann", "bob", "eve")]
    assert len(ours) >= 3


def opened_or_none(gm: Graphmem, token: str) -> str | None:
    """Whose session a token is; None of another test run's."""
    try:
        return opened_token(gm.secret, token, gm.clock()).student_id
    except Locked:
        return None
