"""The curriculum that ships: it imports, it is in order, and its names are told apart."""

import csv
import re
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import pytest

from graphmem.errors import InvalidInput
from graphmem.flows.world import find_world, plan_import, read_world
from graphmem.model import Concept, World, WorldEdgeType
from graphmem.samples import SAMPLES, sample_worlds

SHARED = {"degree": {"degree-of-angle", "degree-of-a-polynomial"}}
"""Words that two concepts of school mathematics truly share."""


@pytest.fixture(scope="module")
def world() -> World:
    return plan_import(World({}, {}), read_world(find_world("mathematics")), replace=False)[0]


def prerequisites(world: World) -> dict[str, set[str]]:
    """Direct prerequisites by concept."""
    found: dict[str, set[str]] = defaultdict(set)
    for edge in world.edges.values():
        if edge.type == WorldEdgeType.PREREQUISITE_OF:
            found[edge.to_id].add(edge.from_id)
    return found


def all_before(before: dict[str, set[str]], id: str) -> set[str]:
    """Prerequisites of a concept, theirs, and so on."""
    return before[id].union(*(all_before(before, each) for each in before[id]))


def names(concept: Concept) -> list[str]:
    """Name and aliases, compared without upper case."""
    return [each.casefold() for each in (concept.name, *concept.aliases)]


def test_it_holds_a_curriculum(world: World) -> None:
    concepts = world.concepts.values()
    assert len(concepts) >= 300
    assert {each.grade for each in concepts} == set(range(1, 13))
    for each in concepts:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", each.id)
        assert each.domain
        assert each.description
        assert each.description.endswith(".")
        assert all(wrong.endswith(".") for wrong in each.misconceptions), each.id
        # Spanish and German, where these are not the English word.
        assert each.aliases, each.id
    assert sum(bool(each.misconceptions) for each in concepts) >= 150
    assert {edge.type for edge in world.edges.values()} == set(WorldEdgeType)


def test_every_concept_beyond_the_first_grade_builds_on_one_of_it(world: World) -> None:
    before = prerequisites(world)
    reached = {each.id for each in world.concepts.values() if not before[each.id]}
    assert {world.concepts[id].grade for id in reached} == {1}
    while more := {id for id in world.concepts if id not in reached and before[id] <= reached}:
        reached |= more
    assert reached == set(world.concepts)


def test_prerequisites_are_the_nearest_ones(world: World) -> None:
    before = prerequisites(world)
    for id, nearest in list(before.items()):
        farther = set().union(*(all_before(before, each) for each in nearest))
        assert not nearest & farther, id


def test_no_prerequisite_is_of_a_higher_grade(world: World) -> None:
    for id, before in prerequisites(world).items():
        for each in before:
            assert (world.concepts[each].grade or 0) <= (world.concepts[id].grade or 0), (each, id)


def test_no_two_concepts_share_a_name_or_an_alias_but_those_that_share_the_word(world: World) -> None:
    bearers: dict[str, set[str]] = defaultdict(set)
    for concept in world.concepts.values():
        assert len(set(names(concept))) == len(names(concept)), concept.id
        for each in names(concept):
            bearers[each].add(concept.id)
    assert {word: ids for word, ids in bearers.items() if len(ids) > 1} == SHARED


def test_no_pair_is_linked_both_as_prerequisite_and_as_related(world: World) -> None:
    kinds: dict[frozenset[str], set[str]] = defaultdict(set)
    for edge in world.edges.values():
        kinds[frozenset((edge.from_id, edge.to_id))].add(edge.type)
    assert not [set(pair) for pair, found in kinds.items() if {"PREREQUISITE_OF", "RELATED_TO"} <= found]


def test_the_lessons_of_fractions_come_in_their_order(world: World) -> None:
    before = prerequisites(world)
    order = ["half", "fraction", "equivalent-fractions", "common-denominator", "fraction-addition"]
    for earlier, later in combinations(order, 2):
        assert earlier in all_before(before, later)


def test_the_common_words_are_names_of_their_concepts(world: World) -> None:
    with (SAMPLES / "mathematics" / "common_words.csv").open(encoding="utf-8", newline="") as file:
        listed = list(csv.DictReader(file))
    assert len({(row["word"], row["concept"]) for row in listed}) == len(listed) >= 50
    for row in listed:
        assert row["word"] in names(world.concepts[row["concept"]]), row
        assert row["other_sense"]


def test_the_page_on_writing_a_world_shows_what_imports(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "world.md").read_text("utf-8")
    examples = re.findall(r"^```csv \w+\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    states = [World({}, {})]
    for i, text in enumerate(examples):
        (tmp_path / f"{i}.csv").write_text(text, "utf-8")
        states.append(plan_import(states[-1], read_world(tmp_path / f"{i}.csv"), replace=False)[0])
    _, before, after = states
    assert {edge.type for edge in before.edges.values()} == {WorldEdgeType.PREREQUISITE_OF, WorldEdgeType.PART_OF}
    assert (before.concepts["half"].name, after.concepts["half"].name) == ("half", "one half")
    assert (before.edges, set(before.concepts)) == (after.edges, set(after.concepts))


def test_each_world_names_its_licence() -> None:
    for name in sample_worlds():
        assert "CC0" in (SAMPLES / name / "ATTRIBUTION.md").read_text("utf-8")


def test_a_world_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(InvalidInput, match="mathematics"):
        find_world("geography")


def test_the_documents_tell_its_size(world: World) -> None:
    root = Path(__file__).parents[2]
    for page in ("docs/using.md", "docs/formats.md", "docs/world.md"):
        text = " ".join((root / page).read_text("utf-8").split())
        assert f"{len(world.concepts)} concepts" in text
    assert f"{len(world.edges)} edges" in text
