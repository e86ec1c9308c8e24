"""Reading the file of a world, CSV or JSON (spec 11)."""

import csv
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from graphmem.errors import InvalidInput
from graphmem.flows.world_plan import WorldDraft
from graphmem.model import Concept, WorldEdge, WorldEdgeType
from graphmem.samples import SAMPLES, sample_worlds

LINKS = {
    "prerequisites": WorldEdgeType.PREREQUISITE_OF,
    "parts": WorldEdgeType.PART_OF,
    "related": WorldEdgeType.RELATED_TO,
}
"""Columns of a CSV file that name other concepts, from which an edge leads to the concept of the line."""
COLUMNS = ("id", "name", "aliases", "description", "domain", "grade", "misconceptions", *LINKS)
"""Columns of a CSV file; all but the first two may be missing, and several values are separated by `|`."""


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _GivenConcept(_Given):
    id: str
    name: str
    aliases: list[str] = []
    description: str | None = None
    domain: str | None = None
    grade: int | None = None
    misconceptions: list[str] = []


class _GivenEdge(_Given):
    id: str
    from_id: str = Field(alias="fromId")
    to_id: str = Field(alias="toId")
    type: str


class _GivenWorld(_Given):
    concepts: list[_GivenConcept]
    edges: list[_GivenEdge] = []


def find_world(given: str) -> Path:
    """The file of a world: one that lies at `given`, else the world of this name that ships with graphmem.

    Raises
    ------
    InvalidInput    neither is there; names the worlds that ship

    Examples
    --------
    >>> find_world("mathematics").name
    'world.csv'
    """
    path = Path(given)
    if path.is_file():
        return path
    if given in sample_worlds():
        return SAMPLES / given / "world.csv"
    raise InvalidInput(f"There is no file {given}: give a CSV or JSON file, or one of {', '.join(sample_worlds())}.")


def read_world(path: Path) -> WorldDraft:
    """Read a world: JSON as `importWorld` takes it, or CSV with a line for each concept.

    Raises
    ------
    InvalidInput    the file cannot be read; says at which line or part
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as e:
        raise InvalidInput(f"{path} cannot be read as UTF-8 text: {type(e).__name__}.") from e
    return _of_json(path, text) if path.suffix.lower() == ".json" else _of_csv(path, text)


def _of_json(path: Path, text: str) -> WorldDraft:
    try:
        found = _GivenWorld.model_validate_json(text)
    except ValidationError as e:
        told = [f"{'.'.join(map(str, each['loc'])) or path.name}: {each['msg']}" for each in e.errors()[:20]]
        raise InvalidInput(f"{path} is not the JSON of a world:\n" + "\n".join(told)) from None
    concepts = [(f"concepts.{i}", _concept(each.model_dump())) for i, each in enumerate(found.concepts)]
    edges = [(f"edges.{i}", WorldEdge(**each.model_dump())) for i, each in enumerate(found.edges)]
    return WorldDraft(concepts, edges)


def _of_csv(path: Path, text: str) -> WorldDraft:
    reader = csv.DictReader(text.splitlines(keepends=True), restkey="")
    columns = set(reader.fieldnames or ())
    if not {"id", "name"} <= columns <= set(COLUMNS):
        raise InvalidInput(f"{path}: the first line must name the columns, id and name, and any of {COLUMNS[2:]}.")
    concepts, edges, faults = [], [], []
    for row in reader:
        place = f"line {reader.line_num}"
        if "" in row or None in row.values():
            faults.append(f"{place}: there are not {len(columns)} values: put values that hold a comma into quotes.")
            continue
        grade = (row.get("grade") or "").strip()
        if grade and not grade.isdecimal():
            faults.append(f"{place}: the grade is {grade!r}: write a school year as a whole number, or nothing.")
            continue
        several = {column: _several(row.get(column)) for column in ("aliases", "misconceptions")}
        concepts.append((place, _concept(row | several | {"grade": int(grade) if grade else None})))
        for column, kind in LINKS.items():
            for other in _several(row.get(column)):
                edges.append((place, WorldEdge(f"{other} {kind} {row['id']}", other, row["id"], kind)))
    if faults:
        raise InvalidInput(f"{path} will not do, nothing was imported:\n" + "\n".join(faults[:20]))
    return WorldDraft(concepts, edges)


def _several(value: str | None) -> list[str]:
    return [each.strip() for each in (value or "").split("|") if each.strip()]


def _concept(given: dict[str, Any]) -> Concept:
    return Concept(
        given["id"].strip(),
        given["name"].strip(),
        tuple(alias.strip() for alias in given["aliases"]),
        given.get("description") or None,
        given.get("domain") or None,
        given["grade"],
        tuple(each.strip() for each in given["misconceptions"]),
    )
