"""The loader of Cypher files: one statement a file, named `noun/verb` by its path, its parameters declared.

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
from pathlib import Path
from typing import Any

from graphmem.errors import QueryError
from graphmem.store.planning import PLANNED

# A wheel carries the folder inside the package; in a checkout it lies beside it.
_INSTALLED = Path(__file__).parents[1] / "cypher"
CYPHER = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[2] / "cypher"
"""The folder of every Cypher file."""
NOT_LOADED = frozenset({"bench", "browser", "inspect"})
"""Folders whose statements the service does not run."""
SCOPES: Mapping[str, frozenset[str]] = {
    "student": frozenset({"institution", "student_id"}),
    "institution": frozenset({"institution"}),
    "service": frozenset(),
}
_HEADER = re.compile(r"^//\s*(mode|scope|params|returns):[ \t]*(.*)$", re.MULTILINE)
_DECLARED_NAME = re.compile(r"(?:^|,)\s*(\w+)\s*:")
_NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`", re.DOTALL)
_LIST_LITERAL = re.compile(r"\[[^\]]*\]")
_PARAMETER = re.compile(r"\$(?P<name>\w+)")
_PARAMETER_IN_CODE = re.compile(rf"(?P<other>{_NOT_CODE.pattern})|{_PARAMETER.pattern}", re.DOTALL)
LANGUAGE = "CYPHER 25\n"
PLANNED_LANGUAGE = "CYPHER 25 replan=skip\n"
"""What a statement of `PLANNED` begins with: it is not planned anew as the database grows, in the middle of a turn."""
GIVEN = "given"
"""The one parameter, a map, that all values of a statement travel in.

Neo4j keeps a plan for each combination of types and lengths of lists and texts among the parameters: a statement that
takes seven lists, such as `turn/complete`, would be planned anew (up to seconds) for hundreds of them. A map counts as
a map whatever it holds.
"""

_CREATE_NOTE = (
    f"CREATE (:ManifestNote {{institution: ${GIVEN}.institution, student_id: ${GIVEN}.student_id, "
    f"id: ${GIVEN}.manifest_note_id, content: ${GIVEN}.manifest_note}})"
)


@dataclass(frozen=True)
class CypherStatement:
    """One Cypher statement with what it declares.

    text : as it is sent: every value is looked up in `$given`
    """

    name: str
    text: str
    description: str
    mode: str
    params: frozenset[str]
    returns: tuple[str, ...] = ()

    @property
    def reads(self) -> bool:
        """True if a read-only member of a cluster may serve it."""
        return self.mode == "read"

    @property
    def noted(self) -> str:
        """The statement with a note of what was touched, left in the same transaction; without rows it wrote nothing.

        It takes two parameters more: `manifest_note_id` and `manifest_note`.
        """
        language, body = self.text.split("\n", 1)
        columns = ", ".join(f"{name}: {name}" for name in self.returns)
        rows = ", ".join(f"row.{name} AS {name}" for name in self.returns)
        return (
            f"{language}\nCALL () {{\n{body}\n}}\nWITH collect({{{columns}}}) AS rows\n"
            f"CALL (rows) {{\n  WITH rows WHERE size(rows) > 0\n  {_CREATE_NOTE}\n}}\nUNWIND rows AS row\nRETURN {rows}"
        )

    def check(self, given: Mapping[str, Any]) -> None:
        """Raise QueryError unless exactly the declared parameters are given."""
        if given.keys() != self.params:
            missing, extra = sorted(self.params - given.keys()), sorted(given.keys() - self.params)
            raise QueryError(f"{self.name}.cypher: parameters missing: {missing}, not declared: {extra}.")


def parse(name: str, source: str) -> CypherStatement:
    """Read one Cypher file.

    Raises
    ------
    QueryError      a header is missing or wrong, or declared and used parameters differ

    Examples
    --------
    >>> parse("graph/get_clock", '''// The time of the server.
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
    declared = frozenset(_DECLARED_NAME.findall(headers["params"]))
    used = frozenset(_PARAMETER.findall(_NOT_CODE.sub(" ", source)))
    if declared != used:
        raise QueryError(
            f"{name}.cypher: used but not declared: {sorted(used - declared)}, "
            f"declared but not used: {sorted(declared - used)}."
        )
    if not SCOPES[headers["scope"]] <= declared:
        raise QueryError(f"{name}.cypher: a statement of scope {headers['scope']} must filter by it.")
    description = source.splitlines()[0].removeprefix("//").strip()
    returns = tuple(_DECLARED_NAME.findall(_LIST_LITERAL.sub("", headers["returns"])))
    language = PLANNED_LANGUAGE if name in PLANNED else LANGUAGE
    return CypherStatement(name, f"{language}{_as_sent(source)}", description, headers["mode"], declared, returns)


def explained(text: str) -> str:
    """The statement that has Neo4j plan this one, for when it is run, and does nothing else.

    Examples
    --------
    >>> explained("CYPHER 25 replan=skip\\nRETURN 1")
    'CYPHER 25 replan=skip EXPLAIN\\nRETURN 1'
    """
    language, body = text.split("\n", 1)
    return f"{language} EXPLAIN\n{body}"


def _as_sent(source: str) -> str:
    """A statement that looks up each of its parameters in the one that is sent."""
    return _PARAMETER_IN_CODE.sub(lambda found: found["other"] or f"${GIVEN}.{found['name']}", source)


def load() -> dict[str, CypherStatement]:
    """Every statement that the service runs, by name: `noun/verb`."""
    folders = [each for each in sorted(CYPHER.iterdir()) if each.is_dir() and each.name not in NOT_LOADED]
    return {name: query for folder in folders for name, query in load_folder(folder.name).items()}


def load_folder(noun: str) -> dict[str, CypherStatement]:
    """The statements of one folder, by name.

    Examples
    --------
    >>> sorted(load_folder("question"))
    ['question/answer', 'question/delete_old', 'question/list', 'question/list_old']
    """
    names = [f"{noun}/{path.stem}" for path in sorted((CYPHER / noun).glob("*.cypher"))]
    return {name: parse(name, read(name)) for name in names}


def read(name: str) -> str:
    """The text of one Cypher file."""
    return (CYPHER / f"{name}.cypher").read_text("utf-8")


def browser_query(institution: str, student_id: str) -> str:
    """The statement that draws one student's graph in Neo4j Browser, to be put into its address.

    An address carries no parameters, so the values stand in it, quoted.

    Examples
    --------
    >>> '"ann"' in browser_query("school", "ann")
    True
    """
    text = read("browser/student_graph").strip()
    return text.replace("$institution", json.dumps(institution)).replace("$student_id", json.dumps(student_id))
