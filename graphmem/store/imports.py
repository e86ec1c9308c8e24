"""Writing an exported student anew, sealed with other keys, in one transaction (spec 14)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from graphmem.errors import Conflict
from graphmem.model import Keys, Vector, Who
from graphmem.sealing import StudentLock
from graphmem.store.graph import Graph, Transaction
from graphmem.store.integrity import make_manifest
from graphmem.store.jobs import Kind
from graphmem.store.nodes import NODE_KINDS, bound_to, resealed
from graphmem.store.rows import NodeSealer, batches
from graphmem.store.students import lock_properties

T = TypeVar("T")

IMPORTED_AT_ONCE = 500
"""Nodes, and relationships, that one statement creates."""
IMPORT_SECONDS = 600.0
"""Seconds that the transaction of an import may take."""
ENROLLED = "A student of this id is enrolled already: choose another id, or erase that one first."


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
    rows = await graph.run("import/find", who)
    return rows[0]["digest"] if rows else None


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
            properties[name] = _driver_value(value)
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
    return {name: _driver_value(value) for name, value in properties.items() if value is not None}


def _driver_value(value: Any) -> Any:
    """Return a value as the driver takes it: times in UTC."""
    return value.astimezone(UTC) if isinstance(value, datetime) else value
