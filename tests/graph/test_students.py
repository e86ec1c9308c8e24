"""Enrolment, sessions and passwords on the real database."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from graphmem import sealing
from graphmem.app import Graphmem
from graphmem.bearer import make_token
from graphmem.errors import Conflict, InvalidInput, Locked, RateLimited, Unauthenticated
from graphmem.flows import students
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.jobs.sweeper import sweep
from graphmem.model import Role, Who
from graphmem.store.students import Patience, try_password
from graphmem.store.students import delete_session as closed_in_graph
from tests.conftest import PASSWORD, Enrol, Pupil, another_replica, say


async def test_a_student_enrols_once(gm: Graphmem, ann: Pupil) -> None:
    with pytest.raises(Conflict):
        await students.enrol(gm, ann.who, "another password")
    await students.open_session(gm, ann.who, PASSWORD)


async def test_of_many_enrolments_at_once_one_wins(gm: Graphmem, institution: str) -> None:
    who = Who(institution, "bob")
    tries = await asyncio.gather(
        *(students.enrol(gm, who, f"a good password {i}") for i in range(8)), return_exceptions=True
    )
    assert sum(not isinstance(t, BaseException) for t in tries) == 1
    assert all(isinstance(t, Conflict) for t in tries if isinstance(t, BaseException))


async def test_ids_belong_to_an_institution(gm: Graphmem, ann: Pupil, institution: str) -> None:
    elsewhere = Who(f"{institution}-2", "ann")
    await students.enrol(gm, elsewhere, "a different password")
    with pytest.raises(Locked):
        await students.open_session(gm, elsewhere, PASSWORD)


@pytest.mark.parametrize("password", ["", "short", "x" * 1001, "half a character \ud800"])
async def test_a_password_that_will_not_do_is_refused(gm: Graphmem, institution: str, password: str) -> None:
    who = Who(institution, "bob")
    with pytest.raises(InvalidInput):
        await students.enrol(gm, who, password)
    assert await students.find_student(gm, who) is None


@pytest.mark.parametrize("student_id", ["", " ", "a" * 129, "a\nb", "a\x00b", " a", "\ud800"])
async def test_an_id_that_will_not_do_is_refused(gm: Graphmem, institution: str, student_id: str) -> None:
    with pytest.raises(InvalidInput):
        await students.enrol(gm, Who(institution, student_id), PASSWORD)


async def test_wrong_password_and_no_student_cannot_be_told_apart(gm: Graphmem, ann: Pupil) -> None:
    with pytest.raises(Locked) as wrong:
        await students.open_session(gm, ann.who, "not her password")
    with pytest.raises(Locked) as nobody:
        await students.open_session(gm, replace(ann.who, student_id="nobody"), "not her password")
    assert str(wrong.value) == str(nobody.value)


@pytest.mark.parametrize("student_id", ["ann", "nobody"])
async def test_after_too_many_wrong_passwords_one_has_to_wait(gm: Graphmem, ann: Pupil, student_id: str) -> None:
    who = replace(ann.who, student_id=student_id)
    tries = await asyncio.gather(
        *(students.open_session(gm, who, "a wrong password") for _ in range(12)), return_exceptions=True
    )
    assert sum(isinstance(t, Locked) for t in tries) == gm.settings.password_tries
    assert sum(isinstance(t, RateLimited) for t in tries) == 12 - gm.settings.password_tries
    with pytest.raises(RateLimited):
        await students.open_session(gm, who, PASSWORD)


async def test_after_the_wait_the_right_password_opens_and_clears_the_count(gm: Graphmem, ann: Pupil) -> None:
    for _ in range(gm.settings.password_tries):
        with pytest.raises(Locked):
            await students.open_session(gm, ann.who, "a wrong password")
    later = gm.clock() + timedelta(seconds=gm.settings.password_wait + 1)
    tomorrow = another_replica(gm, clock=lambda: later)
    await students.open_session(tomorrow, ann.who, PASSWORD)
    for _ in range(gm.settings.password_tries):
        with pytest.raises(Locked):
            await students.open_session(tomorrow, ann.who, "a wrong password")


async def test_opening_twice_goes_on_with_the_same_session(gm: Graphmem, ann: Pupil) -> None:
    token, again = await students.open_session(gm, ann.who, PASSWORD)
    assert again.session_id == ann.session.session_id
    assert again.keys == ann.session.keys
    assert sealing.opened_token(gm.secret, token, gm.clock()) == again


async def test_many_openings_at_once_agree_on_one_session(gm: Graphmem, ann: Pupil) -> None:
    await close_session(gm, ann.session)
    opened = await asyncio.gather(*(students.open_session(gm, ann.who, PASSWORD) for _ in range(5)))
    assert len({session.session_id for _, session in opened}) == 1


async def test_a_closed_session_takes_no_turn_on_any_replica(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "Hello, I like horses.")
    await say(replica, ann, "And dogs.")
    await close_session(gm, ann.session)
    for each in (gm, replica):
        with pytest.raises(Locked):
            await say(each, ann, "Are you there?")


async def test_a_closed_session_closes_nothing_more(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    await close_session(gm, ann.session)
    token, running = await students.open_session(gm, ann.who, PASSWORD)
    again = replace(ann, session=running, token=token)
    assert running.session_id != ann.session.session_id
    await say(gm, again, "My dog Bello ran away yesterday and I am so sad.")
    await run_jobs(gm, running)
    everything = """MATCH (n) WHERE n.institution = $i
    RETURN properties(n) AS n, COUNT { (n)-->() } AS edges, elementId(n) AS id ORDER BY id"""
    before = await gm.graph.execute(everything, {"i": ann.who.institution}, reads=True)
    for each in (gm, replica):
        with pytest.raises(Locked):
            await close_session(each, ann.session)
    assert await closed_in_graph(gm.graph, ann.who, ann.session.session_id) is None
    assert await gm.graph.execute(everything, {"i": ann.who.institution}, reads=True) == before
    await say(gm, again, "And my cat.")
    await close_session(gm, running)
    with pytest.raises(Locked):
        await close_session(gm, running)


async def test_closing_deletes_raw_turns_and_keeps_what_was_learned(gm: Graphmem, ann: Pupil) -> None:
    for text in ("I added 4 and 5.", "My cat is called Tim.", "What is a prime number?"):
        await say(gm, ann, text)
    await close_session(gm, ann.session)
    rows = await gm.graph.execute(
        "MATCH (n {institution: $i, student_id: 'ann'}) RETURN labels(n)[0] AS label, count(*) AS n",
        {"i": ann.who.institution},
        reads=True,
    )
    counts = {r["label"]: r["n"] for r in rows}
    assert "Turn" not in counts
    assert "OpenSession" not in counts
    assert counts["Source"] == 3
    assert counts["Fact"] >= 1


@pytest.mark.alone
async def test_the_sweeper_ends_a_session_whose_time_is_over(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "Hello, I like horses.")
    late = another_replica(gm, clock=lambda: ann.session.expires_at + timedelta(seconds=1))
    await sweep(late)
    rows = await gm.graph.execute(
        "MATCH (n:Turn|OpenSession {institution: $i}) RETURN n", {"i": ann.who.institution}, reads=True
    )
    assert rows == []


async def test_an_expired_session_that_was_not_swept_yet_gives_way_to_a_new_one(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "Hello, I like horses.")
    late = another_replica(gm, clock=lambda: ann.session.expires_at + timedelta(seconds=1))
    _, session = await students.open_session(late, ann.who, PASSWORD)
    assert session.session_id != ann.session.session_id


async def test_changing_the_password(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "Hello, I like horses.")
    with pytest.raises(Locked):
        await students.change_password(gm, ann.who, "not her password", "a new password")
    await students.change_password(gm, ann.who, PASSWORD, "a new password")
    with pytest.raises(Locked):
        await students.open_session(gm, ann.who, PASSWORD)
    _, session = await students.open_session(gm, ann.who, "a new password")
    assert session.keys == ann.session.keys
    await say(gm, ann, "The old token still works.")


async def test_of_two_changes_at_once_one_wins(gm: Graphmem, ann: Pupil) -> None:
    tries = await asyncio.gather(
        *(students.change_password(gm, ann.who, PASSWORD, f"new password {i}") for i in range(4)),
        return_exceptions=True,
    )
    winners = [i for i, t in enumerate(tries) if t is None]
    assert len(winners) == 1
    await students.open_session(gm, ann.who, f"new password {winners[0]}")


async def test_two_students_know_nothing_of_each_other(gm: Graphmem, ann: Pupil, enrol: Enrol) -> None:
    bob = await enrol("bob")
    for i in range(8):
        await asyncio.gather(say(gm, ann, f"Ann says {i} zebra"), say(gm, bob, f"Bob says {i} giraffe"))
    theirs = await say(gm, bob, "What did we talk about?")
    assert "zebra" not in repr(theirs)
    assert "Ann" not in repr(theirs)


async def test_a_try_of_a_password_counts_once_by_its_id(gm: Graphmem, ann: Pupil) -> None:
    patience, now = Patience(free_tries=2, wait=60.0), gm.clock()
    tried = [await try_password(gm.graph, ann.who, each, patience, now) for each in ("a", "a", "b", "b", "c", "a")]
    # The second try was the last free one, and only a new one has to wait.
    assert tried == [True, True, True, True, False, True]


async def test_a_server_secret_is_changed_without_ending_sessions(gm: Graphmem, enrol: Enrol) -> None:
    ann, now = await enrol("ann"), gm.clock()
    bearer = make_token(gm.secret, ann.who.institution, Role.APP, 60, now)
    changed = replace(gm, secret=b"n" * 32, secret_before=gm.secret)
    assert changed.opened_session(ann.token) == ann.session
    assert changed.caller_of(bearer).institution == ann.who.institution
    # What is made from now on is made with the new one, which a replica knows from then on.
    token, session = await students.open_session(changed, ann.who, PASSWORD)
    with pytest.raises(Locked):
        gm.opened_session(token)
    alone = replace(changed, secret_before=None)
    assert alone.opened_session(token) == session
    with pytest.raises(Locked):
        alone.opened_session(ann.token)
    with pytest.raises(Unauthenticated):
        alone.caller_of(bearer)
