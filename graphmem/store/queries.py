"""The loader of Cypher files: one statement a file, named `noun/verb` by its path, its parameters declared.

A file begins with comment lines::

    // One sentence that says what the statement does.
    // mode: read
    // scope: student
    // params: institution: str, student_id: str, turn_id: str
    // returns: version: int

One that serves several kinds of nodes names them in one more line, and is loaded once for each of them, as
`changes/set:Memory` or `changes/link:Memory-Entity`: dynamic labels would find no index. There `NODE` (or `FROM` and
`TO`) stand for what matches the node of `row.id` (of `row.from` and `row.to`), `NODE_LABEL` for its label, `NODE_INDEX`
for its label and the properties of its index::

    // nodes: Memory, Uncertainty

A line `EACH(hashed) ...` stands for a union of that line for each label of a set of `STUDENT_LABELS` in
`graphmem/store/nodes.py`; in it `NODES` stands for what matches every `node` of the label by its index, `NODE` for what
matches that of `id`.

`mode: read, planned` marks a statement of a first conversation, from enrolment to a context and the jobs: it is planned
when a process starts, and never anew. Each starts at an index, whatever the database holds: statistics teach it
nothing, and planned anew with few open sessions some would read all of them.

`scope: student` statements must declare and use `institution` and `student_id`; `scope: institution`
ones `institution`; `scope: service` ones see every tenant and serve start, sweeping and health only.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphmem.errors import QueryError
from graphmem.store.nodes import STUDENT_LABELS, all_of, keys, pattern

# A wheel carries the folder inside the package; in a checkout it lies beside it.
_INSTALLED = Path(__file__).parents[1] / "cypher"
CYPHER = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[2] / "cypher"
"""The folder of every Cypher file."""
NOT_LOADED = frozenset({"bench", "browser"})
"""Folders whose statements the service does not run."""
SCOPES: Mapping[str, frozenset[str]] = {
    "student": frozenset({"institution", "student_id"}),
    "institution": frozenset({"institution"}),
    "service": frozenset(),
}
_HEADER = re.compile(r"^//\s*(mode|scope|params|returns):[ \t]*(.*)$", re.MULTILINE)
_NODES = re.compile(r"^// nodes: (.*)\n", re.MULTILINE)
_EACH = re.compile(r"^( *)EACH\(([\w ]+)\) (.*)$", re.MULTILINE)
_PLACE = re.compile(r"\b(NODE|FROM|TO)(|_LABEL|_INDEX)\b")
_GIVEN_AS = {"NODE": "row.id", "FROM": "row.from", "TO": "row.to"}
_DECLARED_NAME = re.compile(r"(?:^|,)\s*(\w+)\s*:")
_NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`", re.DOTALL)
_LIST_LITERAL = re.compile(r"\[[^\]]*\]")
_PARAMETER = re.compile(r"\$(?P<name>\w+)")
_PARAMETER_IN_CODE = re.compile(rf"(?P<other>{_NOT_CODE.pattern})|{_PARAMETER.pattern}", re.DOTALL)
LANGUAGE = "CYPHER 25\n"
PLANNED_LANGUAGE = "CYPHER 25 replan=skip\n"
"""What a planned statement begins with: it is not planned anew as the database grows, in the middle of a turn."""
GIVEN = "given"
"""The one parameter, a map, that all values of a statement travel in.

