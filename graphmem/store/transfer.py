"""All that is kept of a student read as a document, opened, and such a document written anew, sealed (spec 14).

A student is imported with other keys, in one transaction.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from graphmem.errors import Conflict
from graphmem.model import Keys, LedgerCategory, Session, Vector, Who
from graphmem.sealing import StudentLock, keyed_hash
from graphmem.store import overlays
from graphmem.store.document import KnownPart
from graphmem.store.graph import Graph, Row, Transaction
from graphmem.store.integrity import make_manifest
from graphmem.store.jobs import Kind
from graphmem.store.ledger import entry_id
from graphmem.store.nodes import NODE_KINDS, NodeSealer, batches, bound_to, kind_of, resealed, storable_value, unsealed
from graphmem.store.students import lock_properties
from graphmem.store.tampering import Damage, report
from graphmem.text.doc import Doc
from graphmem.text.normalize import said
from graphmem.text.revision import slot_key, slot_of

NODES_AT_ONCE, EDGES_AT_ONCE, KNOWN_AT_ONCE = 500, 1_000, 1_000
"""Nodes that are read at once, nodes whose relationships are, and known concepts."""

Exported = dict[str, Any]


IMPORTED_AT_ONCE = 500
"""Nodes, and relationships, that one statement creates."""
IMPORT_SECONDS = 600.0
"""Seconds that the transaction of an import may take."""
ENROLLED = "A student of this id is enrolled already: choose another id, or erase that one first."


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


async def read_edges(
    graph: Graph, session: Session, inventory: Inventory, *, links: bool = False
) -> AsyncIterator[Exported]:
    """Each relationship between the nodes of an inventory, by their numbers, or its `links` to concepts of the world.

    `export/list_edges`, `export/list_links`.
    """
    name = "export/list_links" if links else "export/list_edges"
    number = {element: i for i, element in enumerate(inventory.elements)}
    for some in batches(inventory.elements, EDGES_AT_ONCE):
        for row in await graph.run(name, session, elements=some):
            if links or row["end"] in number:
                end = {"concept": row["concept"]} if links else {"to": number[row["end"]]}
                yield {"from": number[row["start"]], **end, "type": row["type"], "properties": row["properties"]}


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
            yield {"concept": row["concept"], "name": row["name"], **held, "practice": told}
        await report(graph, session, damage)


async def read_discovered(graph: Graph, session: Session) -> AsyncIterator[Exported]:
    """Each edge of the world that the student has found; `export/list_discovered`."""
    for row in await graph.run("export/list_discovered", session):
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
            found[name] = value
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


def json_time(value: Any) -> str:
    """Return a time of the database as JSON has it, in ISO 8601: the one kind of value that JSON has none of."""
    return str(value.iso_format())


@dataclass(frozen=True)
class ImportedNode:
    """A node as it is to be made: properties opened, ids and hashes as the new student has them.

    vector : embedding of a memory or a ledger entry; of the companion that of the prediction
    """

    number: int
    label: str
    labels: tuple[str, ...]
    properties: Mapping[str, Any] = field(repr=False)
    vector: Vector | None = field(default=None, repr=False)


@dataclass(frozen=True)
class ImportedEdge:
    """A relationship between two nodes, by their numbers, or from one to a concept, by its id."""

    start: int
    end: int | str
    type: str
    properties: Mapping[str, Any]


@dataclass(frozen=True)
class ImportedGraph:
    """Everything of a student as it is to be made.

    overlay : known concepts, each with `concept`, and its properties, opened
    discovered : edges of the world, each with `edge_id` and `since`
    digest : of the document
    turns : of the student, whom the prediction follows
    """

    nodes: tuple[ImportedNode, ...]
    edges: tuple[ImportedEdge, ...]
    links: tuple[ImportedEdge, ...]
    overlay: tuple[Mapping[str, Any], ...]
    discovered: tuple[Mapping[str, Any], ...]
    digest: str
    turns: int


async def find_imported(graph: Graph, who: Who) -> str | None:
    """Return the digest of the document a student was imported from, empty for one who was enrolled; `import/find`.

    None without such a student.
    """
    return await graph.value(str, "import/find", who)


async def list_known_edges(graph: Graph, institution: str, concepts: Sequence[str], ids: Sequence[str]) -> set[str]:
    """Return which of some ids are edges of the world between some concepts; `import/list_edge_ids`."""
    rows = await graph.run("import/list_edge_ids", institution=institution, concepts=concepts, edge_ids=ids)
    return {row["edge_id"] for row in rows}


async def write_imported(
    graph: Graph, who: Who, keys: Keys, lock: StudentLock, planned: ImportedGraph, now: datetime
) -> bool:
    """Write all of an import, with its manifest, in one transaction. False while somebody of this id is erased.

    `import/begin`, `import/create_nodes`, `import/create_edges`, `import/create_overlay`, and those of a manifest.

    Raises
    ------
    Conflict        somebody of this id is enrolled
    """
    nodes = [_node_row(keys, who, lock, node, planned) for node in planned.nodes]
    overlay = [_known_row(keys, who, held) for held in planned.overlay]

    async def work(tx: Transaction) -> bool | None:
        begun, element = await tx.run("import/begin"), dict[int, str]()
        if begun and not begun[0]["free"]:
            raise Conflict(ENROLLED)
        if not begun:
            return None
        for some in batches(nodes, IMPORTED_AT_ONCE):
            element |= {row["number"]: row["element"] for row in await tx.run("import/create_nodes", nodes=some)}
        for edges in batches(planned.edges, IMPORTED_AT_ONCE):
            await tx.run("import/create_edges", edges=[_edge_row(edge, element) for edge in edges], links=[])
        for links in batches(planned.links, IMPORTED_AT_ONCE):
            await tx.run("import/create_edges", edges=[], links=[_edge_row(link, element) for link in links])
        await tx.run(
            "import/create_overlay", overlay=overlay, discovered=[_values(each) for each in planned.discovered]
        )
        return await make_manifest(graph, tx, now)

    return bool(await graph.transact(who, work, seconds=IMPORT_SECONDS))


def _edge_row(edge: ImportedEdge, element: Mapping[int, str]) -> dict[str, Any]:
    end = element[edge.end] if isinstance(edge.end, int) else edge.end
    return {"start": element[edge.start], "end": end, "type": edge.type, "properties": _values(edge.properties)}


def _node_row(keys: Keys, who: Who, lock: StudentLock, node: ImportedNode, planned: ImportedGraph) -> dict[str, Any]:
    """Return a node as `import/create_nodes` takes it, its texts sealed for their new place."""
    turns = planned.turns
    forms, properties = NODE_KINDS[node.label].sealed, dict[str, Any]()
    for name, value in node.properties.items():
        if name in forms and value is not None:
            place = NodeSealer(keys, who, node.label, bound_to(node.label, name, node.properties, turns))
            box = lock if node.label == "Job" and node.properties["kind"] == Kind.OBSERVE else None
            properties[name] = resealed(place, forms[name], name, value, box)
        elif value is not None:
            properties[name] = storable_value(value)
    if node.vector is not None:
        name = "prediction_embedding" if node.label == "Companion" else "embedding"
        place = NodeSealer(keys, who, node.label, bound_to(node.label, name, node.properties, turns))
        properties[name] = place.seal_vector(name, node.vector)
    if node.label == "Student":
        properties |= lock_properties(lock) | {"imported": planned.digest}
    return {"number": node.number, "labels": list(node.labels), "properties": properties}


def _known_row(keys: Keys, who: Who, held: Mapping[str, Any]) -> dict[str, Any]:
    properties = _values({name: value for name, value in held.items() if name not in ("concept", "notes")})
    if held.get("notes") is not None:
        properties["notes"] = NodeSealer(keys, who, "KNOWS", f"knows-{held['concept']}").seal("notes", held["notes"])
    return {"concept": held["concept"], "properties": properties}


def _values(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: storable_value(value) for name, value in properties.items() if value is not None}
