"""A whole database as records, and back: each student as of one moment, while others go on (spec 14, 16).

A record is a JSON value of one line; bytes and times have a tag, since JSON has neither. A readable copy of one student
is written to a database of its own, thrown away after somebody has looked at it (spec 18).
"""

import base64
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from graphmem.errors import Conflict, InvalidInput
from graphmem.model import Who
from graphmem.store import schema
from graphmem.store.graph import Graph, Row, Transaction
from graphmem.store.nodes import batches, from_row

STUDENTS_AT_ONCE, NODES_AT_ONCE, EDGES_FROM = 200, 500, 1_000
"""Students that are listed at once, nodes and relationships that one transaction writes, nodes whose edges are read."""
BYTES, TIME, DATE = "$bytes", "$time", "$date"

_UNTAGGED_BY: Mapping[str, Callable[[str], Any]] = {
    BYTES: base64.b64decode,
    TIME: datetime.fromisoformat,
    DATE: date.fromisoformat,
}
BackupRecord = dict[str, Any]


async def read_shared(graph: Graph) -> AsyncIterator[BackupRecord]:
    """Records of all that is no student's; `backup/list_shared`, `backup/get_shared`."""
    elements = [row["element"] for row in await graph.run("backup/list_shared")]
    edges: list[BackupRecord] = []
    for some in batches(elements, NODES_AT_ONCE):
        for row in await graph.run("backup/get_shared", elements=some):
            yield _node_record(row)
            edges += [_edge_record(row["element"], *edge) for edge in row["edges"]]
    there = set(elements)
    for edge in edges:
        if edge["edge"][1] in there:
            yield edge


async def read_students(graph: Graph) -> AsyncIterator[Who]:
    """All students, of all institutions; `backup/list_students`."""
    async for rows in graph.student_pages("backup/list_students", STUDENTS_AT_ONCE):
        for row in rows:
            yield from_row(Who, row)


async def read_student(graph: Graph, who: Who) -> list[BackupRecord]:
    """Records of a student, all of one moment: whatever writes the student waits meanwhile; empty without the student.

    `backup/list_nodes`, `backup/list_edges`, in one transaction that writes nothing.
    """
    found: list[BackupRecord] = []

    async def work(tx: Transaction) -> None:
        rows = await tx.run("backup/list_nodes")
        found[:] = [_node_record(row) for row in rows]
        elements = [row["element"] for row in rows]
        for number, some in enumerate(batches(elements, EDGES_FROM)):
            edges = await tx.run("backup/list_edges", elements=some)
            # The student's discovered concepts come with each batch.
            own = edges if not number else [edge for edge in edges if edge["type"] != "DISCOVERED"]
            found.extend(_edge_record(edge["start"], edge["end"], edge["type"], edge["properties"]) for edge in own)

    await graph.transact(who, work)
    return found


async def begin_restore(graph: Graph, held: Mapping[str, Any], now: datetime) -> None:
    """Prepare a database for a restore; the remains of an interrupted one are deleted first.

    `backup/begin_restore`, `backup/delete_some`, and the schema's constraints and indexes.

    Raises
    ------
    Conflict        the database is not empty
    """
    (row,) = await graph.run("backup/begin_restore", now=now, **held)
    if not row["empty"]:
        raise Conflict("This database is not empty: restore into an empty one.")
    await schema.apply_commands(graph)
    while (await graph.run("backup/delete_some", limit=NODES_AT_ONCE))[0]["deleted"]:
        pass


async def create_records(graph: Graph, records: Sequence[BackupRecord], element: dict[str, str]) -> None:
    """Write some records; `element` holds the new element id of every node written before, and of these then.

    Raises
    ------
    InvalidInput    a relationship leads to a node that is in no record before it
    """
    nodes = [
        {"key": each["node"], "labels": each["labels"], "properties": each["properties"]}
        for each in records
        if "node" in each
    ]
    try:
        await _create(
            graph,
            ("backup/create_nodes", "backup/create_edges"),
            nodes,
            [each["edge"] for each in records if "edge" in each],
            element,
        )
    except KeyError as e:
        raise InvalidInput("This backup is not whole: a relationship leads to a node that is not there.") from e


