"""What is about to be forgotten, what may come next, and practice that comes in at once."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput
from graphmem.flows.observation import observe
from graphmem.flows.overlay import find_frontier, list_fading, list_progress, reveal, set_attitude
from graphmem.flows.transfer import export_student
from graphmem.flows.world import import_world
from graphmem.model import Concept, PracticeOutcome, Practised, Role, WorldEdge
from tests.conftest import Enrol, Pupil
from tests.graph.test_practice import lesson
from tests.support.client import Client, Refused
from tests.unit.test_world import FRACTION, HALF, TENTH, draft

WORLD = draft(
    FRACTION,
    HALF,
    TENTH,
    Concept("sum", "sum of tenths"),
    WorldEdge("e1", "half", "fraction", "PREREQUISITE_OF"),
    WorldEdge("e2", "tenth", "sum", "PREREQUISITE_OF"),
)
FADING = """query($s: ID!) { student(id: $s) {
    fading(days: 14, first: 1) { total next items { fadesAt concept { id } } } } }"""


async def learned(gm: Graphmem, pupil: Pupil) -> None:
    """One fades in three days, one in nine, one is fresh, one was forgotten, nothing is known of the last."""
    await import_world(gm, pupil.who.institution, WORLD)
    days = {"tenth": 19.0, "half": 13.0, "fraction": 0.0, "sum": 60.0}
    await observe(gm, pupil.who, [lesson(gm, f"l-{id}", Practised(id), days_ago=ago) for id, ago in days.items()])


async def test_what_fades_soonest_comes_first_page_by_page(gm: Graphmem, enrol: Enrol) -> None:
    ann, bob = await enrol("ann"), await enrol("bob")
    await learned(gm, ann)
    assert [each.concept.id for each in (await list_fading(gm, ann.who, 7, 10)).items] == ["tenth"]
    both = await list_fading(gm, ann.who, 14, 10)
    assert [each.concept.id for each in both.items] == ["tenth", "half"]
    first = await list_fading(gm, ann.who, 14, 1)
    second = await list_fading(gm, ann.who, 14, 1, first.next)
    assert ([*first.items, *second.items], first.total, second.next) == ([*both.items], 2, None)
    # What is practised meanwhile does not fade any more; another student has none of it.
    await observe(gm, ann.who, [lesson(gm, "again", Practised("tenth"))])
    assert [each.concept.id for each in (await list_fading(gm, ann.who, 14, 10)).items] == ["half"]
    assert (await list_fading(gm, bob.who, 365, 10)).total == 0
    for days, most, after in ((0, 1, None), (366, 1, None), (7, 0, None), (7, 1, "tenth")):
        with pytest.raises(InvalidInput):
            await list_fading(gm, ann.who, days, most, after)


async def test_progress_page_by_page_has_every_concept_once(gm: Graphmem, enrol: Enrol) -> None:
    ann, bob = await enrol("ann"), await enrol("bob")
    await import_world(gm, ann.who.institution, WORLD)
    # Two that are due on the same day, two that never are.
    await reveal(gm, ann.session, ["sum", "half", "fraction", "tenth"])
    await observe(gm, ann.who, [lesson(gm, "l1", Practised("tenth"), Practised("half"), days_ago=3)])
    await reveal(gm, bob.session, ["sum"])
    pages: list[str] = []
    while found := await list_progress(gm, ann.who, 1, pages[-1] if pages else None):
        pages += [each.concept.id for each in found]
    assert pages == ["half", "tenth", "fraction", "sum"]
    assert [each.concept.id for each in await list_progress(gm, ann.who, 2, "half")] == ["tenth", "fraction"]
    assert await list_progress(gm, ann.who, 10, "nothing") == []
    assert await list_progress(gm, bob.who, 10, "half") == []


async def test_teachers_see_it_and_auditors_do_not(
    gm: Graphmem, ann: Pupil, app_client: Client, bearer: Callable[[Role], str]
) -> None:
    await learned(gm, ann)
    locked = replace(app_client, session=None)
    seen = (await replace(locked, token=bearer(Role.TEACHER)).call(FADING, s="ann"))["fading"]
    assert (seen["total"], seen["next"], seen["items"][0]["concept"]) == (2, "tenth", {"id": "tenth"})
    assert seen["items"][0]["fadesAt"] > gm.clock().isoformat()
    with pytest.raises(Refused) as refused:
        await replace(locked, token=bearer(Role.AUDITOR)).call(FADING, s="ann")
    assert refused.value.code == "FORBIDDEN"


async def test_what_is_known_badly_is_no_ground_for_what_needs_it(gm: Graphmem, ann: Pupil) -> None:
    await import_world(gm, ann.who.institution, WORLD)
    await reveal(gm, ann.session, ["half", "tenth"])

    async def next_ids() -> set[str]:
        return {each.id for each in await find_frontier(gm, ann.who, 10)}

    assert await next_ids() == {"fraction", "sum"}
    await set_attitude(gm, ann.session, "half", familiarity=0.2)
    await observe(gm, ann.who, [lesson(gm, "failed", Practised("tenth", PracticeOutcome.AGAIN))])
    assert await next_ids() == set()
    await observe(gm, ann.who, [lesson(gm, "better", Practised("half"), Practised("tenth"))])
    assert await next_ids() == {"fraction", "sum"}


async def test_practice_that_comes_in_at_once_all_counts(gm: Graphmem, ann: Pupil) -> None:
    await import_world(gm, ann.who.institution, WORLD)
    lessons = [lesson(gm, f"l{i}", Practised("half"), Practised("tenth"), days_ago=i) for i in range(6)]
    await asyncio.gather(*(observe(gm, ann.who, [each]) for each in lessons))
    exported = (await export_student(gm, ann.session))["overlay"]
    assert [len(each["practice"]) for each in exported] == [6, 6]
    # Held as after all of them, one after the other.
    held = "MATCH (:Student {institution: $i})-[k:KNOWS]->() RETURN k.stability AS stability, k.mastery AS mastery"
    rows = await gm.graph.execute(held, {"i": ann.who.institution}, reads=True)
    assert rows[0] == rows[1]
    await observe(gm, ann.who, lessons)
    assert await gm.graph.execute(held, {"i": ann.who.institution}, reads=True) == rows
    assert rows[0]["mastery"] == pytest.approx(1 - 0.6**6)
