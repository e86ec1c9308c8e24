"""One value altered by hand costs one node, not the student (spec 14)."""

from collections import Counter
from typing import Any

import pytest

from graphmem import metrics
from graphmem.app import Graphmem
from graphmem.commands.doctor import check_sealed_values
from graphmem.errors import Conflict, Locked, SetupError
from graphmem.flows import students
from graphmem.flows.context import context, recall
from graphmem.flows.facts import list_facts
from graphmem.flows.ledger import Draft, add_entry, list_entries
from graphmem.flows.memories import list_memories
from graphmem.flows.observation import observe
from graphmem.flows.overlay import list_overlay
from graphmem.flows.surprise import list_questions
from graphmem.flows.transfer import export_student
from graphmem.flows.uncertainty import list_uncertainties
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import LedgerCategory
from graphmem.settings import Settings
from graphmem.store.memories import Filter
from tests.conftest import PASSWORD, Enrol, Pupil, another_replica, say
from tests.support.own_neo4j import Access
from tests.support.remembering import held, nodes, observations
from tests.support.tampering import by_hand, noticed
from tests.support.whole_life import lives

ONE_OF_EACH = """
    UNWIND [['Memory', 'content'], ['Memory', 'details'], ['Memory', 'embedding'], ['Memory', 'surprise_response'],
            ['Fact', 'text'], ['LedgerEntry', 'triggers'], ['Entity', 'name'], ['Question', 'text'],
            ['Uncertainty', 'reasoning'], ['Turn', 'text'], ['Companion', 'persona'], ['Companion', 'prediction'],
            ['Student', 'display_name'], ['Job', 'payload']] AS place
    CALL (place) {
      MATCH (n:$(place[0]) {institution: $i, student_id: $s})
      WHERE n[place[1]] IS NOT NULL AND n.broken IS NULL
      WITH n ORDER BY n.id LIMIT 1
      SET n[place[1]] = $junk, n.broken = true
      RETURN n.id AS id
    }
    RETURN place[0] AS label, place[1] AS field, id"""


async def read_everything(gm: Graphmem, pupil: Pupil) -> dict[str, Any]:
    """What every path that opens sealed values gives."""
    session = pupil.session
    return {
        "recall": await recall(gm, session, "Where is Ottilie of Lisbon?", 20, None),
        "context": (await context(gm, session, "Where is Ottilie of Lisbon?", 2000, None)).prompt,
        "memories": (await list_memories(gm, session, Filter(), 100, None, session)).items,
        "facts": await list_facts(gm, session, 50),
        "ledger": await list_entries(gm, session),
        "questions": await list_questions(gm, session),
        "uncertainties": await list_uncertainties(gm, session, session),
        "overlay": (await list_overlay(gm, session, 50, None, session)).items,
        "student": await students.find_student(gm, session, session),
        "export": await export_student(gm, session),
    }


async def test_one_altered_value_of_each_kind_costs_its_node_alone(
    gm: Graphmem, ann: Pupil, caplog: pytest.LogCaptureFixture
) -> None:
    await lives(gm, ann, "velocipede")
    before = await read_everything(another_replica(gm), ann)
    broken = await by_hand(gm, ann.who, ONE_OF_EACH, junk=b"\x07" * 60)
    await by_hand(gm, ann.who, "MATCH (:Student {institution: $i, id: $s})-[k:KNOWS]->() SET k.notes = $j", j=b"no")
    assert len({row["label"] for row in broken}) >= 10
    counted = metrics.tampered_values._value.get()

    fresh = another_replica(gm)
    after = await read_everything(fresh, ann)
    outcome = await say(fresh, ann, "My sister Ottilie came back from Lisbon.", "t20")
    assert outcome.reply
    await run_jobs(fresh, ann.session)
    lost = Counter(row["label"] for row in broken)
    assert len(before["memories"]) - len(after["memories"]) in range(1, lost["Memory"] + 1)
    assert len(before["facts"]) - len(after["facts"]) == lost["Fact"]
    assert len(before["ledger"]) - len(after["ledger"]) == lost["LedgerEntry"]
    assert len(before["questions"]) - len(after["questions"]) == lost["Question"]
    assert after["recall"]
    assert len(after["overlay"]) == len(before["overlay"])
    assert len(after["export"]["nodes"]) >= len(before["export"]["nodes"])
    told = {name for node in after["export"]["nodes"] for name in node.get("tampered", [])}
    assert {"content", "text", "persona", "payload"} <= told

    found = await noticed(gm, ann.who)
    assert {(row["label"], row["field"]) for row in broken} - {(label, field) for label, _, field in found} == set()
    assert metrics.tampered_values._value.get() - counted == len(found)
    log = [record.getMessage() for record in caplog.records if record.name == "graphmem.store.tampering"]
    assert len(log) == len(found)
    assert not any(word in line for line in log for word in ("Ottilie", "Name of", "Likes", "swims"))
    # What was noticed is noted once.
    await read_everything(another_replica(gm), ann)
    assert await noticed(gm, ann.who) == found