Neo4j keeps a plan for each combination of types and lengths of lists and texts among the parameters: a statement that
takes seven lists, such as `turn/complete`, would be planned anew (up to seconds) for hundreds of them. A map counts as
a map whatever it holds.
"""


@dataclass(frozen=True)
class CypherStatement:
    """One Cypher statement with what it declares.

    text : as it is sent: every value is looked up in `$given`
    reads : a read-only member of a cluster may serve it
    planned : it is planned once, when a process starts
    """

    name: str
    text: str
    description: str
    reads: bool
    params: frozenset[str]
    returns: tuple[str, ...] = ()
    planned: bool = False

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
    mode, _, planned = headers["mode"].partition(", ")
    if mode not in ("read", "write") or planned not in ("", "planned") or headers["scope"] not in SCOPES:
        raise QueryError(f"{name}.cypher: mode is read or write, maybe planned, scope one of {', '.join(SCOPES)}.")
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
    text = f"{PLANNED_LANGUAGE if planned else LANGUAGE}{_as_sent(source)}"
    return CypherStatement(name, text, description, mode == "read", declared, returns, bool(planned))


def explained(text: str) -> str:
    """Return the statement that has Neo4j plan this one, for when it is run, and does nothing else.

    Examples
    --------
    >>> explained("CYPHER 25 replan=skip\\nRETURN 1")
    'CYPHER 25 replan=skip EXPLAIN\\nRETURN 1'
    """
    language, body = text.split("\n", 1)
    return f"{language} EXPLAIN\n{body}"


def _as_sent(source: str) -> str:
    """Return a statement that looks up each of its parameters in the one that is sent."""
    return _PARAMETER_IN_CODE.sub(lambda found: found["other"] or f"${GIVEN}.{found['name']}", source)


def load() -> dict[str, CypherStatement]:
    """Return every statement that the service runs, by name: `noun/verb`."""
    folders = [each for each in sorted(CYPHER.iterdir()) if each.is_dir() and each.name not in NOT_LOADED]
    return {name: query for folder in folders for name, query in load_folder(folder.name).items()}


def load_folder(noun: str) -> dict[str, CypherStatement]:
    """Return the statements of one folder, by name.

    Examples
    --------
    >>> sorted(load_folder("question"))
    ['question/answer', 'question/delete_old', 'question/list', 'question/list_old']
    """
    names = [f"{noun}/{path.stem}" for path in sorted((CYPHER / noun).glob("*.cypher"))]
    sources = {full: source for name in names for full, source in _for_kinds(name, read(name))}
    return {name: parse(name, source) for name, source in sources.items()}


def _for_kinds(name: str, source: str) -> Iterator[tuple[str, str]]:
    """Yield a statement by its name, once for each kind of nodes that it serves."""
    kinds = _NODES.search(source)
    if kinds is None:
        yield name, _EACH.sub(_union, source)
        return
    for served in kinds[1].split(", "):
        labels = dict(zip(("FROM", "TO") if "-" in served else ("NODE",), served.split("-"), strict=True))
        yield f"{name}:{served}", _placed(source.replace(kinds[0], ""), labels, _GIVEN_AS)


def _union(found: re.Match[str]) -> str:
    """Return the union that an `EACH` line stands for."""
    indent, of, line = found.groups()
    branches = [
        indent + _placed(line.replace("NODES", all_of(label, "node")), {"NODE": label}, {"NODE": "id"})
        for label in STUDENT_LABELS[of]
    ]
    return f"\n{indent}UNION ALL\n".join(branches)


def _placed(source: str, labels: Mapping[str, str], given: Mapping[str, str]) -> str:
    def of_kind(found: re.Match[str]) -> str:
        label = labels[found[1]]
        index = f"{label}({', '.join(keys(label))})"
        return {"": pattern(label, given[found[1]]), "_LABEL": label, "_INDEX": index}[found[2]]

    return _PLACE.sub(of_kind, source)


def read(name: str) -> str:
    """Return the text of one Cypher file."""
    return (CYPHER / f"{name}.cypher").read_text("utf-8")


def browser_query(institution: str, student_id: str) -> str:
    """Return the statement that draws one student's graph in Neo4j Browser, to be put into its address.

    An address carries no parameters, so the values stand in it, quoted.

    Examples
    --------
    >>> '"ann"' in browser_query("school", "ann")
    True
    """
    text = read("browser/student_graph").strip()
    return text.replace("$institution", json.dumps(institution)).replace("$student_id", json.dumps(student_id))
