"""All that is kept of a student, opened, part by part (spec 14)."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from graphmem.model import LedgerCategory, Session
from graphmem.sealing import StudentLock, keyed_hash
from graphmem.store import overlays
from graphmem.store.document import KnownPart
from graphmem.store.graph import Graph, Row
from graphmem.store.jobs import Kind
from graphmem.store.ledger import entry_id
from graphmem.store.nodes import NODE_KINDS, bound_to, kind_of, unsealed
from graphmem.store.rows import NodeSealer
from graphmem.store.tampering import Damage, report
from graphmem.text.doc import Doc
from graphmem.text.normalize import said
from graphmem.text.slots import slot_key, slot_of

NODES_AT_ONCE, EDGES_AT_ONCE, KNOWN_AT_ONCE = 500, 1_000, 1_000
"""Nodes that are read at once, nodes whose relationships are, and known concepts."""

Exported = dict[str, Any]


@dataclass(frozen=True)
class Inventory:
    """The nodes of a student to be exported, by their element ids, as of some versions of the student.

    turns : of the student, whom the prediction follows
    """

    elements: tuple[str, ...]
    versions: tuple[int, ...]
    turns: int


async def take_inventory(graph: Graph, session: Session, now: datetime) -> Inventory | None:
    """List the nodes to be exported; `export/list_nodes`. None when the session has ended."""
    rows = await graph.run("export/list_nodes", session, now=now)
    if not rows:
        return None
    versions = tuple(rows[0]["versions"])
    return Inventory(tuple(row["element"] for row in rows), versions, versions[-1])


async def read_nodes(
    graph: Graph, session: Session, lock: StudentLock, inventory: Inventory
) -> AsyncIterator[Exported]:
    """Each node with its number, labels and opened properties, in the order of the inventory; `export/get_nodes`.

    Where a sealed value does not open, its name is in `tampered`.
    """
    elements = inventory.elements
    for start in range(0, len(elements), NODES_AT_ONCE):
        part = elements[start : start + NODES_AT_ONCE]
        found = {row["element"]: row for row in await graph.run("export/get_nodes", session, elements=list(part))}
        damage = Damage()
        for number, element in enumerate(part, start):
            if element not in found:
                continue
            yield {"number": number, **_exported_node(session, lock, found[element], inventory.turns, damage)}
        await report(graph, session, damage)


async def read_edges(graph: Graph, session: Session, inventory: Inventory) -> AsyncIterator[Exported]:
    """Each relationship between the nodes of an inventory, by their numbers; `export/list_edges`."""
    number = {element: i for i, element in enumerate(inventory.elements)}
    async for row in _rows_of(graph, session, "export/list_edges", inventory.elements):
        if row["end"] in number:
            ends = {"from": number[row["start"]], "to": number[row["end"]]}
            yield ends | {"type": row["type"], "properties": _json_form(row["properties"])}


async def read_links(graph: Graph, session: Session, inventory: Inventory) -> AsyncIterator[Exported]:
    """Each relationship from the nodes of an inventory to a concept of the world; `export/list_links`."""
    number = {element: i for i, element in enumerate(inventory.elements)}
    async for row in _rows_of(graph, session, "export/list_links", inventory.elements):
        told = {"from": number[row["start"]], "concept": row["concept"]}
        yield told | {"type": row["type"], "properties": _json_form(row["properties"])}


async def read_overlay(graph: Graph, session: Session) -> AsyncIterator[Exported]:
    """Each concept that the student knows, with its practice and opened notes; `export/list_known`."""
    after, names = "", KnownPart.model_fields.keys()
    while rows := await graph.run("export/list_known", session, after=after, limit=KNOWN_AT_ONCE):
        after = rows[-1]["concept"]
        practice, damage = await overlays.find_practice(graph, session, [row["concept"] for row in rows]), Damage()
        for row in rows:
            place = NodeSealer(session.keys, session, "KNOWS", f"knows-{row['concept']}")
            held = {name: value for name, value in row["properties"].items() if name in names}
            if (sealed := held.pop("notes", None)) is not None:
                held["notes"] = damage.opened(partial(place.text, "notes", sealed))
            told = [
                {"at": one.at.isoformat(), "outcome": one.outcome, "set_to": one.set_to}
                for one in practice.get(row["concept"], [])
            ]
            yield {"concept": row["concept"], "name": row["name"], **_json_form(held), "practice": told}
        await report(graph, session, damage)


async def read_discovered(graph: Graph, session: Session) -> AsyncIterator[Exported]:
    """Each edge of the world that the student has found; `export/list_discovered`."""
    for row in await graph.run("export/list_discovered", session):
        yield {"edge_id": row["edge_id"], "since": _json_form(row["since"])}


async def _rows_of(graph: Graph, session: Session, name: str, elements: Sequence[str]) -> AsyncIterator[Row]:
    for start in range(0, len(elements), EDGES_AT_ONCE):
        for row in await graph.run(name, session, elements=elements[start : start + EDGES_AT_ONCE]):
            yield row


def _exported_node(session: Session, lock: StudentLock, row: Row, turns: int, damage: Damage) -> Exported:
    """Return a node's labels and properties, opened; without keys, embeddings and what serves a moment only.

    A sealed value that does not open is left out, and named in `tampered`.
    """
    properties, label = row["properties"], kind_of(row["labels"]) or ""
    kind, found, before = NODE_KINDS[label], {}, len(damage)
    for name, value in properties.items():
        if name not in kind.exported:
            continue
        if name in kind.sealed:
            place = NodeSealer(session.keys, session, label, bound_to(label, name, properties, turns))
            box = lock if label == "Job" and properties["kind"] == Kind.OBSERVE else None
            opened = damage.opened(partial(unsealed, place, kind.sealed[name], name, value, box))
            if opened is not None:
                found[name] = opened
        else:
            found[name] = _json_form(value)
    tampered = [each.field for each in damage[before:]]
    keyed = {} if tampered else _keyed(session, label, found)
    told: Exported = {"labels": sorted(row["labels"]), "properties": found}
    return told | ({"keyed": keyed} if keyed else {}) | ({"tampered": tampered} if tampered else {})


def _keyed(session: Session, label: str, opened: Mapping[str, Any]) -> dict[str, str]:
    """What the keyed hashes of a node were made of, as far as its texts tell: each is tried with the student's key."""
    if label == "LedgerEntry":
        entry = LedgerCategory(opened["category"]), opened["content"]
        made = entry_id(session.keys, *entry) == opened["id"]
        return {"id": f"{entry[0].value} {said(entry[1])}"} if made else {}
    if label != "Memory":
        return {}
    details = opened["details"]
    for statement in details.get("statements", ()):
        statement["keyed"] = _made_of(session, details["speaker"], None, statement)
    return _made_of(session, details["speaker"], details.get("slot"), details | dict(opened))


def _made_of(session: Session, speaker: str | None, slot: str | None, told: Mapping[str, Any]) -> dict[str, str]:
    """Return what the keyed hashes of a statement were made of."""
    found, content = {}, f"{speaker or ''}\n{said(told['content'])}"
    if keyed_hash(session.keys, "content", content) == told["content_hash"]:
        found["content_hash"] = content
    if (hashed := told.get("slot_key")) is not None:
        words = Doc(told.get("quote") or told["content"])
        slots = (slot, slot_of(words, speaker), slot_of(Doc(told["content"])))
        keys = (slot_key(each) for each in slots if each)
        if fits := next((each for each in keys if keyed_hash(session.keys, "slot", each) == hashed), None):
            found["slot_key"] = fits
    return found


def _json_form(value: Any) -> Any:
    """Return a value of the database as JSON has it; times in ISO 8601."""
    if isinstance(value, dict):
        return {name: _json_form(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_json_form(each) for each in value]
    return value.iso_format() if hasattr(value, "iso_format") else value