async def test_a_session_closes_though_a_waiting_message_does_not_open(gm: Graphmem, ann: Pupil) -> None:
    await lives(gm, ann, "velocipede")
    await by_hand(gm, ann.who, "MATCH (t:Turn {institution: $i, id: 'waiting'}) SET t.text = $j", j=b"x" * 50)
    await close_session(another_replica(gm), ann.session, wait=True)
    assert ("Turn", "waiting", "text") in await noticed(gm, ann.who)
    assert await nodes(gm, ann.who, "Turn") == []


@pytest.mark.parametrize("change", ["kind = 'nonsense'", "gravity = null", "reliability = 'good'"])
async def test_a_clear_value_that_makes_no_sense_costs_one_memory(gm: Graphmem, ann: Pupil, change: str) -> None:
    for i, text in enumerate(("My horse Bella won a prize on Sunday.", "I live in Bergen with two cats.")):
        await say(gm, ann, text, f"t{i}")
    await run_jobs(gm, ann.session)
    first, *others = await held(gm, ann.session)
    await by_hand(gm, ann.who, f"MATCH (m:Memory {{institution: $i, id: $id}}) SET m.{change}", id=first.id)
    page = await list_memories(another_replica(gm), ann.session, Filter(), 100, None, ann.session)
    assert {memory.id for memory in page.items} & {first.id, *(o.id for o in others)} == {o.id for o in others}
    assert await recall(another_replica(gm), ann.session, "Bella", 5, None)


async def test_a_page_goes_on_behind_a_memory_that_does_not_open(gm: Graphmem, ann: Pupil) -> None:
    told = ["My horse Bella won a prize.", "I live in Bergen.", "My brother Mo plays chess.", "I love submarines."]
    for i, text in enumerate(told):
        await say(gm, ann, text, f"t{i}")
    await run_jobs(gm, ann.session)
    everything = [memory.id for memory in await held(gm, ann.session)]
    alter = "MATCH (m:Memory {institution: $i, id: $id}) SET m.content = $j"
    await by_hand(gm, ann.who, alter, id=everything[1], j=b"x")
    seen, after = [], None
    while True:
        page = await list_memories(gm, ann.session, Filter(), 1, after, ann.session)
        seen += [memory.id for memory in page.items]
        if (after := page.next) is None:
            break
    assert [each for each in seen if each in everything] == [each for each in everything[::-1] if each != everything[1]]


async def test_a_changed_category_is_noticed(gm: Graphmem, ann: Pupil) -> None:
    kept = await add_entry(gm, ann.session, Draft(LedgerCategory.OBSERVATION, "Always give me the full solution."))
    other = await add_entry(gm, ann.session, Draft(LedgerCategory.INSTRUCTION, "Call me Mo."))
    await by_hand(
        gm, ann.who, "MATCH (e:LedgerEntry {institution: $i, id: $id}) SET e.category = 'instruction'", id=kept.id
    )
    fresh = another_replica(gm)
    assert [entry.id for entry in await list_entries(fresh, ann.session)] == [other.id]
    assert "full solution" not in (await context(fresh, ann.session, "Hello", 2000, None)).prompt
    assert await noticed(gm, ann.who) == {("LedgerEntry", kept.id, "category")}
    with pytest.raises(Conflict, match="delete it first"):
        await add_entry(gm, ann.session, Draft(LedgerCategory.OBSERVATION, "Always give me the full solution."))


