"""What students know of the world, on the real database and over the API."""

import pytest

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput, NotFound
from graphmem.flows.overlay import find_frontier, list_overlay, reveal, set_attitude
from graphmem.flows.students import erase_student
from graphmem.flows.transfer import export_student
from graphmem.flows.world import find_world, import_world, read_world
from graphmem.model import Concept, WorldEdge
from tests.conftest import Enrol, Pupil
from tests.support.client import Client
from tests.unit.test_world import FRACTION, HALF, TENTH, draft

BEFORE = WorldEdge("e1", "half", "fraction", "PREREQUISITE_OF")
WORLD = draft(FRACTION, HALF, TENTH, BEFORE, WorldEdge("e2", "tenth", "fraction", "PREREQUISITE_OF"))


async def test_one_student_knows_and_another_does_not(gm: Graphmem, enrol: Enrol) -> None:
    ann, bob = await enrol("ann"), await enrol("bob")
    await import_world(gm, ann.who.institution, WORLD)
    assert await find_frontier(gm, ann.who, 10) == [HALF, TENTH]
    first = await reveal(gm, ann.session, ["half", "tenth"])
    assert [each.concept for each in first.items] == [HALF, TENTH]
    assert await reveal(gm, ann.session, ["half"]) == first
    assert await find_frontier(gm, ann.who, 10) == [FRACTION]
    found = await reveal(gm, ann.session, ["fraction"], ["e1"])
    assert (found.total, found.edge_ids) == (3, ("e1",))
    page = await list_overlay(gm, ann.who, 2, None)
    assert (len(page.items), page.next) == (2, "half")
    await reveal(gm, bob.session, ["half", "fraction"])
    theirs = await list_overlay(gm, bob.who, 10, None)
    assert ([each.concept.id for each in theirs.items], theirs.edge_ids) == (["fraction", "half"], ())


async def test_all_up_to_a_grade_is_revealed_at_once(gm: Graphmem, ann: Pupil, app_client: Client) -> None:
    graded = [Concept(f"c{i}", f"name {i}", grade=i) for i in range(1, 6)]
    await import_world(gm, ann.who.institution, draft(*graded, HALF))
    mutation = """mutation($s: ID!, $g: Int) { reveal(studentId: $s, conceptIds: ["c5"], throughGrade: $g) {
        items { concept { id } } } }"""
    known = (await app_client.call(mutation, s="ann", g=3))["items"]
    assert [each["concept"]["id"] for each in known] == ["c1", "c2", "c3", "c5"]
    with pytest.raises(InvalidInput, match="throughGrade"):
        await reveal(gm, ann.session, [], through_grade=0)


async def test_a_concept_keeps_what_is_known_of_it_by_another_name_and_takes_it_along(gm: Graphmem, ann: Pupil) -> None:
    institution = ann.who.institution
    await import_world(gm, institution, WORLD)
    await reveal(gm, ann.session, ["half", "tenth", "fraction"], ["e1"])
    await set_attitude(gm, ann.session, "half", 0.5, 0.25)
    await import_world(gm, institution, draft(Concept("half", "one half")))
    known = {each.concept.name: each.familiarity for each in (await list_overlay(gm, ann.who, 10, None)).items}
    assert known == {"fraction": 0.0, "one half": 0.25, "tenth": 0.0}
    await import_world(gm, institution, draft(FRACTION, TENTH), replace=True)
    left = await list_overlay(gm, ann.who, 10, None)
    assert ([each.concept for each in left.items], left.edge_ids) == ([FRACTION, TENTH], ())


async def test_a_beginner_of_the_curriculum_begins_with_the_first_grade(gm: Graphmem, enrol: Enrol) -> None:
    ann, bob = await enrol("ann"), await enrol("bob")
    await import_world(gm, ann.who.institution, read_world(find_world("mathematics")))
    first = [each.id for each in await find_frontier(gm, ann.who, 20)]
    assert first == ["counting", "one-to-one-matching", "shape", "sorting-and-classifying"]
    await reveal(gm, ann.session, first)
    then = await find_frontier(gm, ann.who, 50)
    assert {"addition", "half", "triangle"} <= {each.id for each in then}
    assert max(each.grade or 0 for each in then) <= 3
    assert [each.id for each in await find_frontier(gm, bob.who, 20)] == first


