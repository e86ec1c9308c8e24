"""Enrolment, sessions and passwords on the real database."""

import asyncio
import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from graphmem import sealing
from graphmem.app import Graphmem
from graphmem.bearer import make_token
from graphmem.errors import Conflict, InvalidInput, Locked, RateLimited, Unauthenticated
from graphmem.flows import students
from graphmem.flows.context import context, recall
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session, closing_start
from graphmem.jobs.sweeper import KEPT_DAYS, sweep
from graphmem.limits import PasswordChecks
from graphmem.model import Role, Who
from graphmem.store import turns
from graphmem.store.students import count_try
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
    assert sum(isinstance(t, Locked) for t in tries) == students.PASSWORD_TRIES
    assert sum(isinstance(t, RateLimited) for t in tries) == 12 - students.PASSWORD_TRIES
    with pytest.raises(RateLimited):
        await students.open_session(gm, who, PASSWORD)


async def test_after_the_wait_the_right_password_opens_and_clears_the_count(gm: Graphmem, ann: Pupil) -> None:
    for _ in range(students.PASSWORD_TRIES):
        with pytest.raises(Locked):
            await students.open_session(gm, ann.who, "a wrong password")
    later = gm.clock() + timedelta(seconds=students.PASSWORD_WAIT + 1)
    tomorrow = another_replica(gm, clock=lambda: later)
    await students.open_session(tomorrow, ann.who, PASSWORD)
    for _ in range(students.PASSWORD_TRIES):
        with pytest.raises(Locked):
            await students.open_session(tomorrow, ann.who, "a wrong password")


async def test_each_opening_is_a_session_of_its_own(gm: Graphmem, ann: Pupil) -> None:
    token, again = await students.open_session(gm, ann.who, PASSWORD)
    assert again.session_id != ann.session.session_id
    assert again.keys == ann.session.keys
    assert sealing.opened_token(gm.secret, token, gm.clock()) == again


async def test_of_many_openings_at_once_each_takes_turns(gm: Graphmem, ann: Pupil) -> None:
    await close_session(gm, ann.session, wait=True)
    opened = await asyncio.gather(*(students.open_session(gm, ann.who, PASSWORD) for _ in range(5)))
    assert len({session.session_id for _, session in opened}) == 5
    for token, session in opened:
        await say(gm, replace(ann, session=session, token=token), "Hello, I like horses.")


async def on_another_device(gm: Graphmem, pupil: Pupil) -> Pupil:
    """The same student with a session of another device."""
    token, session = await students.open_session(gm, pupil.who, PASSWORD)
    return replace(pupil, session=session, token=token)


@pytest.mark.parametrize("together", [True, False], ids=["one replica", "two replicas"])
async def test_of_two_devices_one_closes_and_the_other_goes_on(gm: Graphmem, ann: Pupil, together: bool) -> None:
    elsewhere = gm if together else another_replica(gm)
    tablet = await on_another_device(elsewhere, ann)
    await say(gm, ann, "My dog Bello ran away yesterday.")
    heard = await say(elsewhere, tablet, "I am so sad about Bello.", reply="How many spoons did Julia buy in total?")
    # Both are one conversation.
    assert [each.turn_id for each in await turns.list_turns(gm.graph, ann.session)][-1] == heard.turn_id
    assert len(await turns.list_turns(gm.graph, ann.session)) == 2
    await close_session(gm, ann.session, wait=True)
    for each in (gm, elsewhere):
        with pytest.raises(Locked):
            await say(each, ann, "Is the phone still open?")
        with pytest.raises(Locked):
            await recall(each, ann.session, "Bello", 5, None)
    later = await say(elsewhere, tablet, "We found him again!")
    assert len(await turns.list_turns(gm.graph, tablet.session)) == 3
    assert later.match is not None
    assert any(
        "Bello" in (found.memory.content or "") for found in await recall(elsewhere, tablet.session, "Bello", 5, None)
    )
    await close_session(elsewhere, tablet.session, wait=True)
    rows = await gm.graph.execute(
        "MATCH (n:Turn|OpenSession {institution: $i}) RETURN n", {"i": ann.who.institution}, reads=True
    )
    assert rows == []
    for each in (gm, elsewhere):
        assert each.turn_state(ann.who) is None or not each.admits(tablet.session)


async def test_two_devices_that_close_at_once_end_the_conversation_once(gm: Graphmem, ann: Pupil) -> None:
    tablet = await on_another_device(gm, ann)
    await say(gm, ann, "My dog Bello ran away yesterday.")
    await asyncio.gather(
        close_session(gm, ann.session, wait=True), close_session(another_replica(gm), tablet.session, wait=True)
    )
    rows = await gm.graph.execute(
        """MATCH (n {institution: $i, student_id: 'ann'}) WHERE n:Turn OR n:OpenSession OR n.considered = false
        RETURN labels(n) AS labels""",
        {"i": ann.who.institution},
        reads=True,
    )
    assert rows == []


