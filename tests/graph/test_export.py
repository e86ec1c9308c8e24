"""Exporting a student on the real database: all of it, readable, and nothing of anybody else (spec 14)."""

import json
from collections import Counter
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.errors import Locked
from graphmem.flows.transfer import export_student
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.store.nodes import NODE_KINDS, kind_of
from tests.conftest import BOTH_FORMS, Enrol, Pupil, say
from tests.support.client import Client
from tests.support.remembering import asked
from tests.support.whole_life import lives

pytestmark = BOTH_FORMS

OPERATIONAL = {"OpenSession", "PasswordTry", "StudentBudget", "Reservation"}
OPERATIONAL |= {"ManifestPage", "ManifestNote", "TamperedValue"}
"""Kinds of nodes that tell nothing of a student and are left out, beside jobs that are done."""
NEVER_EXPORTED = {
    "salt",
    "argon2_ops",
    "argon2_memory",
    "wrapped_key",
    "sealed_private_key",
    "public_key",
    "public_key_seal",
    "manifest_root",
    "imported",
    "sealing",
}
"""Properties of a student that open the rest, and the digest of the document it was imported from."""
TRANSIENT = {"institution", "student_id", "lease", "lease_until", "finished_at", "asked_at"}
"""Properties that say whose a node is, or serve a moment only."""
NODES = "MATCH (n {institution: $i, student_id: $s}) RETURN labels(n) AS l, properties(n) AS p"
DERIVED = {"embedding", "prediction_embedding"}


def of_label(document: dict[str, Any], label: str) -> list[dict[str, Any]]:
    return [node["properties"] for node in document["nodes"] if label in node["labels"]]


async def test_all_of_a_student_and_nothing_of_another(gm: Graphmem, enrol: Enrol) -> None:
    ann, bob = await enrol("ann"), await enrol("bob")
    await lives(gm, ann, "marmalade")
    await lives(gm, bob, "harmonica")
    await run_jobs(gm, ann.session)
    document = await export_student(gm, ann.session)
    text = json.dumps(document)
    assert "harmonica" not in text
    for label in ("Memory", "Fact", "LedgerEntry", "Turn"):
        assert any("marmalade" in json.dumps(node) for node in of_label(document, label)), label
    assert of_label(document, "Student")[0]["display_name"] == "Name of ann"
    assert "persona" in of_label(document, "Companion")[0]["persona"]
    assert {"Ottilie"} <= {entity["name"] for entity in of_label(document, "Entity")}
    rows = await asked(gm, ann.who, NODES)
    there = Counter(label for row in rows for label in row["l"] if not left_out(row))
    assert Counter(label for node in document["nodes"] for label in node["labels"]) == there
    query = """MATCH (a {institution: $i, student_id: $s})-[r]->(b) WHERE NOT a:OpenSession AND NOT b:OpenSession
               AND NOT a:Student RETURN b:Concept AS world, count(r) AS n"""
    counts = {row["world"]: row["n"] for row in await asked(gm, ann.who, query)}
    assert len(document["links"]) == counts[True]
    (student,) = [node["number"] for node in document["nodes"] if "Student" in node["labels"]]
    assert sum(edge["from"] != student for edge in document["edges"]) == counts[False]
    assert len(document["discovered"]) == 1


def left_out(row: dict[str, Any]) -> bool:
    return bool(OPERATIONAL & set(row["l"])) or ("Job" in row["l"] and row["p"]["state"] == "done")


async def test_every_property_is_exported_or_known_to_be_left_out(gm: Graphmem, ann: Pupil) -> None:
    await lives(gm, ann, "marmalade")
    for row in await asked(gm, ann.who, NODES):
        kind = kind_of(row["l"])
        if left_out(row) or kind is None:
            assert left_out(row), row["l"]
            continue
        unknown = row["p"].keys() - NODE_KINDS[kind].exported - NEVER_EXPORTED - TRANSIENT - DERIVED
        assert not unknown, (kind, unknown)


async def test_every_sealed_field_is_opened_and_no_key_leaves(gm: Graphmem, ann: Pupil) -> None:
    await lives(gm, ann, "marmalade")
    rows = await asked(gm, ann.who, NODES)
    seen = set()
    for row in rows:
        if left_out(row):
            continue
        for name, value in row["p"].items():
            if name in NODE_KINDS[kind_of(row["l"]) or ""].sealed.keys() - DERIVED:
                assert isinstance(value, str if ann.session.keys.clear else bytes | bytearray)
                seen.add((kind_of(row["l"]), name))
            elif isinstance(value, bytes | bytearray) and name not in NEVER_EXPORTED | DERIVED:
                kind = kind_of(row["l"])
                assert kind is not None, row["l"]
                assert name in NODE_KINDS[kind].sealed, (kind, name)
                seen.add((kind, name))
    assert len(seen) > 12
    document = await export_student(gm, ann.session)
    told = {(label, name) for node in document["nodes"] for label in node["labels"] for name in node["properties"]}
    assert seen <= told
    assert not {name for _, name in told} & (NEVER_EXPORTED | DERIVED)


async def test_it_needs_the_running_session(gm: Graphmem, ann: Pupil) -> None:
    await close_session(gm, ann.session, wait=True)
    with pytest.raises(Locked):
        await export_student(gm, ann.session)


async def test_over_graphql_what_waits_is_formed_before(gm: Graphmem, ann: Pupil, app_client: Client) -> None:
    await say(gm, ann, "My sister Ottilie keeps nine otters.")
    document = json.loads(await app_client.call('mutation { exportStudent(studentId: "ann") }'))
    assert (document["format"], document["version"], document["student_id"]) == ("graphmem-student", 2, "ann")
    assert any("otters" in memory["content"] for memory in of_label(document, "Memory"))
