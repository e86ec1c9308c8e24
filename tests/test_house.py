"""The structure: layers, names and queries are what the documents say they are."""

import ast
import json
import re
import sys
import tomllib
from collections import defaultdict
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.support.ratchets import measures

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "graphmem": ROOT / "graphmem",
    "graphmem_api": ROOT / "api" / "graphmem_api",
    "graphmem_client": ROOT / "client" / "graphmem_client",
}
MODULES = {path: ast.parse(path.read_text("utf-8")) for folder in PACKAGES.values() for path in folder.rglob("*.py")}
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CONTRACTS = PYPROJECT["tool"]["importlinter"]["contracts"]
CYPHER = [path.relative_to(ROOT / "cypher") for path in (ROOT / "cypher").rglob("*.cypher")]
REPEATED = {"T", "log"}
"""Public names that two modules define: a type variable, loggers. May only shrink."""


def layers() -> list[set[str]]:
    """The layers of the import linter, highest first."""
    (contract,) = [each for each in CONTRACTS if each["type"] == "layers"]
    return [{name.strip() for name in re.split(r"[|:]", layer)} for layer in contract["layers"]]


def table() -> list[set[str]]:
    """The layers of the table in CONTRIBUTING.md, highest first."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| (`(?:graphmem|api)/[^|]+) \|", text, re.MULTILINE)
    return [{module(path) for path in re.findall(r"`([^`]+)`", row)} for row in rows]


def module(path: str) -> str:
    """The dotted name of a path.

    >>> module("api/graphmem_api/"), module("graphmem/cli.py")
    ('graphmem_api', 'graphmem.cli')
    """
    return path.removeprefix("api/").removesuffix(".py").strip("/").replace("/", ".")


def test_every_package_has_its_layer() -> None:
    parts = {f"graphmem.{each.stem}" for each in PACKAGES["graphmem"].glob("*.py")}
    parts |= {f"graphmem.{each.parent.name}" for each in PACKAGES["graphmem"].glob("*/__init__.py")}
    entry_points = {"graphmem.__init__", "graphmem.__main__"}
    assert parts - entry_points | {"graphmem_api"} == set.union(*layers())


def test_the_table_of_the_documents_is_the_linters() -> None:
    assert table() == layers()


def imported(tree: ast.Module) -> set[str]:
    """The packages that a module imports as it is loaded."""
    found: set[str] = set()
    for node in tree.body:
        match node:
            case ast.Import(names=names):
                found |= {name.name.partition(".")[0] for name in names}
            case ast.ImportFrom(module=str(name), level=0):
                found.add(name.partition(".")[0])
    return found


def test_what_is_imported_is_installed_with_the_package() -> None:
    """A fresh machine has the runtime requirements and no others: `make demo` must start with these."""
    pinned = re.findall(r"^([\w.-]+)(?:\[[^]]*\])?==", (ROOT / "requirements" / "runtime.txt").read_text("utf-8"), re.M)
    known = {re.sub(r"[-_.]+", "-", name).lower() for name in pinned}
    homes = packages_distributions()
    for path, tree in MODULES.items():
        # Each adapter needs the framework that it adapts to: an extra of the client.
        if path.parent.name == "adapters":
            continue
        for name in imported(tree) - sys.stdlib_module_names - set(PACKAGES):
            found = {re.sub(r"[-_.]+", "-", each).lower() for each in homes[name]}
            assert found & known, f"{path.relative_to(ROOT)} imports {name}, which is no runtime requirement"


def public_names(tree: ast.Module) -> set[str]:
    """What a module defines at its top level, without what it imports and what begins with `_`."""
    names: set[str] = set()
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Assign(targets=targets):
                names |= {target.id for target in targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
    return {name for name in names if not name.startswith("_")}


def test_no_public_name_is_defined_in_two_modules() -> None:
    places = defaultdict(list)
    for path, tree in MODULES.items():
        if "generated" not in str(path):
            for name in public_names(tree):
                places[name].append(str(path.relative_to(ROOT)))
    repeated = {name: found for name, found in places.items() if len(found) > 1}
    assert set(repeated) == REPEATED, {name: found for name, found in repeated.items() if name not in REPEATED}


SOURCES = {path: path.read_text("utf-8") for path in MODULES}
RUN_BY_NAME = "\n".join(SOURCES.values())


@pytest.mark.parametrize("name", [str(each.with_suffix("")) for each in CYPHER])
def test_every_cypher_file_has_a_caller(name: str) -> None:
    folder, _, short = name.rpartition("/")
    if folder == "analyst":
        assert short in (ROOT / "cypher" / "analyst" / "README.md").read_text("utf-8")
    elif folder == "bench":
        assert f'"{short}"' in RUN_BY_NAME
    else:
        # One that serves several kinds of nodes is named with the kind.
        assert f'"{name}"' in RUN_BY_NAME or f'"{name}:' in RUN_BY_NAME


PREFIX = re.compile(
    r"""(?:startswith|removeprefix|endswith)\(\s*f?["'](?:memory|episode|belief|procedure|form|surprise|answer)[-:]
      | STARTS\ WITH\ '(?:memory|episode|belief|procedure|form|surprise|answer)[-:]""",
    re.VERBOSE,
)


UPGRADE = "upgrade/set_roles.cypher"
"""Gives a role to memories of older databases, by the ids they had."""


def test_no_id_is_parsed() -> None:
    files = [*SOURCES, *(path for path in (ROOT / "cypher").rglob("*.cypher") if not str(path).endswith(UPGRADE))]
    assert not [str(path) for path in files if PREFIX.search(path.read_text("utf-8"))]


def test_installed_packages_do_not_import_each_other_in_a_circle() -> None:
    library = [path for path in MODULES if path.is_relative_to(PACKAGES["graphmem"])]
    imported = {
        name
        for path in library
        for node in ast.walk(MODULES[path])
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert not [name for name in imported if name.partition(".")[0] == "graphmem_api"]


RATCHETS = json.loads((ROOT / "tests" / "ratchets.json").read_text("utf-8"))
MEASURED = measures()
SLACK = 150
"""Code lines by which a package may grow until its growth has to be owned: `python -m tests.support.ratchets --all`."""


@pytest.mark.parametrize("name", sorted(RATCHETS))
def test_ratchet_only_falls(name: str) -> None:
    slack = SLACK if name.startswith("code_lines") else 0
    assert MEASURED.get(name, 0) <= RATCHETS[name] + slack, (
        "it rose; if it must: python -m tests.support.ratchets --all"
    )