async def test_what_is_not_there_is_refused(gm: Graphmem, ann: Pupil) -> None:
    await import_world(gm, ann.who.institution, WORLD)
    with pytest.raises(InvalidInput, match="'third'"):
        await reveal(gm, ann.session, ["half", "third"])
    assert (await list_overlay(gm, ann.who, 10, None)).total == 0
    with pytest.raises(InvalidInput, match="'e1'"):
        await reveal(gm, ann.session, ["half"], ["e1"])
    assert (await list_overlay(gm, ann.who, 10, None)).total == 0
    with pytest.raises(NotFound):
        await set_attitude(gm, ann.session, "half", 0.5)
    for bad in ({"attitude": 1.5}, {"familiarity": -0.1}, {"attitude": float("nan")}, {"notes": ""}):
        with pytest.raises(InvalidInput):
            await set_attitude(gm, ann.session, "half", **bad)


async def test_what_a_student_thinks_of_a_concept(gm: Graphmem, enrol: Enrol) -> None:
    ann, bob = await enrol("ann"), await enrol("bob")
    await import_world(gm, ann.who.institution, WORLD)
    for pupil in (ann, bob):
        await reveal(gm, pupil.session, ["half"])
    first = await set_attitude(gm, ann.session, "half", 0.5, 0.25, "Likes halves of cakes.")
    assert (first.attitude, first.familiarity, first.notes) == (0.5, 0.25, "Likes halves of cakes.")
    again = await set_attitude(gm, ann.session, "half", familiarity=0.75)
    assert (again.attitude, again.familiarity, again.notes) == (0.5, 0.75, "Likes halves of cakes.")
    assert (await list_overlay(gm, ann.who, 10, None)).items[0].notes is None
    assert (await list_overlay(gm, ann.who, 10, None, ann.session)).items[0].notes == "Likes halves of cakes."
    (theirs,) = (await list_overlay(gm, bob.who, 10, None, bob.session)).items
    assert (theirs.attitude, theirs.familiarity, theirs.notes) == (0.0, 0.0, None)
    stored = "MATCH (:Student {institution: $i})-[k:KNOWS]->() WHERE k.notes IS NOT NULL RETURN k.notes AS notes"
    (row,) = await gm.graph.execute(stored, {"i": ann.who.institution}, reads=True)
    assert b"cakes" not in bytes(row["notes"])
    assert (await export_student(gm, ann.session))["overlay"][0]["notes"] == "Likes halves of cakes."


async def test_an_erasure_takes_all_of_it_and_leaves_the_world(gm: Graphmem, enrol: Enrol) -> None:
    ann, bob = await enrol("ann"), await enrol("bob")
    await import_world(gm, ann.who.institution, WORLD)
    for pupil in (ann, bob):
        await reveal(gm, pupil.session, ["half", "fraction"], ["e1"])
    count = """MATCH (c:Concept {institution: $i})
               RETURN COUNT { (c)<-[:KNOWS]-() } AS known, COUNT { (c)-[:DISCOVERED]->() } AS discovered"""
    before = await gm.graph.execute(count, {"i": ann.who.institution}, reads=True)
    assert (sum(r["known"] for r in before), sum(r["discovered"] for r in before)) == (4, 2)
    assert (await erase_student(gm, ann.who)).edges >= 3
    rows = await gm.graph.execute(count, {"i": ann.who.institution}, reads=True)
    assert (len(rows), sum(r["known"] for r in rows), sum(r["discovered"] for r in rows)) == (3, 2, 1)
    assert (await list_overlay(gm, bob.who, 10, None)).edge_ids == ("e1",)


async def test_over_the_api(gm: Graphmem, ann: Pupil, app_client: Client) -> None:
    await import_world(gm, ann.who.institution, WORLD)
    revealed = await app_client.call('mutation { reveal(studentId: "ann", conceptIds: ["half"]) { total } }')
    assert revealed == {"total": 1}
    seen = await app_client.call(
        '{ student(id: "ann") { overlay { edgeIds items { attitude familiarity concept { name } } } frontier { id } } }'
    )
    assert seen["overlay"]["items"] == [{"attitude": 0.0, "familiarity": 0.0, "concept": {"name": "half"}}]
    assert seen["frontier"] == [{"id": "tenth"}]