async def test_a_session_lives_as_long_as_it_is_used_up_to_a_limit(gm: Graphmem, ann: Pupil) -> None:
    clock = [gm.clock()]
    settings = gm.settings.model_copy(update={"session_minutes": 60.0, "session_hours": 3.5})
    own = another_replica(gm, clock=lambda: clock[0], settings=settings)
    device = await on_another_device(own, ann)
    for i in range(9):
        clock[0] += timedelta(minutes=20)
        await say(own, device, f"I have {i} dogs.", at=clock[0])
    # Three hours of use, and replicas that never saw the session serve it.
    await say(another_replica(own), device, "Are you there?", at=clock[0])
    assert await students.renew_session(own, device.session) == device.session.expires_at
    clock[0] += timedelta(minutes=31)
    with pytest.raises(Locked):
        await say(own, device, "Is anybody there?", at=clock[0])
    with pytest.raises(Locked):
        await students.renew_session(own, device.session)
    with pytest.raises(Locked):
        own.opened_session(device.token)


async def test_a_session_that_is_not_used_ends(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "Hello, I like horses.")
    late = another_replica(gm, clock=lambda: gm.clock() + timedelta(minutes=gm.settings.session_minutes, seconds=1))
    assert late.opened_session(ann.token) == ann.session
    for refused in (say(late, ann, "Are you there?"), students.renew_session(late, ann.session)):
        with pytest.raises(Locked):
            await refused


@pytest.mark.usefixtures("nobody_else")
async def test_sessions_expire_each_for_itself(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "Hello, I like horses.")
    soon = another_replica(gm, clock=lambda: gm.clock() + timedelta(minutes=gm.settings.session_minutes - 1))
    tablet = await on_another_device(soon, ann)
    late = another_replica(gm, clock=lambda: gm.clock() + timedelta(minutes=gm.settings.session_minutes, seconds=1))
    await sweep(late)
    found = await students.find_student(late, ann.who)
    assert found is not None
    assert found.session_ids == (tablet.session.session_id,)
    assert len(await turns.list_turns(gm.graph, tablet.session)) == 1
    await say(late, tablet, "Here I am again.", at=late.clock())


