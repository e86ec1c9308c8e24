"""A readable copy of a student in a database of its own, thrown away after somebody has looked at it (spec 18)."""

from collections.abc import Mapping, Sequence
from typing import Any

from graphmem.store import queries
from graphmem.store.graph import Graph

COPIED_AT_ONCE = 1_000
"""Nodes or edges that one statement creates."""
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
    known = queries.load_folder("inspect")
    create_nodes, create_edges = known["inspect/create_nodes"].text, known["inspect/create_edges"].text
    element: dict[int, str] = {}
    for first in range(0, len(nodes), COPIED_AT_ONCE):
        some = [dict(each) | {"properties": storable(each["properties"])} for each in nodes[first:][:COPIED_AT_ONCE]]
        rows = await graph.execute(create_nodes, {queries.GIVEN: {"nodes": some}}, reads=False)
        element |= {row["number"]: row["element"] for row in rows}
    for first in range(0, len(edges), COPIED_AT_ONCE):
        part = [
            {
                "start": element[each["from"]],
                "end": element[each["to"]],
                "type": each["type"],
                "properties": storable(each["properties"]),
            }
            for each in edges[first:][:COPIED_AT_ONCE]
        ]
        await graph.execute(create_edges, {queries.GIVEN: {"edges": part}}, reads=False)


def storable(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Properties as a node can hold them: what is made of parts becomes text; `name` is what Browser shows.

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
