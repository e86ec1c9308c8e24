"""Importing an exported student on the real database: the same graph elsewhere, all of it or nothing (spec 14)."""

import json
import tracemalloc
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from graphmem import sealing
from graphmem.app import Graphmem
from graphmem.errors import Conflict, InvalidInput, Locked
from graphmem.flows import students
from graphmem.flows.context import recall
from graphmem.flows.students import verify_integrity
from graphmem.flows.transfer import (
    export_pieces,
    export_student,
    export_text,
    import_student,
    planned_graph,
    read_document,
)
from graphmem.flows.world import WorldDraft, import_world
from graphmem.jobs.runner import run_jobs
from graphmem.model import Concept, Role, Session, Who, WorldEdge
from graphmem.store import transfer
from graphmem.store.graph import Transaction
from graphmem.store.nodes import kind_of
from graphmem.store.students import begin_erasure, find_enrolled
from graphmem.store.transfer import ImportedGraph, ImportedNode, write_imported
from tests.conftest import BOTH_FORMS, Pupil, another_replica, say
from tests.graph.test_erasure import kept
from tests.support.client import Client, Refused
from tests.support.remembering import asked, changed
from tests.support.student_graph import alike, comparable, vectors
from tests.support.whole_life import lives

NEW_PASSWORD = "quite another password"


async def the_world(gm: Graphmem, institution: str, secret: str) -> None:
    concepts = [Concept(f"{secret}-{each}", f"{secret} {each}") for each in ("diving", "racing")]
    edge = WorldEdge(f"{secret}-edge", concepts[0].id, concepts[1].id, "RELATED_TO")
    await import_world(gm, institution, WorldDraft([(each.id, each) for each in concepts], [("edge", edge)]))


async def opened(gm: Graphmem, who: Who, password: str = NEW_PASSWORD) -> Session:
    _, session = await students.open_session(gm, who, password)
    return session


def elsewhere(form: str = "school") -> Who:
    return Who(f"{form}-{uuid4().hex}", "bea")


async def unopened(gm: Graphmem, who: Who, password: str) -> dict[str, Any]:
    """What is kept of a student whose session has never been opened: the session leaves no traces."""
    enrolled = await find_enrolled(gm.graph, who, gm.clock())
    assert enrolled is not None
    keys = sealing.unlock(who, enrolled.lock, password)
    session = Session(who.institution, who.student_id, "looking", gm.clock() + timedelta(hours=1), keys)
    query = """MATCH (s:Student {institution: $i, id: $s})
               CREATE (:OpenSession {institution: $i, student_id: $s, id: 'looking', expires_at: $until})"""
    await changed(gm, who, query, until=session.expires_at)
    document = await export_student(gm, session)
    await changed(gm, who, "MATCH (o:OpenSession {institution: $i, student_id: $s}) DELETE o")
    return document


@BOTH_FORMS
@pytest.mark.parametrize("form", ["school", "clear"])
async def test_the_same_graph_is_made_elsewhere_node_by_node(gm: Graphmem, ann: Pupil, form: str) -> None:
    await lives(gm, ann, "marmalade")
    await say(gm, ann, "My dad hits me at home.", "t9")
    query = "MATCH (j:Job {institution: $i, student_id: $s, state: 'waiting'}) SET j.state = 'dead', j.attempts = 5"
    await changed(gm, ann.who, query)
    text = await export_text(gm, ann.session)
    bea = elsewhere(form)
    await the_world(gm, bea.institution, "marmalade")
    done = await import_student(another_replica(gm), bea, NEW_PASSWORD, text)
    assert (done.left_out, done.repeated) == (0, False)
    assert (await verify_integrity(gm, bea)).intact
    theirs = await unopened(gm, bea, NEW_PASSWORD)
    ours = json.loads(text)
    assert (theirs["institution"], theirs["student_id"]) == (bea.institution, "bea")
    (our_nodes, our_edges, our_rest), (their_nodes, their_edges, their_rest) = comparable(ours), comparable(theirs)
    assert their_nodes.keys() == our_nodes.keys()
    for name, node in our_nodes.items():
        assert their_nodes[name] == node, name
    assert their_edges == our_edges
    assert their_rest == our_rest
    kinds = {kind_of(node["labels"]) for node in ours["nodes"]}
    assert kinds >= {"Turn", "Job", "Concern", "Question", "Reflection", "Uncertainty", "LedgerEntry", "Entity"}
    assert "squeaks" in json.dumps([node for node in theirs["nodes"] if "Job" in node["labels"]])
    assert all([our_rest["overlay"], our_rest["discovered"], ours["links"]])
    # Sealed anew: no sealed value, hash or key of the one is one of the other's.
    all_of = "MATCH (n {institution: $i, student_id: $s}) WHERE NOT n:OpenSession RETURN properties(n) AS p"
    mine, hers = await asked(gm, ann.who, all_of), await asked(gm, bea, all_of)
    assert not sealed_values(mine) & sealed_values(hers)
    assert not hashes(mine) & hashes(hers)
    session = await opened(gm, bea)
    assert alike(await vectors(gm, ann.session), await vectors(gm, session)) > 0.99


