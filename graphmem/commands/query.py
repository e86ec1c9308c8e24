"""Named queries of `cypher/analyst` on the command line: what there is, what they need, and what they answer."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from graphmem.errors import InvalidInput, QueryError
from graphmem.flows.analysis import declared, list_queries, plain_row
from graphmem.flows.gravity import CURVE
from graphmem.progress import Say
from graphmem.runtime import open_graph
from graphmem.settings import Settings
from graphmem.store.queries import CypherStatement

LARGEST = 2**63
"""Whole numbers of Neo4j lie below."""


def _moment(text: str) -> datetime:
    value = datetime.fromisoformat(text)
    if value.tzinfo is None:
        raise ValueError("no time zone")
    return value


def _whole_number(text: str) -> int:
    value = int(text)
    if not -LARGEST <= value < LARGEST:
        raise ValueError("beyond 64 bits")
    return value


def _map(text: str) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


READERS: Mapping[str, Callable[[str], Any]] = {
    "str": str,
    "int": _whole_number,
    "float": float,
    "datetime": _moment,
    "map": _map,
}
"""How a parameter of a declared type is read from what was typed."""
TYPE_LOOKS = {
    "int": "a whole number",
    "float": "a number",
    "datetime": "a moment like 2026-01-15T09:30:00Z",
    "map": "a JSON object",
}


def read_params(query: CypherStatement, typed: Sequence[str], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Values for the parameters of a query.

    Parameters
    ----------
    query : CypherStatement
    typed : `name=value` each
    usual : values of what may be left out, by name; what the query does not have is ignored

    Raises
    ------
    InvalidInput    one is missing, unknown, given twice or of another type; the message says what the query needs

    Examples
    --------
    >>> levels = list_queries()["surprise_levels"]
    >>> read_params(levels, ["student_id=ada"], {"institution": "demo", "now": None})
    {'institution': 'demo', 'student_id': 'ada'}
    """
    types = declared(query)
    needs = f"{query.name} has {', '.join(f'{name} ({type_})' for name, type_ in types.items())}"
    given = {name: value for name, value in usual.items() if name in types}
    seen = set[str]()
    for each in typed:
        name, equals, value = each.partition("=")
        if not equals or name not in types:
            raise InvalidInput(f"--param {each} will not do: write name=value; {needs}.")
        if name in seen:
            raise InvalidInput(f"--param {name} is given twice.")
        seen.add(name)
        given[name] = _read_param(name, types[name], value)
    if missing := [name for name in types if name not in given]:
        raise InvalidInput(f"Missing: {' '.join(f'--param {name}=...' for name in missing)}; {needs}.")
    return {name: given[name] for name in types}


def _read_param(name: str, type_: str, text: str) -> Any:
    try:
        return READERS[type_](text)
    except ValueError as e:
        raise InvalidInput(f"--param {name}={text} will not do: it must be {TYPE_LOOKS[type_]}.") from e


async def run_query(
    settings: Settings, name: str, typed: Sequence[str], institution: str, say: Say
) -> list[dict[str, Any]]:
    """The rows of a named query, in plain values.

    Parameters
    ----------
    settings : Settings
    name : str, of a file in `cypher/analyst`
    typed : `name=value` each; `institution`, `now` (this moment) and the forgetting curve may be left out
    institution : str
    say : told while the local Neo4j starts

    Raises
    ------
    InvalidInput    there is no such query, or its parameters will not do
    Unavailable     Neo4j does not answer

    Source: spec 18.
    """
    known = list_queries()
    if name not in known:
        raise InvalidInput(f"There is no query {name}: there are {', '.join(known)}.")
    query = known[name]
    params = read_params(query, typed, {"institution": institution, **CURVE.at(datetime.now(UTC))})
    async with open_graph(settings, say) as graph:
        try:
            rows = await graph.run(f"analyst/{name}", **params)
        except QueryError as e:
            raise InvalidInput(f"Neo4j refuses these values, such as a limit below 0: {' '.join(typed)}.") from e
    return [plain_row(row) for row in rows]


def table(rows: Sequence[Mapping[str, Any]], width: int | None = None) -> str:
    """Rows as text: a table, or where that is wider than `width` characters, row by row.

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
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return ", ".join(map(_cell, value))
    if isinstance(value, dict):
        return json.dumps(value)
    return str(value)
