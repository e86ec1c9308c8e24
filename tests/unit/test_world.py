"""What an import of a world changes and refuses, and the files it is read from."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import InvalidInput
from graphmem.flows.world import WorldDraft, plan_import, read_world
from graphmem.model import Concept, World, WorldEdge

EMPTY = World({}, {})
FRACTION, HALF, TENTH = Concept("fraction", "fraction", ("Bruch",)), Concept("half", "half"), Concept("tenth", "tenth")
PART = WorldEdge("e1", "half", "fraction", "PART_OF")


def draft(*parts: Concept | WorldEdge) -> WorldDraft:
    placed = [(f"line {i}", part) for i, part in enumerate(parts, 1)]
    return WorldDraft(
        [(place, part) for place, part in placed if isinstance(part, Concept)],
        [(place, part) for place, part in placed if isinstance(part, WorldEdge)],
    )


def test_what_is_there_already_is_not_written_again() -> None:
    whole = draft(FRACTION, HALF, PART)
    after, changes = plan_import(EMPTY, whole, replace=False)
    assert (changes.concepts, changes.edges) == ((FRACTION, HALF), (PART,))
    again = plan_import(after, whole, replace=False)[1]
    assert not any((again.concepts, again.edges, again.gone_concepts, again.gone_edges))


def test_a_concept_is_renamed_an_edge_moved_and_what_is_lacking_removed() -> None:
    before = plan_import(EMPTY, draft(FRACTION, HALF, TENTH, PART), replace=False)[0]
    renamed, moved = Concept("half", "one half"), WorldEdge("e1", "tenth", "fraction", "PART_OF")
    changes = plan_import(before, draft(renamed, moved), replace=False)[1]
    assert (changes.concepts, changes.edges, changes.gone_edges) == ((renamed,), (moved,), (PART,))
    assert changes.gone_concepts == ()
    replaced = plan_import(before, draft(FRACTION), replace=True)[1]
    assert (set(replaced.gone_concepts), replaced.gone_edges) == ({"half", "tenth"}, (PART,))


def test_every_fault_is_told_with_its_place() -> None:
    faulty = draft(
        FRACTION,
        Concept("fraction", "a fraction"),
        Concept("other", "Fraction"),
        Concept("blank", " "),
        Concept("long", "x" * 201, ("",)),
        Concept("", "nothing\x00"),
        Concept("late", "late", grade=21, misconceptions=("x" * 501, "")),
        WorldEdge("e1", "fraction", "nowhere", "PART_OF"),
        WorldEdge("e2", "other", "other", "PART_OF"),
        WorldEdge("e3", "other", "blank", "LEADS_TO"),
    )
    with pytest.raises(InvalidInput) as refused:
        plan_import(EMPTY, faulty, replace=False)
    told = str(refused.value)
    assert {int(n) for n in re.findall(r"^line (\d+):", told, re.M)} == set(range(1, 11))
    for fault in (
        "'nowhere'",
        "to itself",
        "LEADS_TO",
        "alias is empty",
        "201 characters",
        "501 characters",
        "grade is 21",
        "misconception is empty",
        "control characters",
    ):
        assert fault in told


@pytest.mark.parametrize("kind", ["PREREQUISITE_OF", "PART_OF"])
def test_no_concept_comes_before_itself_also_by_what_is_there(kind: str) -> None:
    there = plan_import(EMPTY, draft(FRACTION, HALF, WorldEdge("e1", "half", "fraction", kind)), replace=False)[0]
    with pytest.raises(InvalidInput, match=r"'half'.*'fraction'|'fraction'.*'half'"):
        plan_import(there, draft(WorldEdge("e2", "fraction", "half", kind)), replace=False)
    plan_import(there, draft(WorldEdge("e2", "fraction", "half", "RELATED_TO")), replace=False)


IDS = st.sampled_from([f"c{i}" for i in range(6)])


@given(st.lists(st.tuples(IDS, IDS), max_size=12))
def test_prerequisites_are_accepted_just_when_they_have_an_order(links: list[tuple[str, str]]) -> None:
    concepts = [Concept(f"c{i}", f"name {i}") for i in range(6)]
    edges = [WorldEdge(f"e{i}", a, b, "PREREQUISITE_OF") for i, (a, b) in enumerate(links)]
    left, reached = set(links), {f"c{i}" for i in range(6)}
    # Concepts that nothing leads to are taken away until none is left, or a circle.
    while free := reached - {b for _, b in left}:
        reached -= free
        left = {(a, b) for a, b in left if a not in free}
    if reached:
        with pytest.raises(InvalidInput):
            plan_import(EMPTY, draft(*concepts, *edges), replace=False)
    else:
        assert plan_import(EMPTY, draft(*concepts, *edges), replace=False)[1].concepts == tuple(concepts)


def test_csv_and_json_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "world.csv").write_text(
        "id,name,aliases,description,grade,misconceptions,prerequisites\n"
        'half,half,,"one of two, equal",1,Any part is one.|It is small.,\n'
        "fraction,fraction,Bruch | fracción,,,,half\n"
    )
    (tmp_path / "world.json").write_text(
        '{"concepts": [{"id": "half", "name": "half", "description": "one of two, equal", "grade": 1,'
        '"misconceptions": ["Any part is one.", "It is small."]},'
        '{"id": "fraction", "name": "fraction", "aliases": ["Bruch", "fracción"]}], "edges": ['
        '{"id": "half PREREQUISITE_OF fraction", "fromId": "half", "toId": "fraction", "type": "PREREQUISITE_OF"}]}'
    )
    tabular, nested = (plan_import(EMPTY, read_world(tmp_path / f"world.{x}"), replace=False) for x in ("csv", "json"))
    assert tabular == nested
    assert [place for place, _ in read_world(tmp_path / "world.csv").concepts] == ["line 2", "line 3"]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("w.csv", "name\nhalf\n", "columns"),
        ("w.csv", "id,name,colour\nhalf,half,red\n", "columns"),
        ("w.csv", "id,name\nhalf\nthird,third,3\n", "line 3"),
        ("w.csv", "id,name,grade\nhalf,half,three\n", "line 2: the grade is 'three'"),
        ("w.json", "[1", "JSON"),
        ("w.json", '{"concepts": [{"id": 7, "name": "x"}]}', "concepts.0.id"),
        ("w.json", '{"concepts": [], "links": []}', "links"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(tmp_path: Path, name: str, text: str, told: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidInput, match=told):
        read_world(tmp_path / name)
