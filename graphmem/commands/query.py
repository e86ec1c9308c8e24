"""Named queries of `cypher/analyst` on the command line: what was typed becomes values, rows become a table."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from graphmem.errors import InvalidInput
from graphmem.flows.analysis import analyse, declared, list_queries
from graphmem.progress import Say
from graphmem.runtime import open_graph
from graphmem.settings import Settings


def typed_params(types: Mapping[str, str], typed: Sequence[str]) -> dict[str, Any]:
    """Return the values of parameters that were typed as `name=value`, numbers and maps as JSON has them.

    Raises
    ------
    InvalidInput    one has no value, or is given twice

    Examples
    --------
    >>> typed_params({"student_id": "str", "limit": "int"}, ["student_id=7", "limit=5"])
    {'student_id': '7', 'limit': 5}
    """
    given: dict[str, Any] = {}
    for each in typed:
        name, equals, value = each.partition("=")
        if not equals:
            raise InvalidInput(f"--param {each} will not do: write name=value.")
        if name in given:
            raise InvalidInput(f"--param {name} is given twice.")
        given[name] = value
        if types.get(name) in ("int", "float", "map"):
            try:
                given[name] = json.loads(value)
            except ValueError:
                # A text is of another type, which is told with the types that are wanted.
                continue
    return given


async def run_query(
    settings: Settings, name: str, typed: Sequence[str], institution: str, say: Say
) -> list[dict[str, Any]]:
    """Return the rows of a named query, in plain values.

    Parameters
    ----------
    settings : Settings
    name : str, of a file in `cypher/analyst`
    typed : `name=value` each
    institution : str
    say : told while the local Neo4j starts

    Raises
    ------
    NotFound        there is no such query
    InvalidInput    its parameters will not do
    Unavailable     Neo4j does not answer

    Source: spec 18.
    """
    query = list_queries().get(name)
    params = typed_params({} if query is None else declared(query), typed)
    async with open_graph(settings, say) as graph:
        return (await analyse(graph, institution, name, params, most=None)).rows


def table(rows: Sequence[Mapping[str, Any]], width: int | None = None) -> str:
    """Return rows as text: a table, or where that is wider than `width` characters, row by row.

    Examples
    --------
    >>> print(table([{"type": "ABOUT", "edges": 2}, {"type": "EVOKES", "edges": 11}]))
    type    edges
    ABOUT   2
    EVOKES  11
    >>> print(table([{"type": "ABOUT", "edges": 2}], width=8))
    type   ABOUT
    edges  2
    """
    if not rows:
        return "no rows"
    names = list(rows[0])
    lines = [names, *([_cell(row[name]) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    if width is not None and sum(widths) + 2 * len(widths) - 2 > width:
        longest = max(map(len, names))
        blocks = [
            [f"{name:<{longest}}  {cell}".rstrip() for name, cell in zip(names, row, strict=True)] for row in lines[1:]
        ]
        return "\n\n".join("\n".join(block) for block in blocks)
    return "\n".join("  ".join(f"{c:<{w}}" for c, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return ", ".join(map(_cell, value))
    return "" if value is None else json.dumps(value) if isinstance(value, dict) else str(value)