def sealed_values(rows: list[dict[str, Any]]) -> set[bytes]:
    return {bytes(value) for row in rows for value in row["p"].values() if isinstance(value, bytes | bytearray)}


def hashes(rows: list[dict[str, Any]]) -> set[str]:
    return {row["p"][name] for row in rows for name in ("content_hash", "slot_key", "key") if row["p"].get(name)}


async def test_what_was_said_before_is_known_in_the_new_place(gm: Graphmem, ann: Pupil) -> None:
    for i in range(2):
        await say(gm, ann, "My favourite colour is teal. I owe Mia five euros.", f"t{i}")
        await run_jobs(gm, ann.session)
    document = await export_student(gm, ann.session)
    (memory, *_) = [n for n in document["nodes"] if n["properties"].get("slot_key")]
    assert memory["keyed"].keys() == {"content_hash", "slot_key"}
    bea = elsewhere()
    await import_student(gm, bea, NEW_PASSWORD, json.dumps(document))
    session = await opened(gm, bea)
    before = await kept(gm, bea)
    pupil = Pupil(bea, NEW_PASSWORD, session, "")
    await say(gm, pupil, "My favourite colour is teal. I owe Mia five euros.", "t2")
    await run_jobs(gm, session)
    after = await kept(gm, bea)
    assert {label: after[label] for label in ("Memory", "Entity", "LedgerEntry")} == {
        label: before[label] for label in ("Memory", "Entity", "LedgerEntry")
    }
    assert any("teal" in (each.memory.content or "") for each in await recall(gm, session, "favourite colour", 5, None))
    with pytest.raises(Locked):
        await opened(gm, bea, ann.password)


