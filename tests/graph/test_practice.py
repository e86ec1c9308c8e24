"""Lessons and practice: what they reveal, how familiar it grows, and what a teacher sees of it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput
from graphmem.flows.observation import observe
from graphmem.flows.overlay import find_frontier, list_overlay, list_progress, reveal, set_attitude
from graphmem.flows.students import verify_integrity
from graphmem.flows.transfer import export_student
from graphmem.flows.world import import_world
from graphmem.jobs.runner import run_jobs
from graphmem.model import (
    Edge,
    Fact,
    Observation,
    PracticeOutcome,
    Practised,
    Role,
    Session,
    SourceKind,
    Usage,
    WorldEdge,
)
from graphmem.store import memories
from graphmem.store.changes import Changes, Origin, write
from graphmem.store.jobs import Claimed, Finished, Kind
from tests.conftest import Enrol, Pupil
from tests.support.client import Client
from tests.support.doubting import doubted
from tests.support.remembering import asked, changed, held, told
from tests.unit.test_world import FRACTION, HALF, TENTH, draft

WORLD = draft(FRACTION, HALF, TENTH, WorldEdge("e1", "half", "fraction", "PREREQUISITE_OF"))
PROGRESS = """query($s: ID!) { student(id: $s) { progress { concept { name } familiarity trend lastPractised dueAt
    evidence } } }"""


@pytest.fixture
async def pupil(gm: Graphmem, ann: Pupil) -> Pupil:
    await import_world(gm, ann.who.institution, WORLD)
    return ann


def lesson(gm: Graphmem, ref: str, *practised: Practised, days_ago: float = 0.0) -> Observation:
    at = gm.clock() - timedelta(days=days_ago)
    return Observation(SourceKind.LESSON, ref, f"We cut the apple pie, lesson {ref}.", at, practised=practised)


async def test_a_finished_lesson_reveals_and_strengthens(gm: Graphmem, pupil: Pupil) -> None:
    first = lesson(gm, "l1", Practised("half"), days_ago=2)
    await observe(gm, pupil.who, [first])
    (known,) = (await list_overlay(gm, pupil.who, 10, None)).items
    assert known.concept == HALF
    assert 0.3 < known.familiarity < 0.4
    assert await find_frontier(gm, pupil.who, 5) == [FRACTION, TENTH]
    # The same lesson again changes nothing, another one does.
    await observe(gm, pupil.who, [replace(first, practised=(Practised("half", PracticeOutcome.AGAIN),))])
    assert (await list_overlay(gm, pupil.who, 10, None)).items[0].familiarity == pytest.approx(known.familiarity, 1e-3)
    await observe(gm, pupil.who, [lesson(gm, "l2", Practised("half"))])
    better = (await list_overlay(gm, pupil.who, 10, None)).items[0]
    assert better.familiarity > known.familiarity
    await observe(gm, pupil.who, [lesson(gm, "l3", Practised("half", PracticeOutcome.AGAIN))])
    assert (await list_overlay(gm, pupil.who, 10, None)).items[0].familiarity < better.familiarity


async def test_edges_between_what_was_practised_together_are_discovered(gm: Graphmem, pupil: Pupil) -> None:
    await observe(gm, pupil.who, [lesson(gm, "l1", Practised("half")), lesson(gm, "l2", Practised("fraction"))])
    assert (await list_overlay(gm, pupil.who, 10, None)).edge_ids == ()
    await observe(gm, pupil.who, [lesson(gm, "l3", Practised("half"), Practised("fraction"))])
    assert (await list_overlay(gm, pupil.who, 10, None)).edge_ids == ("e1",)


async def test_it_decays_gently(gm: Graphmem, pupil: Pupil) -> None:
    await observe(gm, pupil.who, [lesson(gm, "l1", Practised("half")), lesson(gm, "l2", Practised("half"))])
    now = gm.clock()
    later = replace(gm, clock=lambda: now + timedelta(days=60))
    much_later = replace(gm, clock=lambda: now + timedelta(days=600))
    shown = [(await list_overlay(each, pupil.who, 10, None)).items[0].familiarity for each in (gm, later, much_later)]
    assert shown[0] > shown[1] > shown[2] > 0.1


async def test_late_practice_counts_where_it_belongs(gm: Graphmem, enrol: Enrol) -> None:
    ann, bob = await enrol("ann"), await enrol("bob")
    await import_world(gm, ann.who.institution, WORLD)
    told = [
        lesson(gm, "l1", Practised("half"), days_ago=9),
        lesson(gm, "l2", Practised("half", PracticeOutcome.HARD), days_ago=4),
        lesson(gm, "l3", Practised("half", PracticeOutcome.EASY), days_ago=1),
    ]
    await observe(gm, ann.who, told)
    for each in reversed(told):
        await observe(gm, bob.who, [each])
    (one,), (other,) = [(await list_overlay(gm, each.who, 10, None)).items for each in (ann, bob)]
    assert one.retention == other.retention


async def test_what_is_set_by_hand_stands_until_the_next_practice(gm: Graphmem, pupil: Pupil) -> None:
    await reveal(gm, pupil.session, ["half"])
    known = await set_attitude(gm, pupil.session, "half", familiarity=0.8)
    assert known.familiarity == pytest.approx(0.8)
    await observe(gm, pupil.who, [lesson(gm, "l1", Practised("half", PracticeOutcome.AGAIN))])
    (known,) = (await list_overlay(gm, pupil.who, 10, None)).items
    assert known.familiarity < 0.8


async def test_practice_of_no_concept_is_refused_and_nothing_noted(gm: Graphmem, pupil: Pupil) -> None:
    with pytest.raises(InvalidInput, match="'third'"):
        await observe(gm, pupil.who, [lesson(gm, "l1", Practised("half"), Practised("third"))])
    assert (await list_overlay(gm, pupil.who, 10, None)).total == 0
    assert await gm.graph.run("source/count", pupil.who) == [{"sources": 0, "turns": 0}]


async def test_progress_has_evidence_and_what_is_due_first(gm: Graphmem, enrol: Enrol) -> None:
    ann, bob = await enrol("ann"), await enrol("bob")
    await import_world(gm, ann.who.institution, WORLD)
    await reveal(gm, ann.session, ["fraction"])
    await observe(gm, ann.who, [lesson(gm, "old", Practised("tenth"), days_ago=40)])
    await observe(gm, ann.who, [lesson(gm, "new", Practised("half", PracticeOutcome.EASY))])
    await observe(gm, bob.who, [lesson(gm, "his", Practised("half"))])
    await run_jobs(gm, ann.session)
    tenth, half, fraction = await list_progress(gm, ann.who, 10)
    assert [each.concept for each in (tenth, half, fraction)] == [TENTH, HALF, FRACTION]
    assert tenth.due_at is not None
    assert tenth.due_at < gm.clock()
    assert half.trend > 0
    assert (fraction.familiarity, fraction.last_practised, fraction.evidence) == (0.0, None, ())
    assert len(half.evidence) == 1
    exported = await export_student(gm, ann.session)
    assert [len(each["practice"]) for each in exported["overlay"]] == [0, 1, 1]


async def test_teachers_see_progress_of_a_locked_student(
    gm: Graphmem, pupil: Pupil, app_client: Client, bearer: object
) -> None:
    observations = [{"kind": "LESSON", "text": "We halved apples.", "ref": "l1", "practised": [{"conceptId": "half"}]}]
    noted = "mutation($s: ID!, $o: [ObservationInput!]!) { observe(studentId: $s, observations: $o) { id } }"
    teacher = replace(app_client, token=bearer(Role.TEACHER), session=None)  # type: ignore[operator]
    await teacher.call(noted, s="ann", o=observations)
    (row,) = (await teacher.call(PROGRESS, s="ann"))["progress"]
    assert (row["concept"]["name"], row["familiarity"], row["evidence"]) == ("half", 0.4, [])


async def test_memories_are_about_concepts_and_analysts_can_count_by_them(
    gm: Graphmem, enrol: Enrol, app_client: Client
) -> None:
    ann, bob = await enrol("ann2"), await enrol("bob")
    await import_world(gm, ann.who.institution, WORLD)
    await told(gm, ann, "I thought a fraction is bigger when its bottom number is bigger, 1/8 is bigger than 1/4.")
    await told(gm, bob, "My brother and I love to play football on Sundays.")
    edges = "MATCH (m:Memory {institution: $i, student_id: $s})-[r:ABOUT]->(c:Concept) RETURN c.id AS id"
    assert {row["id"] for row in await asked(gm, ann.who, edges)} == {"fraction"}
    assert await asked(gm, bob.who, edges) == []
    await observe(gm, bob.who, [lesson(gm, "l1", Practised("fraction", PracticeOutcome.AGAIN))])
    (row,) = await gm.graph.run("analyst/concepts_struggled", institution=ann.who.institution, limit=10)
    assert (row["id"], row["known"], row["failing"], row["misconceived"]) == ("fraction", 1, 1, 1)
    (progress,) = await list_progress(gm, bob.who, 5)
    assert progress.evidence == ()
    # An edge to a hidden concept would give its id away.
    held = await list_all_edges(gm, ann)
    assert "Concept" not in {edge.to_label for edge in held}
    await reveal(gm, ann.session, ["fraction"])
    assert "Concept" in {edge.to_label for edge in await list_all_edges(gm, ann)}
    (progress,) = await list_progress(gm, ann.who, 5)
    assert progress.evidence != ()


async def test_facts_and_doubts_are_about_what_their_memories_are_about(gm: Graphmem, enrol: Enrol) -> None:
    ann, bob = await enrol("ann3"), await enrol("bob3")
    await import_world(gm, ann.who.institution, draft(replace(FRACTION, domain="fractions"), HALF, TENTH))
    await told(gm, ann, "I love to draw each fraction as a pizza with my grandma.")
    await told(gm, ann, "My aunt Rosa says that a fraction is never bigger than one.")
    one, two, *_ = [each for each in await held(gm, ann.session) if "fraction" in (each.content or "")]
    await doubted(gm, ann.session, one, two)
    fact = Fact("fact-of-ann", 1, "Ann compares bottom numbers.", ("fractions",), gm.clock())
    ref = one.source_refs[0]
    await write_fact(gm, ann.session, fact, ref)
    about = """MATCH (n {institution: $i, student_id: $s})-[r:ABOUT]->(c:Concept)
               WHERE n:Fact OR n:Uncertainty RETURN head(labels(n)) AS label, c.id AS id, r.weight > 0 AS weighed"""
    found = {(row["label"], row["id"], row["weighed"]) for row in await asked(gm, ann.who, about)}
    assert found == {("Fact", "fraction", True), ("Uncertainty", "fraction", True)}
    assert await asked(gm, bob.who, about) == []
    assert (await verify_integrity(gm, ann.who)).intact
    # One student counts once, however many signs there are.
    await observe(gm, bob.who, [lesson(gm, "l1", Practised("fraction", PracticeOutcome.AGAIN))])
    (row,) = await gm.graph.run("analyst/domains_struggled", institution=ann.who.institution)
    assert (row["domain"], row["students"], row["failing"], row["doubting"]) == ("fractions", 2, 1, 1)


async def write_fact(gm: Graphmem, session: Session, fact: Fact, turn_id: str) -> None:
    """A fact that a turn's surprise taught, added by a job that is under way."""
    job = Claimed(f"job-{fact.id}", Kind.FORM, 0, "a lease", b"")
    under_way = (
        "CREATE (:Job {institution: $i, student_id: $s, id: $id, kind: 'form', state: 'running', lease: $lease})"
    )
    await changed(gm, session, under_way, id=job.id, lease=job.lease)
    finished = Finished(job, Usage(), gm.settings.facts_kept)
    changes = Changes(None, "test", (fact,), Origin(SourceKind.CHAT, turn_id))
    assert await write(gm.graph, session, changes, gm.clock(), finished) is not None


async def list_all_edges(gm: Graphmem, pupil: Pupil) -> list[Edge]:
    ids = [memory.id for memory in await held(gm, pupil.session)]
    return [edge for each in (await memories.list_edges(gm.graph, pupil.who, ids)).values() for edge in each]