async def _create(
    graph: Graph, names: tuple[str, str], nodes: Sequence[Row], edges: Sequence[Sequence[Any]], element: dict[Any, str]
) -> None:
    """Create nodes, then relationships by their start, end, type and properties, by two statements."""
    for some in batches(nodes, NODES_AT_ONCE):
        rows = await graph.run(names[0], nodes=some)
        element |= {row["key"]: row["element"] for row in rows}
    told = [
        {"start": element[start], "end": element[end], "type": kind, "properties": properties}
        for start, end, kind, properties in edges
    ]
    for some in batches(told, NODES_AT_ONCE):
        await graph.run(names[1], edges=some)


async def finish_restore(graph: Graph) -> Row:
    """Let processes start on the database; how many `nodes` and `edges` it holds; `backup/finish_restore`."""
    (row,) = await graph.run("backup/finish_restore")
    return row


def _node_record(row: Row) -> BackupRecord:
    return {"node": row["element"], "labels": sorted(row["labels"]), "properties": row["properties"]}


def _edge_record(start: str, end: str, kind: str, properties: Mapping[str, Any]) -> BackupRecord:
    return {"edge": [start, end, kind, properties]}


def record_line(record: BackupRecord) -> bytes:
    """Return a record as a line of JSON, from which `record_of` makes the same record.

    Examples
    --------
    >>> record_of(record_line({"key": b"123", "on": date(2026, 1, 15)}))
    {'key': b'123', 'on': datetime.date(2026, 1, 15)}
    """
    return json.dumps(record, ensure_ascii=False, default=_tagged).encode() + b"\n"


def record_of(line: bytes) -> BackupRecord:
    """Return the record of a line of JSON, with its values as the driver takes them."""
    record: BackupRecord = json.loads(line, object_hook=_untagged)
    return record


def _tagged(value: Any) -> dict[str, str]:
    if isinstance(value, bytes | bytearray):
        return {BYTES: base64.b64encode(value).decode()}
    native = value.to_native() if hasattr(value, "to_native") else value
    return {TIME if isinstance(native, datetime) else DATE: native.isoformat()}


def _untagged(told: dict[str, Any]) -> Any:
    tag = next(iter(told), "")
    return _UNTAGGED_BY[tag](told[tag]) if len(told) == 1 and tag in _UNTAGGED_BY else told


NAMED_BY = ("content", "text", "name", "reasoning", "display_name", "ref", "id")
"""Properties of which Neo4j Browser shows one on a node, the most telling first."""


async def write_copy(graph: Graph, nodes: Sequence[Mapping[str, Any]], edges: Sequence[Mapping[str, Any]]) -> None:
    """Create nodes and edges as an export has them; `inspect/create_nodes`, `inspect/create_edges`.

    Parameters
    ----------
    graph : Graph, of an empty database
    nodes : each with `number`, `labels` and `properties`
    edges : each with `from` and `to`, which are numbers of nodes, `type` and `properties`
    """
    made = [{"key": n["number"], "labels": n["labels"], "properties": storable(n["properties"])} for n in nodes]
    links = [(each["from"], each["to"], each["type"], storable(each["properties"])) for each in edges]
    await _create(graph, ("inspect/create_nodes", "inspect/create_edges"), made, links, {})


def storable(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties as a node can hold them: composite values become text; `name` is shown by Neo4j Browser.

    Examples
    --------
    >>> storable({"id": "m1", "content": "Ada has a dog.", "details": {"speaker": None}})
    {'id': 'm1', 'content': 'Ada has a dog.', 'details': "{'speaker': None}", 'name': 'Ada has a dog.'}
    """
    held = {name: value if _is_plain(value) else str(value) for name, value in properties.items()}
    named = next((str(held[name]) for name in NAMED_BY if held.get(name)), None)
    return held if named is None else held | {"name": named}


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(each, str) for each in value)
    return value is None or isinstance(value, (str, int, float, bool))
