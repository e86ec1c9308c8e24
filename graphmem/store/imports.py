"""Writing an exported student anew: sealed with other keys, in steps of which none can be done twice (spec 14)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from graphmem.errors import Conflict
from graphmem.model import Keys, Vector, Who
from graphmem.sealing import StudentLock
from graphmem.store.graph import Graph
from graphmem.store.integrity import accept
from graphmem.store.jobs import Kind
from graphmem.store.nodes import NODE_KINDS, bound_to, resealed
from graphmem.store.rows import NodeSealer, batches
from graphmem.store.students import lock_properties

T = TypeVar("T")

IMPORTED_AT_ONCE = 500
"""Nodes, and relationships, that one transaction creates."""
OTHERS = "The student was erased or imported by somebody else at the same time: import again."


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
    """Everything of a student as it is to be made. `student` and `companion` are among the nodes, by their numbers.

    overlay : known concepts, each with `concept`, and its properties, opened
    discovered : edges of the world, each with `edge_id` and `since`
    digest : of the document
    turns : of the student, whom the prediction follows
    """

    student: int
    nodes: tuple[ImportedNode, ...]
    edges: tuple[ImportedEdge, ...]
    links: tuple[ImportedEdge, ...]
    overlay: tuple[Mapping[str, Any], ...]
    discovered: tuple[Mapping[str, Any], ...]
    digest: str
    turns: int


@dataclass(frozen=True)
class Begun:
    """Whether an import could begin; else the digest of the document that an enrolled student was imported from."""

    begun: bool
    imported: str | None


async def begin_import(graph: Graph, who: Who, token: str, now: datetime) -> Begun:
    """Keep an id for an import; `import/begin`."""
    (row,) = await graph.run("import/begin", who, token=token, now=now)
    return Begun(row["begun"], row["imported"])


async def list_known_edges(graph: Graph, institution: str, concepts: Sequence[str], ids: Sequence[str]) -> set[str]:
    """Return which of some ids are edges of the world between some concepts; `import/list_edge_ids`."""
    rows = await graph.run("import/list_edge_ids", institution=institution, concepts=concepts, edge_ids=ids)
    return {row["edge_id"] for row in rows}


async def write_imported(
    graph: Graph, who: Who, keys: Keys, lock: StudentLock, planned: ImportedGraph, token: str, now: datetime
) -> None:
    """Write all of an import that has begun, the student last, so that nothing can be opened before all is there.

    `import/create_nodes`, `import/create_edges`, `import/finish`, each step once; then its manifest, without which no
    session opens.

    Raises
    ------
    Conflict        somebody else erases or imports the student, or the answer to a step was lost
    """
    step, element = 0, dict[int, str]()
    others = [node for node in planned.nodes if node.number != planned.student]
    for some in batches(others, IMPORTED_AT_ONCE):
        step += 1
        rows = [_node_row(keys, who, lock, node, planned.turns) for node in some]
        found = await graph.run("import/create_nodes", who, token=token, step=step, nodes=rows, now=now)
        if len(found) != len(rows):
            raise Conflict(OTHERS)
        element |= {row["number"]: row["element"] for row in found}
    inner = [edge for edge in planned.edges if planned.student not in (edge.start, edge.end)]
    for edges, links in _together(inner, planned.links):
        step += 1
        made = await graph.run(
            "import/create_edges",
            who,
            token=token,
            step=step,
            edges=[_ends(edge, element) | {"end": element[int(edge.end)]} for edge in edges],
            links=[_ends(link, element) | {"concept": link.end} for link in links],
            now=now,
        )
        if not made or (made[0]["edges"], made[0]["links"]) != (len(edges), len(links)):
            raise Conflict(OTHERS)
    (student,) = [node for node in planned.nodes if node.number == planned.student]
    own = [edge for edge in planned.edges if planned.student in (edge.start, edge.end)]
    finished = await graph.run(
        "import/finish",
        who,
        token=token,
        step=step + 1,
        student=_node_row(keys, who, lock, student, planned.turns)["properties"] | {"imported": planned.digest},
        outgoing=[
            {"element": element[int(e.end)], "type": e.type, "properties": _values(e.properties)}
            for e in own
            if e.start == planned.student
        ],
        incoming=[
            {"element": element[e.start], "type": e.type, "properties": _values(e.properties)}
            for e in own
            if e.start != planned.student
        ],
        overlay=[_known_row(keys, who, held) for held in planned.overlay],
        discovered=[_values(found) for found in planned.discovered],
    )
    if not finished:
        raise Conflict(OTHERS)
    await accept(graph, who, now)


def _together(
    edges: Sequence[ImportedEdge], links: Sequence[ImportedEdge]
) -> Iterable[tuple[Sequence[ImportedEdge], Sequence[ImportedEdge]]]:
    yield from ((some, ()) for some in batches(edges, IMPORTED_AT_ONCE))
    yield from (((), some) for some in batches(links, IMPORTED_AT_ONCE))


def _ends(edge: ImportedEdge, element: Mapping[int, str]) -> dict[str, Any]:
    return {"start": element[edge.start], "type": edge.type, "properties": _values(edge.properties)}


def _node_row(keys: Keys, who: Who, lock: StudentLock, node: ImportedNode, turns: int) -> dict[str, Any]:
    """Return a node as `import/create_nodes` takes it, its texts sealed for their new place."""
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
        properties |= lock_properties(lock)
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
