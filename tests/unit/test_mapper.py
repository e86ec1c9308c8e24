"""Types of the schema made of dataclasses: a property is written in one place."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import strawberry

from graphmem.model import Role, Verdict, Who
from graphmem_api.mapper import Shown, expose, shows, taken

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Leaf:
    """Leaf of a tree (spec 1).

    Not shown.
    """

    id: str
    """Id of the leaf."""
    tree_ids: tuple[str, ...]
    """Ids of trees."""
    verdict: Verdict | None = None
    """What is said of it."""
    role: Role = Role.APP
    """Who sees it."""
    twins: tuple[str, ...] = ()
    """Leaves alike."""
    sap: float = 0.5

    @property
    def green(self) -> bool:
        """Whether it is green."""
        return self.sap > 0


@dataclass(frozen=True)
class Twig:
    """Twig with a leaf."""

    leaf: Leaf
    """Its leaf."""
    length: float
    """Length, 0 or more."""


expose(Leaf, "Blade", renamed={"sap": "juice"}, properties=["green"], ids=["twins"], nullable=["tree_ids"])


@shows(Twig, renamed={"length": "cm"})
class ShownTwig(Shown[Twig]):
    """Twig of a student."""

    @strawberry.field
    def length(self) -> float:
        return self.value.length * 100

    @strawberry.field
    def owner(self) -> str:
        return self.who.student_id


@taken(Leaf, hidden=["role"])
class LeafInput:
    """Leaf that is given."""


@strawberry.type
class Query:
    @strawberry.field
    def twig(self, leaf: Annotated[Leaf, strawberry.argument(graphql_type=LeafInput)]) -> ShownTwig:
        assert type(leaf) is Leaf
        return ShownTwig(Who("school", "ada"), Twig(leaf, 0.25))


SCHEMA = strawberry.Schema(Query)


def test_types_have_the_fields_of_the_dataclass() -> None:
    text = SCHEMA.as_str().replace('  """', '"""')
    fields = {line.strip() for line in text.splitlines() if ":" in line and '"""' not in line}
    assert fields == {
        "id: ID!",
        "treeIds: [ID!]",
        "verdict: Verdict",
        "role: String!",
        "twins: [ID!]!",
        "green: Boolean!",
        "leaf: Blade!",
        "cm: Float!",
        "owner: String!",
        "treeIds: [ID!]!",
        "verdict: Verdict = null",
        "twins: [String!] = []",
        "twig(leaf: LeafInput!): Twig!",
    }
    assert '"""Leaf of a tree."""' in text
    assert '"""Whether it is green."""' in text


QUERY = "query($leaf: LeafInput!) { twig(leaf: $leaf) { cm owner leaf { id treeIds verdict role twins green } } }"


@pytest.mark.parametrize(
    ("given", "verdict", "twins"),
    [
        ({}, None, []),
        ({"verdict": None, "twins": None}, None, []),
        ({"verdict": "WAS_IMPORTANT", "twins": ["b"]}, "WAS_IMPORTANT", ["b"]),
    ],
    ids=["left out", "null is the default", "given"],
)
def test_values_come_and_go(given: dict[str, object], verdict: str | None, twins: list[str]) -> None:
    result = SCHEMA.execute_sync(QUERY, {"leaf": {"id": "a", "treeIds": ["t"], **given}})
    assert result.errors is None
    leaf = {"id": "a", "treeIds": ["t"], "verdict": verdict, "role": "app", "twins": twins, "green": True}
    assert result.data == {"twig": {"cm": 25.0, "owner": "ada", "leaf": leaf}}


MOODY = """
from dataclasses import dataclass

from graphmem import model


@dataclass(frozen=True)
class Memory(model.Memory):
    mood: str = "calm"
    'How the student felt.'
"""
ADDED = """
import sys

from graphmem import model

sys.path.append(sys.argv[1])
from moody import Memory

model.Memory = Memory

from graphmem_api.schema import make_schema

sys.path.insert(0, "scripts")
from generate_client import generated

schema = make_schema().as_str()
print(schema, *generated(schema).values(), sep="\\f")
"""


def test_a_property_added_to_the_model_is_in_schema_and_client(tmp_path: Path) -> None:
    (tmp_path / "moody.py").write_text(MOODY, "utf-8")
    run = [sys.executable, "-c", ADDED, str(tmp_path)]
    told = subprocess.run(run, check=True, capture_output=True, text=True, cwd=ROOT)
    schema, client, typescript = told.stdout.split("\f")
    memory = schema.partition("\ntype Memory {")[2].partition("\n}")[0]
    assert '"""How the student felt."""\n  mood: String!' in memory
    result = client.partition("class Memory(Result):")[2].partition("\nclass ")[0]
    assert 'mood: str = Field(repr=False)\n    """How the student felt."""' in result
    (fragment,) = re.findall(r"fragment Memory on Memory \{ (.*?) sources", client)
    assert "mood" in fragment.split()
    assert "mood: string" in typescript
