"""A property of a memory is declared once and seen wherever memories are stored, opened, exported and guarded."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.flows import students
from graphmem.flows.students import verify_integrity
from graphmem.flows.transfer import export_student, export_text, import_student
from graphmem.model import Memory, Modality, Session, Who
from graphmem.model.fields import Sealed, Share
from graphmem.store import nodes
from graphmem.store.document import document_schema
from graphmem.store.nodes import MEMORY_NODE, NodeKind, NodeSealer, clear_properties, of, sealed_properties
from tests.conftest import PASSWORD, Pupil
from tests.support.remembering import asked, held, told
from tests.support.tampering import by_hand

NAMES = ("stamina", "nickname")


@dataclass(frozen=True)
class LongerMemory(Memory):
    """A memory with a clear property and a sealed one more."""

    stamina: Share = 0.5
    """How long it lasts, 0 to 1."""
    nickname: Sealed[str | None] = field(default=None, repr=False)
    """What it is called."""


@pytest.fixture
def longer(monkeypatch: pytest.MonkeyPatch) -> NodeKind:
    own = tuple(each for each in of(LongerMemory) if each.name in NAMES)
    kind = replace(MEMORY_NODE, fields=(*MEMORY_NODE.fields, *own))
    monkeypatch.setitem(nodes.NODE_KINDS, "Memory", kind)
    return kind


def opened_as(session: Session, row: dict[str, Any]) -> LongerMemory:
    return nodes.opened(LongerMemory, "Memory", row, session, modality=Modality.SEMANTIC, source_refs=())


async def rows_of(gm: Graphmem, who: Who) -> list[dict[str, Any]]:
    query = "MATCH (m:Memory {institution: $i, student_id: $s}) WHERE m.nickname IS NOT NULL RETURN properties(m) AS p"
    return [row["p"] for row in await asked(gm, who, query)]


async def test_one_declaration_of_a_property_of_memories(gm: Graphmem, ann: Pupil, longer: NodeKind) -> None:
    await told(gm, ann, "My horse Bella won a prize on Sunday.")
    (memory, *_) = await held(gm, ann.session)
    made = LongerMemory(**{**vars(memory), "stamina": 0.75, "nickname": "Bella's prize"})
    place = NodeSealer(ann.session.keys, ann.session, "Memory", memory.id)
    properties = clear_properties(made, "stamina") | sealed_properties(place, made, "nickname")
    changed = [{"id": memory.id, "properties": properties | {"written": 99}}]
    await gm.graph.run("changes/set:Memory", ann.session, rows=changed)
    # In Neo4j, sealed where it is declared so.
    (row,) = await rows_of(gm, ann.who)
    assert row["stamina"] == 0.75
    assert b"Bella" not in bytes(row["nickname"])
    assert opened_as(ann.session, row).nickname == "Bella's prize"
    # In the integrity hash.
    assert (await verify_integrity(gm, ann.who)).intact
    by = "MATCH (m:Memory {institution: $i, student_id: $s, id: $id}) SET m.stamina = $value"
    await by_hand(gm, ann.who, by, id=memory.id, value=0.1)
    assert (await verify_integrity(gm, ann.who)).fields == (f"{memory.id}.stamina",)
    await by_hand(gm, ann.who, by, id=memory.id, value=0.75)
    # In the document and its schema.
    document = await export_student(gm, ann.session)
    (node,) = [each["properties"] for each in document["nodes"] if each["properties"].get("stamina")]
    assert (node["stamina"], node["nickname"]) == (0.75, "Bella's prize")
    assert set(NAMES) <= document_schema()["$defs"]["MemoryPart"]["properties"].keys()
    # In what is imported.
    bea = Who(ann.who.institution, "bea")
    await import_student(gm, bea, PASSWORD, await export_text(gm, ann.session))
    _, session = await students.open_session(gm, bea, PASSWORD)
    (row,) = await rows_of(gm, bea)
    assert opened_as(session, row).nickname == "Bella's prize"
    # Sealed anew with another key.
    await students.rotate_key(gm, ann.who, PASSWORD, session=ann.session)
    _, session = await students.open_session(gm, ann.who, PASSWORD)
    (row,) = await rows_of(gm, ann.who)
    assert opened_as(session, row).nickname == "Bella's prize"
