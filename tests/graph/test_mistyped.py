"""One clear value of another type, set by hand, costs one node or relationship and never the student (spec 14)."""

from graphmem.app import Graphmem
from graphmem.errors import GraphmemError
from graphmem.errors import place as where
from graphmem.flows import students
from graphmem.flows.context import context, recall
from graphmem.flows.facts import list_facts
from graphmem.flows.ledger import list_entries
from graphmem.flows.memories import list_memories
from graphmem.flows.students import accept_integrity, verify_integrity
from graphmem.flows.surprise import list_questions
from graphmem.flows.uncertainty import list_uncertainties
from graphmem.jobs.runner import run_jobs
from graphmem.store.memories import Filter
from tests.conftest import Pupil, another_replica, say
from tests.support.tampering import by_hand, noticed
from tests.support.whole_life import lives

COUNTS = {"memory_version", "version", "turns", "signals"}
"""Properties that the integrity hash does not cover, and that are made again."""
FIND = """MATCH (n) WITH n WHERE n[$name] IS NOT NULL OR $name IN ['valid_at', 'expires_at', 'corrected_levels', 'used']
          RETURN elementId(n) AS element, n[$name] AS value LIMIT 1"""
SET = """CALL () {
           MATCH (n) WHERE elementId(n) = $element SET n += $properties
           UNION ALL
           MATCH ()-[n]->() WHERE elementId(n) = $element SET n += $properties
         }"""
EDGE = "(:Memory {institution: $i, student_id: $s})-[n:RELATES_TO|REMINDS_OF|ABSTRACTS|PRECEDES|REFINES]->(:Memory)"
KNOWS = "(:Student {institution: $i, id: $s})-[n:KNOWS]->(:Concept)"
CASES = (
    ("Memory", "timestamp", "yesterday"),
    ("Memory", "last_accessed", "yesterday"),
    ("Memory", "valid_at", 7),
    ("Memory", "gravity", "NaN"),
    ("Memory", "salience", ["much"]),
    ("Memory", "access_count", "twice"),
    ("Memory", "features", "none"),
    ("LedgerEntry", "importance", "high"),
    ("LedgerEntry", "expires_at", "soon"),
    ("LedgerEntry", "is_active", "yes"),
    ("Fact", "created_at", "today"),
    ("Question", "created_at", 5),
    ("Uncertainty", "surfaced_count", "once"),
    ("Concern", "urgency", "very"),
    ("Turn", "at", "noon"),
    ("Turn", "used", "some"),
    ("Source", "at", "noon"),
    ("Student", "memory_version", "seven"),
    ("Student", "version", "seven"),
    ("Student", "turns", "many"),
    ("Student", "signals", ["high"]),
    ("Student", "corrected_levels", "none"),
    ("Student", "created_at", "once"),
    ("Companion", "tolerance", "little"),
    ("Companion", "expertise", 3),
    (EDGE, "weight", "strong"),
    (EDGE, "created_at", "once"),
    (KNOWS, "familiarity", "well"),
)


async def uses(gm: Graphmem, pupil: Pupil, turn_id: str) -> None:
    """What reads and writes a student's memory goes on."""
    session = pupil.session
    await students.find_student(gm, session, session)
    assert (await say(gm, pupil, "My sister Ottilie came back from Lisbon with a red boat.", turn_id)).reply
    assert await recall(gm, session, "Where is Ottilie of Lisbon?", 20, None)
    assert (await context(gm, session, "Where is Ottilie of Lisbon?", 2000, None)).prompt
    await list_memories(gm, session, Filter(), 100, None, session)
    await list_facts(gm, session, 50)
    await list_entries(gm, session)
    await list_questions(gm, session)
    await list_uncertainties(gm, session, session)
    await run_jobs(gm, session)


async def test_a_value_of_another_type_costs_its_place_alone(gm: Graphmem, ann: Pupil) -> None:
    await lives(gm, ann, "velocipede")
    await say(gm, ann, "I want to kill myself tonight.", "grave")
    await run_jobs(gm, ann.session)
    await accept_integrity(gm, ann.who)
    failed, seen, absent = dict[str, str](), set[tuple[str, str]](), set[str]()
    for number, (place, name, value) in enumerate(CASES):
        own = "id" if place == "Student" else "student_id"
        match = place if "-" in place else f"(n:{place} {{institution: $i, {own}: $s}})"
        rows = await by_hand(gm, ann.who, FIND.replace("MATCH (n)", f"MATCH {match}"), name=name)
        if not rows:
            absent.add(place)
            continue
        (row,) = rows
        await by_hand(gm, ann.who, SET, element=row["element"], properties={name: value})
        hashed = name not in COUNTS and place != "Turn"
        try:
            named = (await verify_integrity(gm, ann.who)).fields
            assert any(each.endswith((f".{name}", ".:properties")) for each in named) == hashed, named
            await uses(another_replica(gm), ann, f"first-{number}")
            await uses(another_replica(gm), ann, f"second-{number}")
        except (GraphmemError, AssertionError, TypeError, ValueError, AttributeError) as error:
            failed[f"{place}.{name}"] = f"{error!r} {where(error)}"
        seen |= {(label, field) for label, _, field in await noticed(gm, ann.who)}
        if name not in COUNTS:
            await by_hand(gm, ann.who, SET, element=row["element"], properties={name: row["value"]})
        await accept_integrity(gm, ann.who)
    assert not failed, "\n".join(f"{case}: {error}" for case, error in failed.items())
    assert absent <= {"Fact", "Question"}, absent
    assert {("Memory", "timestamp"), ("Student", "memory_version")} <= seen
