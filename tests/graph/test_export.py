"""Exporting a student on the real database: all of it, readable, and nothing of anybody else (spec 14)."""

import json
from collections import Counter
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.errors import Locked
from graphmem.flows.export import export_student
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.store.exports import NEVER_EXPORTED, SEALED_FIELDS
from tests.conftest import Enrol, Pupil, say
from tests.support.client import Client
from tests.support.remembering import asked
from tests.support.whole_life import lives

OPERATIONAL = {"OpenSession", "PasswordTry", "Job", "StudentBudget", "Reservation"}
OPERATIONAL |= {"ManifestPage", "ManifestNote", "TamperedValue"}
"""Kinds of nodes that tell nothing of a student and are left out."""
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
    rows = await asked(gm, ann.who, "MATCH (n {institution: $i, student_id: $s}) RETURN labels(n) AS labels")
    there = Counter(label for row in rows for label in row["labels"] if not OPERATIONAL & set(row["labels"]))
    assert Counter(label for node in document["nodes"] for label in node["labels"]) == there
    query = """MATCH (a {institution: $i, student_id: $s})-[r]->(b) WHERE NOT a:OpenSession AND NOT b:OpenSession
               AND NOT a:Job AND NOT b:Job AND NOT b:Concept RETURN count(r) AS n"""
    (row,) = await asked(gm, ann.who, query)
    assert len(document["edges"]) == row["n"]


async def test_every_sealed_field_is_opened_and_no_key_leaves(gm: Graphmem, ann: Pupil) -> None:
    await lives(gm, ann, "marmalade")
    rows = await asked(gm, ann.who, NODES)
    seen = set()
    for row in rows:
        if OPERATIONAL & set(row["l"]):
            continue
        for name, value in row["p"].items():
            if isinstance(value, bytes | bytearray) and name not in NEVER_EXPORTED | DERIVED:
                kind = next((label for label in row["l"] if label in SEALED_FIELDS), None)
                assert kind is not None, row["l"]
                assert name in SEALED_FIELDS[kind], (kind, name)
                seen.add((kind, name))
    assert len(seen) > 12
    document = await export_student(gm, ann.session)
    told = {(label, name) for node in document["nodes"] for label in node["labels"] for name in node["properties"]}
    assert seen <= told
    assert not {name for _, name in told} & (NEVER_EXPORTED | DERIVED)


async def test_it_needs_the_running_session(gm: Graphmem, ann: Pupil) -> None:
    await close_session(gm, ann.session)
    with pytest.raises(Locked):
        await export_student(gm, ann.session)


async def test_over_graphql_what_waits_is_formed_before(gm: Graphmem, ann: Pupil, app_client: Client) -> None:
    await say(gm, ann, "My sister Ottilie keeps nine otters.")
    document = json.loads(await app_client.call('mutation { exportStudent(studentId: "ann") }'))
    assert (document["format"], document["version"], document["student_id"]) == ("graphmem-student", 1, "ann")
    assert any("otters" in memory["content"] for memory in of_label(document, "Memory"))
