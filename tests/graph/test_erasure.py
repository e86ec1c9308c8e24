"""Erasing a student on the real database: nothing is left, nothing comes back, nobody else is touched (spec 14)."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis.asyncio import Redis

from graphmem.app import Graphmem
from graphmem.background import Background
from graphmem.bearer import make_token
from graphmem.errors import Conflict, Locked, NotFound
from graphmem.flows import students
from graphmem.flows.context import recall
from graphmem.flows.formation import form_messages
from graphmem.flows.observation import observe
from graphmem.flows.students import TAKEN_UP_AFTER, erase_student
from graphmem.jobs.sessions import drop_ended
from graphmem.jobs.sweeper import sweep
from graphmem.model import Role, SourceKind, Who
from graphmem.notifier import JobNotifier
from graphmem.store import jobs, queries
from graphmem.store.jobs import Kind
from graphmem.store.students import begin_erasure
from tests.conftest import BOTH_FORMS, PASSWORD, Enrol, Pupil, another_replica, say
from tests.support.client import Client, Refused
from tests.support.redis_server import RedisServer, needs_redis
from tests.support.remembering import asked, held, observations
from tests.support.whole_life import lives

LABELS = {"Memory": "memories", "LedgerEntry": "ledger", "Fact": "facts", "Uncertainty": "uncertainties", "Job": "jobs"}
ERASE = 'mutation { eraseStudent(studentId: "ann") { memories edges ledger facts uncertainties jobs other } }'


async def kept(gm: Graphmem, who: Who) -> dict[str, int]:
    """Numbers of the nodes of a student, by label, found in the whole database."""
    rows = await asked(
        gm,
        who,
        """MATCH (n) WHERE n.institution = $i AND n.student_id = $s
           UNWIND labels(n) AS label RETURN label, count(*) AS n""",
    )
    return {row["label"]: row["n"] for row in rows}


async def edges(gm: Graphmem, who: Who) -> int:
    query = """MATCH (n)-[r]-() WHERE n.institution = $i AND (n.student_id = $s OR r.student_id = $s)
               RETURN count(DISTINCT r) AS n"""
    (row,) = await asked(gm, who, query)
    return int(row["n"])


def test_every_kind_of_node_that_belongs_to_a_student_is_deleted() -> None:
    schema, deletes = queries.read("schema"), "".join(each.text for each in queries.load_folder("erasure").values())
    own = set(re.findall(r"FOR \(n:(\w+)\) REQUIRE \(n.institution, n.student_id", schema)) - {"Erasure"}
    assert len(own) > 15
    assert own <= set(re.findall(r":(\w+) \{institution", deletes))


@BOTH_FORMS
async def test_nothing_is_left_of_one_student_and_nothing_of_another_is_touched(gm: Graphmem, enrol: Enrol) -> None:
    ann, bob = await enrol("ann"), await enrol("bob")
    await lives(gm, ann, "marmalade")
    await lives(gm, bob, "harmonica")
    with pytest.raises(Locked):
        await students.open_session(gm, ann.who, "not her password")
    before, linked, other = await kept(gm, ann.who), await edges(gm, ann.who), await kept(gm, bob.who)
    assert before.keys() >= {"Turn", "Source", "Entity", "Job", "PasswordTry", "OpenSession", "Uncertainty", "Question"}
    erased = await erase_student(gm, ann.who)
    assert {label: getattr(erased, name) for label, name in LABELS.items()} == {
        label: before[label] for label in LABELS
    }
    assert erased.edges == linked
    assert await kept(gm, ann.who) == {}
    assert await kept(gm, bob.who) == other
    with pytest.raises(NotFound):
        await erase_student(gm, ann.who)


async def test_large_students_go_in_batches(gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch) -> None:
    await lives(gm, ann, "marmalade")
    before = await kept(gm, ann.who)
    monkeypatch.setattr("graphmem.flows.students.NODES_AT_ONCE", 2)
    assert (await erase_student(gm, ann.who)).memories == before["Memory"]
    assert await kept(gm, ann.who) == {}


async def test_work_that_is_under_way_brings_nothing_back(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "My sister Ottilie hides marmalade in Lisbon.")
    now = gm.clock()
    claimed = await jobs.claim(gm.graph, ann.session, [Kind.FORM], 1, now + timedelta(minutes=1), now, alone=True)
    assert claimed
    assert await recall(replica, ann.session, "marmalade")
    await erase_student(gm, ann.who)
    assert await form_messages(replica, ann.session, claimed) == 0
    for each in (gm, replica):
        with pytest.raises((Locked, NotFound)):
            await say(each, ann, "Are you there?")
        with pytest.raises((Locked, NotFound)):
            await recall(each, ann.session, "marmalade")
        with pytest.raises(NotFound):
            await observe(each, ann.who, observations(["Ottilie hides marmalade."], kind=SourceKind.TEACHER))
    assert await kept(gm, ann.who) == {}


@pytest.mark.usefixtures("nobody_else")
async def test_what_was_cut_short_is_finished_and_only_then_the_id_is_free(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "My sister Ottilie hides marmalade in Lisbon.")
    assert await begin_erasure(gm.graph, ann.who, gm.clock() - TAKEN_UP_AFTER - timedelta(seconds=1))
    assert "Job" in await kept(gm, ann.who)
    with pytest.raises(Conflict, match="erased"):
        await students.enrol(gm, ann.who, PASSWORD)
    await sweep(gm)
    assert await kept(gm, ann.who) == {}
    await students.enrol(gm, ann.who, PASSWORD)
    _, session = await students.open_session(gm, ann.who, PASSWORD)
    assert await held(gm, session) == []
    assert session.keys != ann.session.keys
    with pytest.raises(Locked):
        await recall(another_replica(gm), ann.session, "marmalade")


async def test_an_admin_erases_without_the_key_and_others_may_not(
    gm: Graphmem, ann: Pupil, http: httpx.AsyncClient, bearer: Callable[[Role], str]
) -> None:
    await say(gm, ann, "My sister Ottilie hides marmalade in Lisbon.")
    for role, code in ((Role.APP, "LOCKED"), (Role.TEACHER, "FORBIDDEN"), (Role.AUDITOR, "FORBIDDEN")):
        with pytest.raises(Refused) as refused:
            await Client(http, bearer(role)).call(ERASE)
        assert refused.value.code == code
    with pytest.raises(Refused) as refused:
        await Client(http, make_token(gm.secret, "another school", Role.ADMIN, 60, gm.clock())).call(ERASE)
    assert refused.value.code == "NOT_FOUND"
    erased = await Client(http, bearer(Role.ADMIN)).call(ERASE)
    assert erased["jobs"] >= 1
    assert await kept(gm, ann.who) == {}


async def test_an_app_erases_with_the_session(gm: Graphmem, ann: Pupil, app_client: Client) -> None:
    await app_client.call(ERASE)
    assert await kept(gm, ann.who) == {}


async def test_nothing_is_left_in_indexes_processes_and_logs(
    gm: Graphmem, replica: Graphmem, enrol: Enrol, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    ann = await enrol("ann")
    await lives(gm, ann, "marmalade")
    await recall(replica, ann.session, "marmalade")
    await say(replica, ann, "And where is the marmalade?")
    sleeping = another_replica(gm)
    await recall(sleeping, ann.session, "marmalade")
    for each in (gm, replica, sleeping):
        assert each.cache.memories(ann.who, gm.clock())
    await erase_student(gm, ann.who)
    assert ann.who not in gm.cache.students()
    # The next access of another process drops what it holds.
    with pytest.raises((Locked, NotFound)):
        await say(replica, ann, "Are you there?")
    assert replica.cache.students() == []
    # One that is not asked drops it with its next sweep.
    assert await drop_ended(sleeping) >= 1
    assert sleeping.cache.students() == []
    for each in (replica, sleeping):
        state = each.cache.state(ann.who)
        assert (state.turn, state.memories, state.unformed, state.fog) == (None, None, None, None)
    # Through every index that knows the student, and without any.
    labels = set(re.findall(r"FOR \(n:(\w+)\)", queries.read("schema")))
    for label in sorted(labels):
        query = f"MATCH (n:{label}) WHERE n.institution = $i AND (n.student_id = $s OR n.id = $s) RETURN count(n) AS n"
        assert (await asked(gm, ann.who, query))[0]["n"] == 0, label
    assert await kept(gm, ann.who) == {}
    assert await edges(gm, ann.who) == 0
    # The driver logs parameters at DEBUG: names of concepts, which are the institution's, and nothing that was said.
    assert not [word for word in ("ottilie", "cellar", "submarine", "midnight") if word in caplog.text.lower()]


@pytest.mark.parametrize("other", ["ann", "bob"])
async def test_what_is_held_of_others_stays_when_a_process_looks_for_ended_sessions(
    gm: Graphmem, replica: Graphmem, enrol: Enrol, other: str
) -> None:
    pupils = {name: await enrol(name) for name in ("ann", "bob")}
    for pupil in pupils.values():
        await recall(replica, pupil.session, "anything")
    await erase_student(gm, pupils[other].who)
    assert await drop_ended(replica) == 1
    (left,) = replica.cache.students()
    assert left.student_id != other


async def test_no_message_in_redis_names_the_student(gm: Graphmem, enrol: Enrol, tmp_path: Path) -> None:
    needs_redis()
    redis = RedisServer(tmp_path)
    redis.start()
    try:
        notifier = JobNotifier(gm.settings.model_copy(update={"broker": redis.address}))
        talking = another_replica(gm, background=Background(notifier))
        ann, bob = await enrol("ann"), await enrol("bob")
        for _ in range(3):
            assert await notifier.send(ann.who)
            assert await notifier.send(bob.who)
        client: Any = Redis.from_url(redis.address)
        await erase_student(talking, ann.who)
        messages = await client.xrange("graphmem-jobs")
        assert len(messages) == 3
        assert not any(b'"ann"' in str(fields).encode() for _, fields in messages)
        await client.aclose()
        await notifier.aclose()
    finally:
        redis.kill()