async def test_a_text_does_not_open_under_another_label(gm: Graphmem, ann: Pupil) -> None:
    """The app chooses the ids of turns: one that is that of a fact does not make its text that fact's."""
    await say(gm, ann, "Nine otters sing.", "first", reply="How many spoons did Julia buy in total?")
    await say(gm, ann, "I love purple submarines!", "second")
    await run_jobs(gm, ann.session)
    fact_id = "fact-900"
    await say(gm, ann, "Ann cheats in every test.", fact_id)
    await by_hand(
        gm,
        ann.who,
        """MATCH (t:Turn {institution: $i, student_id: $s, id: $id}), (f:Fact {institution: $i, student_id: $s})
           WITH t, f LIMIT 1 SET f.text = t.text, f.id = $id""",
        id=fact_id,
    )
    assert "cheats" not in str(await list_facts(gm, ann.session, 10))
    assert ("Fact", fact_id, "text") in await noticed(gm, ann.who)


async def test_an_exchanged_public_key_is_refused_and_put_right(gm: Graphmem, enrol: Enrol) -> None:
    pupil, mallory = await enrol("ann"), await enrol("mallory")
    await close_session(gm, pupil.session, wait=True)
    own = (await nodes(gm, pupil.who, "Student"))[0]["public_key"]
    swap = """MATCH (a:Student {institution: $i, id: 'ann'}), (m:Student {institution: $i, id: 'mallory'})
              SET a.public_key = m.public_key, a.public_key_seal = m.public_key_seal"""
    await by_hand(gm, mallory.who, swap)
    with pytest.raises(Conflict, match="public key"):
        await observe(gm, pupil.who, observations(["Ann was brave today."]))
    assert await nodes(gm, pupil.who, "Job") == []
    _, session = await students.open_session(gm, pupil.who, PASSWORD)
    assert (await nodes(gm, pupil.who, "Student"))[0]["public_key"] == own
    assert await noticed(gm, pupil.who) == {("Student", "student", "public_key")}
    await observe(gm, pupil.who, observations(["Ann was brave today."]))
    assert await run_jobs(gm, session) == 1


async def test_a_student_who_is_switched_to_readable_is_refused(gm: Graphmem, ann: Pupil) -> None:
    switch = "MATCH (a:Student {institution: $i, id: $s}) SET a.sealing = 'off'"
    await by_hand(gm, ann.who, switch)
    with pytest.raises(Conflict, match="changed outside"):
        await observe(gm, ann.who, observations(["Ann was brave today."]))
    assert await nodes(gm, ann.who, "Job") == []
    with pytest.raises(Locked):
        await students.open_session(gm, ann.who, PASSWORD)


async def test_another_server_secret_vouches_anew(gm: Graphmem, ann: Pupil) -> None:
    rotated = another_replica(gm, secret=b"n" * 32, secret_before=gm.secret)
    await observe(rotated, ann.who, observations(["Ann was brave today."]))
    await students.open_session(rotated, ann.who, PASSWORD)
    alone = another_replica(gm, secret=b"n" * 32, secret_before=None)
    await observe(alone, ann.who, observations(["Ann was kind today."]))
    assert await noticed(gm, ann.who) == set()


async def test_the_doctor_tells_of_values_that_did_not_open(gm: Graphmem, ann: Pupil, neo4j_access: Access) -> None:
    kept = await add_entry(gm, ann.session, Draft(LedgerCategory.FACT, "Mo is seven."))
    await by_hand(
        gm, ann.who, "MATCH (e:LedgerEntry {institution: $i, id: $id}) SET e.summary = $j", id=kept.id, j=b"x"
    )
    await list_entries(gm, ann.session)
    settings = Settings(neo4j_uri=neo4j_access.uri, neo4j_user=neo4j_access.user, neo4j_password=neo4j_access.password)
    with pytest.raises(SetupError, match="did not open"):
        await check_sealed_values(settings)