async def test_a_document_that_is_not_whole_imports_nothing(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "My sister Ottilie hides marmalade in Lisbon.")
    await run_jobs(gm, ann.session)
    text = await export_text(gm, ann.session)
    whole = json.loads(text)
    bea = elsewhere()
    place = next(i for i, node in enumerate(whole["nodes"]) if "Memory" in node["labels"])

    def broken(change: Callable[[dict[str, Any]], Any]) -> str:
        document = deepcopy(whole)
        change(document)
        return json.dumps(document)

    told = {
        "not JSON": text[: len(text) // 2],
        "format": broken(lambda d: d.update(format="another")),
        "version": broken(lambda d: d.update(version=1)),
        f"nodes\\[{place}\\].properties.gravity": broken(lambda d: d["nodes"][place]["properties"].update(gravity=7)),
        f"nodes\\[{place}\\].properties.content": broken(lambda d: d["nodes"][place]["properties"].pop("content")),
        f"nodes\\[{place}\\].properties.wrapped_key": broken(
            lambda d: d["nodes"][place]["properties"].update(wrapped_key="x")
        ),
        "surprise_response": broken(lambda d: d["nodes"][place]["properties"].update(surprise_response={"level": 3})),
        "same number": broken(lambda d: d["nodes"].append(d["nodes"][place])),
        "have the same id": broken(lambda d: d["nodes"].append(d["nodes"][place] | {"number": 10**6})),
        "one Student": broken(lambda d: d["nodes"].pop(0)),
        "not there": broken(lambda d: d["edges"][0].update(to=10**6)),
        "unknown type": broken(lambda d: d["edges"][0].update(type="OWNS")),
        "unknown labels": broken(lambda d: d["nodes"][place].update(labels=["Schema"])),
    }
    for fault, document in told.items():
        with pytest.raises(InvalidInput, match=fault):
            await import_student(gm, bea, NEW_PASSWORD, document)
        assert await kept(gm, bea) == {}
    with pytest.raises(InvalidInput, match="password"):
        await import_student(gm, bea, "short", text)
    assert await kept(gm, bea) == {}


async def test_a_job_that_did_not_open_is_named_in_the_document_and_not_imported(gm: Graphmem, ann: Pupil) -> None:
    await lives(gm, ann, "marmalade")
    query = """MATCH (j:Job {institution: $i, student_id: $s, state: 'waiting'}) WITH j LIMIT 1
               SET j.state = 'dead', j.payload = $junk"""
    await changed(gm, ann.who, query, junk=b"\x07" * 60)
    text = await export_text(gm, ann.session)
    (damaged,) = [node for node in json.loads(text)["nodes"] if "tampered" in node]
    assert (damaged["labels"], damaged["tampered"]) == (["Job"], ["payload"])
    bea = elsewhere()
    done = await import_student(gm, bea, NEW_PASSWORD, text, skip_unknown=True)
    assert done.nodes == len(json.loads(text)["nodes"]) - 1
    assert (await verify_integrity(gm, bea)).intact


async def test_twice_is_as_once_and_nobody_is_overwritten(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "My sister Ottilie hides marmalade in Lisbon.")
    text = await export_text(gm, ann.session)
    bea = elsewhere()
    first = await import_student(gm, bea, NEW_PASSWORD, text)
    before = await kept(gm, bea)
    again = await import_student(gm, bea, NEW_PASSWORD, text)
    assert again == replace(first, repeated=True)
    assert await kept(gm, bea) == before
    with pytest.raises(Conflict, match="enrolled"):
        await import_student(gm, ann.who, NEW_PASSWORD, text)
    _, session = await students.open_session(gm, ann.who, ann.password)
    assert session.keys == ann.session.keys


async def test_what_is_cut_short_has_written_nothing_and_is_made_again(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    await lives(gm, ann, "marmalade")
    text = await export_text(gm, ann.session)
    bea = elsewhere()
    await the_world(gm, bea.institution, "marmalade")
    monkeypatch.setattr(transfer, "IMPORTED_AT_ONCE", 5)
    run, steps = Transaction.run, 0

    async def dying(tx: Transaction, name: str, **params: Any) -> Any:
        nonlocal steps
        steps += name.startswith("import/create")
        if steps == 5:
            raise KeyboardInterrupt
        return await run(tx, name, **params)

    with monkeypatch.context() as patched:
        patched.setattr(Transaction, "run", dying)
        with pytest.raises(KeyboardInterrupt):
            await import_student(gm, bea, NEW_PASSWORD, text)
    assert await kept(gm, bea) == {}
    with pytest.raises(Locked):
        await opened(gm, bea)
    await import_student(gm, bea, NEW_PASSWORD, text)
    assert comparable(await unopened(gm, bea, NEW_PASSWORD))[0].keys() == comparable(json.loads(text))[0].keys()


async def test_an_erasure_that_was_cut_short_is_finished_before_an_import(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "My sister Ottilie hides marmalade in Lisbon.")
    text = await export_text(gm, ann.session)
    bea = elsewhere()
    await import_student(gm, bea, NEW_PASSWORD, text)
    await begin_erasure(gm.graph, bea, gm.clock())
    done = await import_student(gm, bea, "an entirely new password", text)
    assert not done.repeated
    assert (await verify_integrity(gm, bea)).intact
    assert await opened(gm, bea, "an entirely new password")


async def test_concepts_that_the_world_lacks_are_named_or_left_out(gm: Graphmem, ann: Pupil) -> None:
    await lives(gm, ann, "marmalade")
    text = await export_text(gm, ann.session)
    bea = elsewhere()
    with pytest.raises(InvalidInput, match=r"lacks 2 concepts and 1 edges .*marmalade-diving"):
        await import_student(gm, bea, NEW_PASSWORD, text)
    assert await kept(gm, bea) == {}
    done = await import_student(gm, bea, NEW_PASSWORD, text, skip_unknown=True)
    assert done.left_out == 3
    document = await unopened(gm, bea, NEW_PASSWORD)
    assert (document["overlay"], document["links"], document["discovered"]) == ([], [], [])
    assert len(document["nodes"]) == len(json.loads(text)["nodes"])


async def test_over_graphql_an_admin_imports_and_others_may_not(
    gm: Graphmem, ann: Pupil, http: httpx.AsyncClient, bearer: Callable[[Role], str], app_client: Client
) -> None:
    await say(gm, ann, "My sister Ottilie keeps nine otters.")
    document = await app_client.call('mutation { exportStudent(studentId: "ann") }')
    ask = """mutation($d: String!) { importStudent(id: "otto", password: "a new password", document: $d)
             { studentId nodes edges leftOut repeated } }"""
    for role in (Role.APP, Role.TEACHER, Role.AUDITOR, Role.ANALYST):
        with pytest.raises(Refused) as refused:
            await Client(http, bearer(role)).call(ask, d=document)
        assert refused.value.code == "FORBIDDEN"
    done = await Client(http, bearer(Role.ADMIN)).call(ask, d=document)
    assert (done["studentId"], done["repeated"]) == ("otto", False)
    assert done["nodes"] == len(json.loads(document)["nodes"])


async def test_over_http_the_document_is_streamed(
    gm: Graphmem, ann: Pupil, http: httpx.AsyncClient, bearer: Callable[[Role], str]
) -> None:
    await say(gm, ann, "My sister Ottilie keeps nine otters.")
    headers = {"Authorization": f"Bearer {bearer(Role.APP)}"}
    refused = await http.get("/export/ann", headers=headers)
    assert (refused.status_code, refused.json()["errors"][0]["extensions"]["code"]) == (423, "LOCKED")
    assert (await http.get("/export/ann")).status_code == 401
    answer = await http.get("/export/ann", headers=headers | {"X-Graphmem-Session": ann.token})
    assert answer.status_code == 200
    assert answer.headers["transfer-encoding"] == "chunked"
    assert any("otters" in json.dumps(node) for node in answer.json()["nodes"] if "Memory" in node["labels"])


async def test_memory_does_not_grow_with_what_is_exported(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "My sister Ottilie hides marmalade in Lisbon.")
    await run_jobs(gm, ann.session)
    document = await export_student(gm, ann.session)
    (one, *_) = [node["properties"] for node in document["nodes"] if "Memory" in node["labels"]]
    peaks, sizes = [], []
    for many in (1_200, 2_500):
        bea = elsewhere()
        await _students_with(gm, bea, document, one, many)
        session = await opened(gm, bea)
        tracemalloc.start()
        try:
            sizes.append(sum([len(piece) async for piece in export_pieces(gm, session)]))
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    print(f"characters {sizes}, peak bytes {peaks}")
    assert sizes[1] > 2_000_000
    assert peaks[1] < 10_000_000
    assert peaks[1] - peaks[0] < (sizes[1] - sizes[0]) / 3


async def _students_with(gm: Graphmem, who: Who, document: dict[str, Any], one: dict[str, Any], many: int) -> None:
    """A student with many memories, each like the one that is given."""
    lock, keys = sealing.new_lock(who, NEW_PASSWORD, gm.argon2)
    planned = planned_graph(read_document(json.dumps(document)), keys, who.student_id)
    like = next(node for node in planned.nodes if node.properties["id"] == one["id"])
    more = tuple(
        ImportedNode(10_000 + i, "Memory", like.labels, dict(like.properties) | own)
        for i in range(many)
        for own in [{"id": f"memory-{i}-0", "content_hash": f"{i}", "content": f"{i} " + "otters " * 40}]
    )
    whole: ImportedGraph = replace(planned, nodes=(*planned.nodes, *more))
    assert await write_imported(gm.graph, who, keys, lock, whole, gm.clock())
