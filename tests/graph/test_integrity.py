"""Whatever is changed by hand in the database is named; what the service writes is not (spec 14)."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from graphmem.app import Graphmem
from graphmem.errors import Locked, NotFound
from graphmem.flows import students
from graphmem.flows.compression import compress
from graphmem.flows.consolidation import decay
from graphmem.flows.forgetting import delete_fact, delete_observation, forget_memory
from graphmem.flows.ledger import Draft, add_entry, correct_concern, delete_entry, settle_entry
from graphmem.flows.observation import observe
from graphmem.flows.overlay import set_attitude
from graphmem.flows.students import (
    CompanionChange,
    accept_integrity,
    erase_student,
    keep_all_up,
    keep_up,
    verify_integrity,
)
from graphmem.flows.surprise import answer_question, correct_surprise, list_questions
from graphmem.flows.uncertainty import reconcile, resolve_uncertainty
from graphmem.flows.uncertainty_plan import Settling
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import Integrity, LedgerCategory, Resolution, Role, SourceKind, Verdict, Who
from graphmem.store import integrity, queries
from graphmem.store.graph import Row, Transaction
from graphmem.store.students import delete_old
from tests.conftest import PASSWORD, Enrol, Pupil, another_replica, say
from tests.support.client import Client, Refused
from tests.support.remembering import held, nodes, observations
from tests.support.tampering import by_hand
from tests.support.whole_life import lives

UNTOUCHED = {
    *(
        "budget/release",
        "budget/reserve",
        "changes/begin",
        "memory/set_vectors",
        "uncertainty/begin_cycle",
        "usage/add",
    ),
    *("erasure/begin", "erasure/delete_some", "erasure/finish", "backup/list_nodes", "notice/finish", "turn/receive"),
    # A manifest of the student is made when all is there.
    *("import/begin", "import/create_nodes", "import/create_edges", "import/create_overlay"),
    *("integrity/begin", "integrity/delete_pages", "integrity/note", "integrity/save", "integrity/set_seals"),
    *("integrity/set_public_key_seal", "tampering/forget", "tampering/mend", "tampering/note"),
    *("job/claim", "job/postpone", "job/release", "job/retry", "password/count_try", "password/settle_try"),
    *("rotation/begin", "session/renew", "session/claim_closing", "session/close", "session/expire"),
    *("session/finish", "session/keep_closing", "session/open"),
}
"""Statements that write of a student what the hash does not cover."""
VERIFY = '{ student(id: "ann") { verifyIntegrity { intact hash altered removed added fields } } }'


async def found(gm: Graphmem, who: Who) -> Integrity:
    """What verification finds, as another process sees it."""
    return await verify_integrity(another_replica(gm), who)


def test_every_writing_statement_returns_what_it_touched() -> None:
    writes = [q for q in queries.load().values() if not q.reads and "scope: student" in q.text]
    silent = {query.name for query in writes if "touched" not in query.returns and query.name != "turn/complete"}
    assert silent == UNTOUCHED


async def test_a_student_is_intact_after_every_way_of_writing(gm: Graphmem, ann: Pupil) -> None:
    """After each step, so that a failure tells which way of writing is not kept up."""
    session = ann.session
    steps: dict[str, Callable[[], Any]] = {
        "life": lambda: lives(gm, ann, "velocipede"),
        "jobs": lambda: run_jobs(gm, session),
        "concern": lambda: say(gm, ann, "I want to kill myself tonight.", "grave"),
        "more jobs": lambda: run_jobs(gm, session),
        "correct concern": lambda: correct_concern(gm, session, "concern-7", "A line of a play."),
        "correct surprise": lambda: _correct_surprise(gm, ann),
        "answer": lambda: _answer(gm, ann),
        "settle doubt": lambda: _settle_doubt(gm, ann),
        "reconcile": lambda: reconcile(gm, session),
        "ledger": lambda: _ledger(gm, ann),
        "attitude": lambda: set_attitude(gm, session, "velocipede-racing", -0.5, None, "No longer."),
        "companion": lambda: students.set_companion(gm, session, CompanionChange(name="Ada", expertise=["fractions"])),
        "forget": lambda: _forget(gm, ann),
        "delete fact": lambda: _delete_fact(gm, ann),
        "delete observation": lambda: _delete_observation(gm, ann),
        "compress": lambda: compress(gm, session, to=3),
        "decay": lambda: _decay(gm, ann),
        "password": lambda: students.change_password(gm, ann.who, PASSWORD, "another good password"),
        "close": lambda: close_session(gm, session, wait=True),
        "observe while locked": lambda: observe(gm, ann.who, observations(["Ann sings."], kind=SourceKind.TEACHER)),
        "retention": lambda: _retention(gm),
        "open": lambda: _reopened(gm, ann, "another good password"),
    }
    for step, write in steps.items():
        await write()
        now = await found(gm, ann.who)
        assert (now.altered, now.removed, now.added, now.fields) == ((), (), (), ()), step
        assert now.intact
        assert len(now.hash) == 64


async def _correct_surprise(gm: Graphmem, pupil: Pupil) -> None:
    memory = (await held(gm, pupil.session))[-1]
    await correct_surprise(gm, pupil.session, memory.id, Verdict.WAS_NOT_IMPORTANT, "It was nothing.")


async def _answer(gm: Graphmem, pupil: Pupil) -> None:
    (question, *_) = await list_questions(gm, pupil.session)
    await answer_question(gm, pupil.session, question.id, "Because I like it.")


async def _settle_doubt(gm: Graphmem, pupil: Pupil) -> None:
    (doubt, *_) = await nodes(gm, pupil.who, "Uncertainty")
    await resolve_uncertainty(gm, pupil.session, doubt["id"], Settling(Resolution.NEWER_WINS))


async def _ledger(gm: Graphmem, pupil: Pupil) -> None:
    kept = await add_entry(gm, pupil.session, Draft(LedgerCategory.DEBT, "Owes Mo two euros."))
    await settle_entry(gm, pupil.session, kept.id, "Paid.")
    await add_entry(gm, pupil.session, Draft(LedgerCategory.DEBT, "Owes Mo two euros."))
    other = await add_entry(gm, pupil.session, Draft(LedgerCategory.FACT, "Mo is seven."))
    await delete_entry(gm, pupil.session, other.id)
    for entry in await nodes(gm, pupil.who, "LedgerEntry"):
        if entry["category"] == "promise":
            await delete_entry(gm, pupil.session, entry["id"])


async def _forget(gm: Graphmem, pupil: Pupil) -> None:
    memory = next(each for each in await held(gm, pupil.session) if "cellar" in (each.content or ""))
    await forget_memory(gm, pupil.session, memory.id)


async def _delete_fact(gm: Graphmem, pupil: Pupil) -> None:
    (fact, *_) = await nodes(gm, pupil.who, "Fact")
    assert await delete_fact(gm, pupil.session, fact["id"])


async def _delete_observation(gm: Graphmem, pupil: Pupil) -> None:
    (source,) = await observe(gm, pupil.who, observations(["Ann keeps bees."], kind=SourceKind.TEACHER))
    await run_jobs(gm, pupil.session)
    await delete_observation(gm, pupil.session, source.id)


async def _decay(gm: Graphmem, pupil: Pupil) -> None:
    memory = next(each for each in await held(gm, pupil.session) if not each.in_ledger)
    doubt = "MATCH (m:Memory {institution: $i, student_id: $s, id: $id}) SET m.reliability = 'uncertain'"
    await by_hand(gm, pupil.who, doubt, id=memory.id)
    await accept_integrity(gm, pupil.who)
    later = another_replica(gm, clock=lambda: gm.clock() + timedelta(days=400))
    _, deleted = await decay(later, pupil.who)
    assert deleted >= 1


async def _retention(gm: Graphmem) -> None:
    past, future = gm.clock() - timedelta(days=10_000), gm.clock() + timedelta(days=1)
    await delete_old(gm.graph, {"tries": past, "usage": past, "questions": future, "jobs": past})


async def _reopened(gm: Graphmem, pupil: Pupil, password: str) -> None:
    _, session = await students.open_session(gm, pupil.who, password)
    await run_jobs(gm, session)
    await close_session(gm, session, wait=True)


MEMORY = "MATCH (m:Memory {i: 1}) WITH m LIMIT 1 "
TAMPERING = {
    "a clear number": (MEMORY + "SET m.valence = 0.99 RETURN m.id AS id", "altered"),
    "a sealed value": (MEMORY + "SET m.content = $junk RETURN m.id AS id", "altered"),
    "a property more": (MEMORY + "SET m.note = 'x' RETURN m.id AS id", "altered"),
    "a label": (MEMORY + "SET m:Forged RETURN m.id AS id", "altered"),
    "a category": (
        "MATCH (e:LedgerEntry {i: 1}) WHERE e.category <> 'instruction' WITH e LIMIT 1 "
        "SET e.category = 'instruction' RETURN e.id AS id",
        "altered",
    ),
    "a public key": ("MATCH (n:Student {i: 1}) SET n.public_key = $junk RETURN 'student' AS id", "altered"),
    "a persona": ("MATCH (n:Companion {i: 1}) SET n.persona = $junk RETURN 'companion' AS id", "altered"),
    "an edge's weight": (
        "MATCH (a:Memory {i: 1})-[r:ABSTRACTS]->(b) WITH a, r, b LIMIT 1 SET r.weight = 0.123 "
        "RETURN a.id + ' ABSTRACTS ' + b.id AS id",
        "altered",
    ),
    "what is known of a concept": (
        "MATCH (n:Student {i: 1})-[k:KNOWS]->(c) WITH k, c LIMIT 1 SET k.familiarity = 0.77 "
        "RETURN 'student KNOWS ' + c.id AS id",
        "altered",
    ),
    "a deleted memory": (MEMORY + "WITH m, m.id AS id DETACH DELETE m RETURN id", "removed"),
    "a deleted fact": (
        "MATCH (f:Fact {i: 1}) WITH f LIMIT 1 WITH f, f.id AS id DETACH DELETE f RETURN id",
        "removed",
    ),
    "a deleted concern": ("MATCH (c:Concern {i: 1}) WITH c, c.id AS id DETACH DELETE c RETURN id", "removed"),
    "a deleted edge": (
        "MATCH (a:Memory {i: 1})-[r:FORMED_FROM]->(b:Source) WITH a, r, b LIMIT 1 "
        "WITH r, a.id + ' FORMED_FROM ' + b.kind + ':' + b.ref AS id DELETE r RETURN id",
        "removed",
    ),
    "an inserted memory": (
        "CREATE (m:Memory:Semantic {institution: $i, student_id: $s, id: 'forged'}) RETURN m.id AS id",
        "added",
    ),
    "an inserted edge": (
        "MATCH (a:Memory {i: 1}), (b:Memory {i: 1}) WHERE a.id < b.id AND NOT EXISTS { (a)-[:CONTRADICTS]->(b) } "
        "WITH a, b LIMIT 1 CREATE (a)-[:CONTRADICTS {weight: 1.0}]->(b) RETURN a.id + ' CONTRADICTS ' + b.id AS id",
        "added",
    ),
}


def _statement(text: str) -> str:
    return text.replace("{i: 1}", "{institution: $i, student_id: $s}")


async def test_each_kind_of_tampering_is_named_and_nothing_else(gm: Graphmem, ann: Pupil) -> None:
    await lives(gm, ann, "velocipede")
    await say(gm, ann, "I want to kill myself tonight.", "grave")
    await run_jobs(gm, ann.session)
    assert (await found(gm, ann.who)).intact
    for name, (statement, kind) in TAMPERING.items():
        (row,) = await by_hand(gm, ann.who, _statement(statement), junk=b"\x07" * 60)
        now = await found(gm, ann.who)
        assert not now.intact, name
        named = getattr(now, kind)
        assert row["id"] in named, name
        others = [each for kinds in ("altered", "removed", "added") if kinds != kind for each in getattr(now, kinds)]
        assert others == [], name
        # Of a deleted node the relationships are named, too.
        assert len(named) == 1 or "deleted" in name, name
        assert (await accept_integrity(gm, ann.who)).intact, name


async def test_two_sealed_values_swapped_are_both_named(gm: Graphmem, ann: Pupil) -> None:
    await lives(gm, ann, "velocipede")
    await keep_up(gm, ann.who)
    swap = """MATCH (a:Memory {institution: $i, student_id: $s}), (b:Memory {institution: $i, student_id: $s})
              WHERE a.id < b.id WITH a, b LIMIT 1 WITH a, b, a.content AS x, b.content AS y
              SET a.content = y, b.content = x RETURN [a.id, b.id] AS ids"""
    (row,) = await by_hand(gm, ann.who, swap)
    assert set((await found(gm, ann.who)).altered) == set(row["ids"])
    assert set((await found(gm, ann.who)).fields) == {f"{each}.content" for each in row["ids"]}


async def test_a_memory_rolled_back_with_its_page_is_noticed(gm: Graphmem, ann: Pupil) -> None:
    """Whoever writes to the database can put back an old node, and everything of the record that belongs to it."""
    await lives(gm, ann, "velocipede")
    await keep_up(gm, ann.who)
    read = """MATCH (n {institution: $i, student_id: $s}) WHERE n:Memory OR n:ManifestPage
              RETURN elementId(n) AS e, properties(n) AS p"""
    before = {row["e"]: row["p"] for row in await by_hand(gm, ann.who, read)}
    (memory, *_) = await held(gm, ann.session)
    await say(gm, ann, "My sister Ottilie hides a velocipede in Lisbon.", "again", used=[memory.id])
    assert (await found(gm, ann.who)).intact
    find = "MATCH (m:Memory {institution: $i, id: $m}) RETURN elementId(m) AS e"
    (row,) = await by_hand(gm, ann.who, find, m=memory.id)
    back = "MATCH (n) WHERE elementId(n) = $e SET n = $p"
    await by_hand(gm, ann.who, back, e=row["e"], p=before[row["e"]])
    assert (await found(gm, ann.who)).altered == (memory.id,)
    for row in await by_hand(gm, ann.who, read):
        if "content" in row["p"] and "number" in row["p"] and row["e"] in before:
            await by_hand(gm, ann.who, back, e=row["e"], p=before[row["e"]])
    now = await found(gm, ann.who)
    assert not now.intact
    assert integrity.MANIFEST in now.altered


async def test_what_was_altered_is_still_named_after_the_memory_was_used(gm: Graphmem, ann: Pupil) -> None:
    await lives(gm, ann, "velocipede")
    await keep_up(gm, ann.who)
    (memory, *_) = await held(gm, ann.session)
    alter = "MATCH (m:Memory {institution: $i, student_id: $s, id: $id}) SET m.valence = 0.99"
    await by_hand(gm, ann.who, alter, id=memory.id)
    await say(gm, ann, "Once more.", "again", used=[memory.id])
    (used,) = [node for node in await nodes(gm, ann.who, "Memory") if node["id"] == memory.id]
    assert used["access_count"] > memory.access_count
    assert (await found(gm, ann.who)).fields == (f"{memory.id}.valence",)


async def test_the_record_cannot_be_made_by_hand(gm: Graphmem, ann: Pupil) -> None:
    await lives(gm, ann, "velocipede")
    await keep_up(gm, ann.who)
    (note,) = await _a_note(gm, ann)
    alter = "MATCH (m:Memory {institution: $i, student_id: $s}) WITH m LIMIT 1 SET m.gravity = 0.5, m.access_count = 99"
    await by_hand(gm, ann.who, alter)
    put_back = "CREATE (n:ManifestNote {institution: $i, student_id: $s, id: $id, content: $c})"
    await by_hand(gm, ann.who, put_back, id=note["id"], c=note["content"])
    await by_hand(gm, ann.who, put_back, id="forged", c=b"x" * 100)
    await by_hand(gm, ann.who, put_back, id="renamed", c=note["content"])
    await by_hand(gm, ann.who, put_back, id="empty", c=None)
    assert len((await found(gm, ann.who)).altered) == 1
    gone = "MATCH (n {institution: $i, student_id: $s}) WHERE n:ManifestPage DELETE n"
    await by_hand(gm, ann.who, gone)
    assert integrity.MANIFEST in (await found(gm, ann.who)).altered
    await by_hand(gm, ann.who, "MATCH (n:Student {institution: $i, id: $s}) REMOVE n.manifest_root")
    now = await found(gm, ann.who)
    assert now.removed == (integrity.MANIFEST,)
    assert now.hash == ""
    await by_hand(gm, ann.who, "MATCH (n:Student {institution: $i, id: $s}) SET n.manifest_root = $r", r=b"x" * 99)
    assert (await found(gm, ann.who)).altered == (integrity.MANIFEST,)


async def _a_note(gm: Graphmem, pupil: Pupil) -> list[dict[str, Any]]:
    """A note of a turn that used every memory, taken in since."""
    used = [memory.id for memory in await held(gm, pupil.session)][:10]
    await say(gm, pupil, "Everything once more.", "all", used=used)
    read = "MATCH (n:ManifestNote {institution: $i, student_id: $s}) RETURN n.id AS id, n.content AS content"
    notes = await by_hand(gm, pupil.who, read)
    await keep_up(gm, pupil.who)
    assert await by_hand(gm, pupil.who, read) == []
    return notes


async def test_an_old_lock_put_back_lets_no_old_password_in(gm: Graphmem, ann: Pupil) -> None:
    read = "MATCH (n:Student {institution: $i, id: $s}) RETURN n {.salt, .wrapped_key} AS lock"
    (row,) = await by_hand(gm, ann.who, read)
    await students.change_password(gm, ann.who, PASSWORD, "another good password")
    await by_hand(gm, ann.who, "MATCH (n:Student {institution: $i, id: $s}) SET n += $lock", lock=row["lock"])
    with pytest.raises(Locked, match="changed outside"):
        await students.open_session(gm, ann.who, PASSWORD)
    with pytest.raises(Locked, match="changed outside"):
        await students.change_password(gm, ann.who, PASSWORD, "a password of mine")
    assert (await found(gm, ann.who)).fields == ("student.salt", "student.wrapped_key")


async def test_the_server_secret_can_be_changed(gm: Graphmem, ann: Pupil) -> None:
    await lives(gm, ann, "velocipede")
    await keep_up(gm, ann.who)
    secrets = (b"n" * 32, gm.secret)
    both = another_replica(gm, secret=secrets[0], secret_before=secrets[1], graph=_with_secrets(gm, *secrets))
    before = await found(gm, ann.who)
    assert await verify_integrity(both, ann.who) == before
    assert await integrity.renew_seals(both.graph) >= 1
    new = another_replica(gm, secret=secrets[0], secret_before=None, graph=_with_secrets(gm, secrets[0]))
    assert await verify_integrity(new, ann.who) == before
    await students.open_session(new, ann.who, PASSWORD)
    await observe(new, ann.who, observations(["Ann was brave today."], kind=SourceKind.SYSTEM))
    assert (await verify_integrity(new, ann.who)).intact
    # For the tests that follow in this database.
    await integrity.renew_seals(_with_secrets(gm, gm.secret, secrets[0]))


def _with_secrets(gm: Graphmem, *secrets: bytes) -> Any:
    from graphmem.store.graph import Graph

    return Graph(gm.graph._driver, gm.graph._timeout, secrets)


async def test_students_do_not_touch_each_other(gm: Graphmem, enrol: Enrol) -> None:
    ann, bob = await enrol("ann"), await enrol("bob")
    await lives(gm, ann, "velocipede")
    await lives(gm, bob, "velocipede")
    await keep_up(gm, bob.who)
    await by_hand(gm, bob.who, "MATCH (m:Memory {institution: $i, student_id: $s}) SET m.valence = 0.5")
    assert (await found(gm, ann.who)).intact
    assert not (await found(gm, bob.who)).intact
    await erase_student(gm, bob.who)
    left = "MATCH (n {institution: $i, student_id: $s}) RETURN count(n) AS n"
    assert await by_hand(gm, bob.who, left) == [{"n": 0}]
    with pytest.raises(NotFound):
        await verify_integrity(gm, bob.who)


@pytest.mark.usefixtures("nobody_else")
async def test_notes_are_taken_in_by_the_sweep(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "I love purple submarines.")
    assert await nodes(gm, ann.who, "ManifestNote") != []
    await keep_all_up(gm)
    assert await nodes(gm, ann.who, "ManifestNote") == []


async def test_many_notes_are_taken_in_by_several_transactions_however_old_they_are(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(integrity, "PLACES_AT_ONCE", 1)
    for n, text in enumerate(["I love purple submarines.", "I live in Bergen.", "My sister plays the cello."]):
        await say(gm, ann, text, f"note {n}")
    noted = len(await nodes(gm, ann.who, "ManifestNote"))
    assert noted > 2
    later = gm.clock() + 2 * integrity.NOTE_AGE
    await integrity._take_in(gm.graph, ann.who, later)
    assert 0 < len(await nodes(gm, ann.who, "ManifestNote")) < noted
    while await integrity.take_in(gm.graph, ann.who, later):
        pass
    assert (await found(gm, ann.who)).intact


async def test_transaction_leaves_one_note(gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch) -> None:
    await observe(gm, ann.who, observations(["My sister plays the cello."]))
    await run_jobs(gm, ann.session)
    memory = (await held(gm, ann.session))[0]
    await integrity.take_in(gm.graph, ann.who, gm.clock())
    sent: list[str] = []
    send = Transaction._sent

    async def counted(self: Transaction, text: str, params: dict[str, Any]) -> list[Row]:
        sent.append(text)
        return await send(self, text, params)

    async def work(tx: Transaction) -> bool:
        await tx.run("changes/set:Companion", rows=[{"id": "companion", "properties": {"tolerance": 0.25}}])
        await tx.run("changes/set:Memory", rows=[{"id": memory.id, "properties": {"confidence": 0.5, "written": 9}}])
        await tx.run("changes/set:Companion", rows=[{"id": "companion", "properties": {"tolerance": 0.75}}])
        return True

    monkeypatch.setattr(Transaction, "_sent", counted)
    await gm.graph.transact(ann.who, work)
    assert ["ManifestNote" in text for text in sent] == [False, False, False, True]
    assert len(await nodes(gm, ann.who, "ManifestNote")) == 1
    (companion,) = await nodes(gm, ann.who, "Companion")
    assert companion["tolerance"] == 0.75
    assert (await found(gm, ann.who)).intact


async def test_notes_are_taken_in_while_the_student_talks_by_several_at_once(gm: Graphmem, ann: Pupil) -> None:
    async def talk() -> None:
        for n, text in enumerate(["I love purple submarines.", "I live in Bergen.", "My sister plays the cello."]):
            await say(gm, ann, text, f"note {n}")

    async def look(replica: Graphmem) -> None:
        while not talking.done():
            await integrity.take_in(replica.graph, ann.who, replica.clock())

    talking = asyncio.create_task(talk())
    await asyncio.gather(talking, *(look(another_replica(gm)) for _ in range(3)))
    assert (await found(gm, ann.who)).intact
    assert await nodes(gm, ann.who, "ManifestNote") == []


async def test_a_manifest_is_not_saved_over_one_that_somebody_else_saved(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "I love purple submarines.")
    (before,) = await gm.graph.run("integrity/get_root", ann.who)
    await keep_up(gm, ann.who)
    (now,) = await gm.graph.run("integrity/get_root", ann.who)
    assert now["root"] != before["root"]
    late = {"root_before": before["root"], "root": b"late", "pages": [], "notes": []}
    assert await gm.graph.run("integrity/save", ann.who, now=gm.clock(), **late) == []
    assert await gm.graph.run("integrity/get_root", ann.who) == [now]


async def test_students_with_notes_are_listed_in_pages(gm: Graphmem, ann: Pupil, enrol: Enrol) -> None:
    pupils = [ann, await enrol("bob"), await enrol("cleo")]
    for pupil in pupils:
        await say(gm, pupil, "I love purple submarines.")
    last, found = Who(ann.who.institution, ""), []
    while page := [
        who for who in await integrity.list_noted(gm.graph, last, limit=1) if who.institution == last.institution
    ]:
        found += page
        last = page[-1]
    assert found == [pupil.who for pupil in pupils]


async def test_an_auditor_verifies_without_any_key(
    gm: Graphmem, ann: Pupil, http: httpx.AsyncClient, bearer: Callable[[Role], str]
) -> None:
    await say(gm, ann, "I love purple submarines.")
    await close_session(gm, ann.session, wait=True)
    auditor = Client(http, bearer(Role.AUDITOR))
    seen = (await auditor.call(VERIFY))["verifyIntegrity"]
    assert (seen["intact"], seen["altered"]) == (True, [])
    await by_hand(gm, ann.who, "MATCH (m:Companion {institution: $i, student_id: $s}) SET m.tolerance = 0.8")
    seen = (await auditor.call(VERIFY))["verifyIntegrity"]
    assert (seen["intact"], seen["altered"], seen["fields"]) == (False, ["companion"], ["companion.tolerance"])
    teacher = replace(auditor, token=bearer(Role.TEACHER))
    with pytest.raises(Refused) as refused:
        await teacher.call(VERIFY)
    assert refused.value.code == "FORBIDDEN"
