"""Loads the Cypher files: one statement a file, its name the file's, its parameters declared.

A file begins with comment lines::

    // One sentence that says what the statement does.
    // mode: read
    // scope: student
    // params: institution: str, student_id: str, turn_id: str
    // returns: version: int

`scope: student` statements must declare and use `institution` and `student_id`; `scope: institution`
ones `institution`; `scope: service` ones see every tenant and serve start, sweeping and health only.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from graphmem.errors import QueryError

SCOPES: Mapping[str, frozenset[str]] = {
    "student": frozenset({"institution", "student_id"}),
    "institution": frozenset({"institution"}),
    "service": frozenset(),
}
_HEADER = re.compile(r"^//\s*(mode|scope|params|returns):[ \t]*(.*)$", re.MULTILINE)
_NAME = re.compile(r"(?:^|,)\s*(\w+)\s*:")
_NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`", re.DOTALL)
_PARAMETER = re.compile(r"\$(\w+)")


@dataclass(frozen=True)
class Query:
    """One Cypher statement with what it declares."""

    name: str
    text: str
    description: str
    mode: str
    params: frozenset[str]

    @property
    def reads(self) -> bool:
        """Whether a read-only member of a cluster may serve it."""
        return self.mode == "read"

    def check(self, given: Mapping[str, Any]) -> None:
        """Raise QueryError unless exactly the declared parameters are given."""
        if given.keys() != self.params:
            missing, extra = sorted(self.params - given.keys()), sorted(given.keys() - self.params)
            raise QueryError(f"{self.name}.cypher: parameters missing: {missing}, not declared: {extra}.")


def parse(name: str, source: str) -> Query:
    """Read one Cypher file.

    Raises
    ------
    QueryError      a header is missing or wrong, or declared and used parameters differ

    Examples
    --------
    >>> parse("clock_get", '''// The time of the server.
    ... // mode: read
    ... // scope: service
    ... // params:
    ... // returns: now: datetime
    ... RETURN datetime() AS now''').description
    'The time of the server.'
    """
    headers = dict(_HEADER.findall(source))
    if headers.keys() != {"mode", "scope", "params", "returns"}:
        raise QueryError(f"{name}.cypher: the header needs mode, scope, params and returns, each once.")
    if headers["mode"] not in ("read", "write") or headers["scope"] not in SCOPES:
        raise QueryError(f"{name}.cypher: mode is read or write, scope one of {', '.join(SCOPES)}.")
    declared = frozenset(_NAME.findall(headers["params"]))
    used = frozenset(_PARAMETER.findall(_NOT_CODE.sub(" ", source)))
    if declared != used:
        raise QueryError(
            f"{name}.cypher: used but not declared: {sorted(used - declared)}, "
            f"declared but not used: {sorted(declared - used)}."
        )
    if not SCOPES[headers["scope"]] <= declared:
        raise QueryError(f"{name}.cypher: a statement of scope {headers['scope']} must filter by it.")
    description = source.splitlines()[0].removeprefix("//").strip()
    return Query(name, f"CYPHER 25\n{source}", description, headers["mode"], declared)


def load() -> dict[str, Query]:
    """Every statement of `cypher/` and `cypher/analyst/`, by name."""
    folders = (files("cypher"), files("cypher").joinpath("analyst"))
    return {
        path.name.removesuffix(".cypher"): parse(path.name.removesuffix(".cypher"), path.read_text("utf-8"))
        for folder in folders
        for path in folder.iterdir()
        if path.name.endswith(".cypher")
    }


def browser_query(institution: str, student_id: str) -> str:
    """The statement that draws one student's graph in Neo4j Browser, to be put into its address.

    An address carries no parameters, so the values stand in it, quoted.

    Examples
    --------
    >>> '"ann"' in browser_query("school", "ann")
    True
    """
    text = (files("cypher") / "browser" / "student_graph.cypher").read_text("utf-8").strip()
    return text.replace("$institution", json.dumps(institution)).replace("$student_id", json.dumps(student_id))
