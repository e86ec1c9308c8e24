"""Analyses: named queries of `cypher/analyst` that read structure and numbers of one institution (spec 15, 18)."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from graphmem.errors import InvalidInput, NotFound, QueryError
from graphmem.store.graph import Graph
from graphmem.store.memories import forgetting_curve
from graphmem.store.queries import CypherStatement, load_folder

MOST_ROWS = 2_000
"""Most rows that an analysis gives."""
_PARAMS = re.compile(r"^// params:[ \t]*(.*)$", re.MULTILINE)
_PARAM = re.compile(r"(\w+): (\w+)")
_LARGEST = 2**63
_LOOKS = {
    "str": "a text of at most 1,000 characters",
    "int": "a whole number of 64 bits",
    "float": "a number",
    "map": "an object of numbers",
    "datetime": "a moment like 2026-01-15T09:30:00Z",
}


@dataclass(frozen=True)
class Analysed:
    """Rows of an analysis in plain values; `truncated` where there were more."""

    rows: list[dict[str, Any]]
    truncated: bool


def list_queries() -> dict[str, CypherStatement]:
    """Return the queries for analysts by name; every one only reads.

    Examples
    --------
    >>> list_queries()["edges_by_type"].reads
    True
    """
    return {name.removeprefix("analyst/"): query for name, query in load_folder("analyst").items()}


def declared(query: CypherStatement) -> dict[str, str]:
    """Return the parameters of a query and their types, in their order.

    Examples
    --------
    >>> declared(list_queries()["edges_by_type"])
    {'institution': 'str', 'student_id': 'str'}
    """
    (header,) = _PARAMS.findall(query.text)
    return dict(_PARAM.findall(header))


async def analyse(
    graph: Graph, institution: str, name: str, params: Mapping[str, Any], most: int | None = MOST_ROWS
) -> Analysed:
    """Run a named query on what is clear of an institution.

    Parameters
    ----------
    graph : Graph
    institution : str, the only one that is seen
    name : str, of a query in `cypher/analyst`
    params : values of its parameters as JSON has them; `now` and the forgetting curve may be left out
    most : int, rows; None for all

    Raises
    ------
    NotFound        there is no such query
    InvalidInput    a parameter is missing, unknown or of another type
    Unavailable     Neo4j does not answer in time

    Source: spec 15, 18.
    """
    query = list_queries().get(name)
    if query is None:
        raise NotFound(f"There is no such analysis: there are {', '.join(list_queries())}.")
    given = checked_params(declared(query), params, forgetting_curve(datetime.now(UTC)))
    try:
        rows = await graph.run(f"analyst/{name}", **given, institution=institution)
    except QueryError as e:
        named = ", ".join(f"{key}={value}" for key, value in params.items())
        raise InvalidInput(f"Neo4j refuses these values, such as a limit below 0: {named[:200]}.") from e
    return Analysed([plain_row(row) for row in rows[:most]], most is not None and len(rows) > most)


def checked_params(types: Mapping[str, str], params: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Return values of a query's parameters but the institution's.

    Parameters
    ----------
    types : declared types by name
    params : given values, as JSON has them
    usual : values of what may be left out

    Raises
    ------
    InvalidInput    one is missing, unknown or of another type

    Examples
    --------
    >>> checked_params({"institution": "str", "limit": "int"}, {"limit": 5}, {})
    {'limit': 5}
    """
    own = {name: type_ for name, type_ in types.items() if name != "institution"}
    needs = ", ".join(f"{name} ({type_})" for name, type_ in own.items()) or "none"
    if unknown := params.keys() - own.keys():
        raise InvalidInput(f"There is no parameter {min(unknown)[:40]!r}: the parameters are {needs}.")
    given = {name: value for name, value in usual.items() if name in own} | dict(params)
    if missing := own.keys() - given.keys():
        raise InvalidInput(
            f"Missing: {', '.join(name for name in own if name in missing)}; the parameters are {needs}."
        )
    return {name: _checked_param(name, type_, given[name]) for name, type_ in own.items()}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_FITS: Mapping[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str) and len(value) <= 1_000,
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool) and -_LARGEST <= value < _LARGEST,
    "float": _is_number,
    "map": lambda value: isinstance(value, Mapping) and all(isinstance(each, int | float) for each in value.values()),
    "datetime": lambda value: isinstance(value, datetime) and value.tzinfo is not None,
}


def _checked_param(name: str, type_: str, value: Any) -> Any:
    if type_ == "datetime" and isinstance(value, str):
        with suppress(ValueError):
            value = datetime.fromisoformat(value)
    if not _FITS[type_](value):
        raise InvalidInput(f"The parameter {name} must be {_LOOKS[type_]}.")
    return value


def plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row in values that JSON has; moments of the database as text."""
    return {column: _plain_value(value) for column, value in row.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain_value(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain_value(each) for each in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)
