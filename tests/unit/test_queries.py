"""The loader of Cypher files: what it refuses, and that every file of ours passes."""

import re

import pytest

from graphmem.errors import QueryError
from graphmem.store import queries

GOOD = """// Find one thing.
// mode: read
// scope: student
// params: institution: str, student_id: str, id: str
// returns: id: str
MATCH (t:Thing {institution: $institution, student_id: $student_id, id: $id})
WHERE t.name <> '$quoted' // $commented
RETURN t.id AS id
"""


def test_a_good_file_is_read() -> None:
    query = queries.parse("thing_find", GOOD)
    assert query.params == {"institution", "student_id", "id"}
    assert query.reads
    assert query.text.startswith("CYPHER 25\n")
    assert "{institution: $given.institution, student_id: $given.student_id, id: $given.id}" in query.text
    assert "'$quoted' // $commented" in query.text


def test_all_values_travel_in_one_map_so_that_their_sizes_ask_for_no_plan_of_their_own() -> None:
    for query in queries.load().values():
        code = re.sub(r"//[^\n]*|'[^']*'", "", query.text)
        assert set(re.findall(r"\$\w+", code)) <= {"$given"}, query.name


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (", id: str", "", "used but not declared"),
        (", id: str", ", id: str, more: int", "declared but not used"),
        ("// mode: read\n", "", "header"),
        ("mode: read", "mode: sometimes", "mode"),
        ("mode: read", "mode: read, often", "mode"),
        ("scope: student", "scope: galaxy", "scope"),
        ("institution: $institution, ", "", "institution"),
    ],
)
def test_a_bad_file_is_refused_when_loaded(old: str, new: str, complaint: str) -> None:
    with pytest.raises(QueryError, match=complaint):
        queries.parse("thing_find", GOOD.replace(old, new, 1))


def test_a_student_statement_without_tenancy_is_refused() -> None:
    text = re.sub(r"institution: (str|\$institution), ", "", GOOD)
    with pytest.raises(QueryError, match="must filter by it"):
        queries.parse("thing_find", text)


@pytest.mark.parametrize("given", [{}, {"institution": 1, "student_id": 2}, dict.fromkeys("abcd")])
def test_a_caller_must_give_exactly_what_is_declared(given: dict[str, object]) -> None:
    with pytest.raises(QueryError):
        queries.parse("thing_find", GOOD).check(given)


def test_every_file_of_ours_loads_and_says_what_it_does() -> None:
    loaded = queries.load()
    assert len(loaded) > 10
    for query in loaded.values():
        assert query.description.endswith(".")
        assert re.fullmatch(r"[a-z]+/[a-z]+(_[a-z]+)*(:[A-Z]\w+(-[A-Z]\w+)?)?", query.name)