async def test_of_too_many_sessions_the_one_not_used_for_longest_ends(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(students, "SESSIONS_AT_ONCE", 3)
    few = another_replica(gm)
    devices = [await on_another_device(few, ann) for _ in range(3)]
    with pytest.raises(Locked):
        await say(few, ann, "Am I still here?")
    for device in devices:
        await say(few, device, "I am here.")


async def test_a_change_of_password_ends_other_sessions_where_that_is_wanted(gm: Graphmem, ann: Pupil) -> None:
    tablet = await on_another_device(gm, ann)
    await students.change_password(gm, ann.who, PASSWORD, "a new password", end_sessions=True, session=ann.session)
    for each in (gm, another_replica(gm)):
        with pytest.raises(Locked):
            await say(each, tablet, "Is the tablet still open?")
    await say(gm, ann, "This phone goes on.")
    await students.change_password(gm, ann.who, "a new password", PASSWORD, end_sessions=True)
    with pytest.raises(Locked):
        await say(gm, ann, "And this phone?")


async def test_a_replica_reads_what_another_one_wrote(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    tablet = await on_another_device(replica, ann)
    for i, text in enumerate(("My rabbit is called Flocke.", "My hamster is called Krümel.", "My cat is called Tim.")):
        here, there = (gm, replica) if i % 2 == 0 else (replica, gm)
        await say(here, ann if here is gm else tablet, text)
        name = text.split()[-1].strip(".")
        found = await context(there, tablet.session if there is replica else ann.session, f"Who is {name}?", history=1)
        assert name in found.messages[0].content


async def test_a_closed_session_takes_no_turn_on_any_replica(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "Hello, I like horses.")
    await say(replica, ann, "And dogs.")
    await close_session(gm, ann.session, wait=True)
    for each in (gm, replica):
        with pytest.raises(Locked):
            await say(each, ann, "Are you there?")


async def test_a_closed_session_closes_nothing_more(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    await close_session(gm, ann.session, wait=True)
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
            await close_session(each, ann.session, wait=True)
    start = closing_start(gm, ann.session, here=True)
    assert await closed_in_graph(gm.graph, ann.session, start, gm.clock()) is None
    assert await gm.graph.execute(everything, {"i": ann.who.institution}, reads=True) == before
    await say(gm, again, "And my cat.")
    await close_session(gm, running, wait=True)
    with pytest.raises(Locked):
        await close_session(gm, running, wait=True)


async def test_closing_deletes_raw_turns_and_keeps_what_was_learned(gm: Graphmem, ann: Pupil) -> None:
    for text in ("I added 4 and 5.", "My cat is called Tim.", "What is a prime number?"):
        await say(gm, ann, text, reply="How many spoons did Julia buy in total?")
    await close_session(gm, ann.session, wait=True)
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


@pytest.mark.usefixtures("nobody_else")
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
    given = {"caller": "an app", "patience": {"free_tries": 2, "free_in_all": 9, "wait": 60.0, "longest_wait": 3600.0}}
    tried = [
        await count_try(gm.graph, ann.who, {"try_id": each, **given}, gm.clock())
        for each in ("a", "a", "b", "b", "c", "a")
    ]
    # The second try was the last free one, and only a new one has to wait.
    assert tried == [True, True, True, True, False, True]


async def wrong(gm: Graphmem, who: Who, caller: str, times: int) -> list[str]:
    """Codes of the refusals of wrong passwords, one after the other."""
    codes = []
    for _ in range(times):
        with pytest.raises((Locked, RateLimited)) as refused:
            await students.open_session(gm, who, "a wrong password", caller)
        codes.append(refused.value.code)
    return codes


async def test_right_passwords_at_once_are_not_refused(gm: Graphmem, ann: Pupil) -> None:
    opened = await asyncio.gather(*(students.open_session(gm, ann.who, PASSWORD, "an app") for _ in range(12)))
    assert len({session.session_id for _, session in opened}) == 12


async def test_wrong_passwords_of_one_caller_shut_nobody_else_out(gm: Graphmem, ann: Pupil) -> None:
    assert await wrong(gm, ann.who, "somebody", 7) == ["LOCKED"] * 5 + ["RATE_LIMITED"] * 2
    await students.open_session(gm, ann.who, PASSWORD, "her phone")
    await say(gm, ann, "My session goes on.")
    with pytest.raises(RateLimited):
        await students.open_session(gm, ann.who, PASSWORD, "somebody")


async def test_wrong_passwords_of_many_callers_shut_out_only_those_who_never_had_the_right_one(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(students, "PASSWORD_TRIES_ALL", 8)
    few = another_replica(gm)
    await students.open_session(few, ann.who, PASSWORD, "her phone")
    for caller in ("one", "two", "three", "four"):
        await wrong(few, ann.who, caller, 2)
    with pytest.raises(RateLimited):
        await students.open_session(few, ann.who, PASSWORD, "five")
    await students.open_session(few, ann.who, PASSWORD, "her phone")
    # Nor does she get more tries for being known.
    assert await wrong(few, ann.who, "her phone", 6) == ["LOCKED"] * 5 + ["RATE_LIMITED"]


async def test_wrong_passwords_of_one_caller_for_many_students_are_limited(gm: Graphmem, ann: Pupil) -> None:
    few = another_replica(gm, passwords=PasswordChecks(wrong_a_minute=6))
    codes = [
        code for i in range(9) for code in await wrong(few, replace(ann.who, student_id=f"nobody-{i}"), "somebody", 1)
    ]
    assert codes == ["LOCKED"] * 6 + ["RATE_LIMITED"] * 3
    # Right ones are not counted, of however many students.
    for _ in range(8):
        await students.open_session(few, ann.who, PASSWORD, "an app")


async def test_a_password_that_waits_too_long_for_its_check_is_refused_and_not_counted(
    gm: Graphmem, ann: Pupil
) -> None:
    busy = another_replica(gm, passwords=PasswordChecks(1, 0.05))
    held = threading.Event()
    waiting = asyncio.create_task(busy.passwords.computed(held.wait))
    await asyncio.sleep(0)
    for _ in range(students.PASSWORD_TRIES + 2):
        with pytest.raises(RateLimited, match="being checked"):
            await students.open_session(busy, ann.who, PASSWORD, "an app")
    held.set()
    await waiting
    await students.open_session(busy, ann.who, PASSWORD, "an app")


@pytest.mark.usefixtures("nobody_else")
async def test_tries_of_students_that_do_not_exist_are_swept(gm: Graphmem, ann: Pupil) -> None:
    await wrong(gm, replace(ann.who, student_id="nobody"), "somebody", 6)
    tries = "MATCH (try:PasswordTry {institution: $i, student_id: 'nobody'}) RETURN try.count AS count"
    assert len(await gm.graph.execute(tries, {"i": ann.who.institution}, reads=True)) == 2
    late = gm.clock() + timedelta(days=KEPT_DAYS["tries"], hours=1)
    await sweep(another_replica(gm, clock=lambda: late))
    assert await gm.graph.execute(tries, {"i": ann.who.institution}, reads=True) == []


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
