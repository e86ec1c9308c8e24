"""Fading, neighbourhoods and pages on the real database."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput, NotFound
from graphmem.flows.consolidation import decay
from graphmem.flows.memories import count_memories, find_around, list_memories
from graphmem.flows.observation import observe
from graphmem.jobs.runner import run_jobs
from graphmem.model import Memory, Who
from graphmem.search.scoring import gravity_now
from graphmem.store.memories import Filter
from tests.conftest import Pupil, another_replica
from tests.support.remembering import LIFE, as_said, changed, formed, held, linked, lived, nodes, observations, told


async def test_gravity_is_written_down_without_changing_what_it_is_computed_from(gm: Graphmem, ann: Pupil) -> None:
    await lived(gm, ann)
    before = {node["id"]: node for node in await nodes(gm, ann.who, "Memory")}
    found = await held(gm, ann.session)
    late = found[0].last_accessed + timedelta(days=14)
    assert await decay(another_replica(gm, clock=lambda: late), ann.who) == (len(LIFE), 0)
    once = await nodes(gm, ann.who, "Memory")
    for node in once:
        (memory,) = [m for m in found if m.id == node["id"]]
        assert node["gravity_now"] == pytest.approx(gravity_now(memory, late))
        assert node["gravity"] == before[node["id"]]["gravity"]
        assert node["last_accessed"] == before[node["id"]]["last_accessed"]
    assert await decay(another_replica(gm, clock=lambda: late), ann.who) == (len(LIFE), 0)
    assert await nodes(gm, ann.who, "Memory") == once


@pytest.mark.parametrize(
    ("days", "reliability", "consolidated", "factor"),
    [
        (7, "reliable", True, 0.5),
        (14, "reliable", True, 0.25),
        (7, "uncertain", True, 0.5**1.5),
        (7, "contradicted", True, 0.25),
        (7, "superseded", True, 0.125),
        (7, "reliable", False, 0.25),
        (3.5, "contradicted", False, 0.25),
    ],
)
async def test_how_fast_it_fades(
    gm: Graphmem, ann: Pupil, days: float, reliability: str, consolidated: bool, factor: float
) -> None:
    (memory,) = (await lived(gm, ann, LIFE[:1])).values()
    set_to = """MATCH (m:Memory {institution: $i, student_id: $s})
                SET m.gravity = 1.0, m.reliability = $r, m.consolidated = $c"""
    await changed(gm, ann.who, set_to, r=reliability, c=consolidated)
    late = another_replica(gm, clock=at(memory, days))
    await decay(late, ann.who)
    (node,) = await nodes(gm, ann.who, "Memory")
    expected = max(factor, 0.1 * memory.salience)
    assert node["gravity_now"] == pytest.approx(expected)
    # Pages and counts by gravity follow the same curve.
    for least, found in ((expected - 0.01, 1), (expected + 0.01, 0)):
        wanted = Filter(min_gravity=least)
        assert len((await list_memories(late, ann.who, wanted, 5, None, None)).items) == found
        assert await count_memories(late, ann.who, wanted) == found


def at(memory: Memory, days: float) -> Callable[[], datetime]:
    moment = memory.last_accessed + timedelta(days=days)
    return lambda: moment


@pytest.mark.parametrize("reliability", ["reliable", "uncertain", "contradicted", "superseded"])
async def test_only_what_nobody_relies_on_is_deleted_when_it_has_faded(
    gm: Graphmem, ann: Pupil, reliability: str
) -> None:
    (memory,) = (await lived(gm, ann, LIFE[:1])).values()
    await changed(
        gm,
        ann.who,
        """MATCH (m:Memory {institution: $i, student_id: $s}) SET m.reliability = $r
           CREATE (:Uncertainty {institution: $i, student_id: $s, id: 'u', state: 'open'})-[:CONCERNS]->(m)""",
        r=reliability,
    )
    gone = int(reliability != "reliable")
    late = another_replica(gm, clock=at(memory, 400))
    assert await decay(late, ann.who) == (1, gone)
    assert len(await nodes(gm, ann.who, "Memory")) == 1 - gone
    (doubt,) = await nodes(gm, ann.who, "Uncertainty")
    assert doubt["state"] == ("decayed" if gone else "open")
    assert await decay(late, ann.who) == (1 - gone, 0)


@pytest.mark.parametrize("mark", ["flashbulb", "in_ledger"])
async def test_flashbulbs_and_what_the_ledger_rests_on_do_not_fade(gm: Graphmem, ann: Pupil, mark: str) -> None:
    (memory,) = (await lived(gm, ann, LIFE[:1])).values()
    lasting = f"MATCH (m:Memory {{institution: $i, student_id: $s}}) SET m.{mark} = true, m.reliability = 'superseded'"
    await changed(gm, ann.who, lasting)
    assert await decay(another_replica(gm, clock=at(memory, 4000)), ann.who) == (1, 0)
    (node,) = await nodes(gm, ann.who, "Memory")
    assert node["gravity_now"] == pytest.approx(memory.gravity)


async def test_nobody_fades_who_is_not_there(gm: Graphmem, ann: Pupil) -> None:
    with pytest.raises(NotFound):
        await decay(gm, Who(ann.who.institution, "nobody"))
    assert await decay(gm, ann.who) == (0, 0)


# Neighbourhoods and pages


async def test_a_neighbourhood_ends_after_so_many_edges(gm: Graphmem, ann: Pupil) -> None:
    by_text = await lived(gm, ann)
    ids = [by_text[text].id for text in LIFE]
    await changed(gm, ann.who, "MATCH (:Memory {institution: $i, student_id: $s})-[r]-(:Memory) DELETE r")
    for a, b in pairwise(ids):
        await linked(gm, ann, a, b, "PRECEDES", 0.8)
    for hops in range(4):
        found, edges = await find_around(gm, ann.who, ids[0], hops, 0.0, ann.session)
        assert [memory.id for memory in found] == ids[: hops + 1]
        assert {(edge.from_id, edge.to_id) for edge in edges} == set(pairwise(ids[: hops + 1]))
    found, edges = await find_around(gm, ann.who, ids[0], 3, 0.9, None)
    assert ([memory.content for memory in found], edges) == ([None], [])
    for bad in ({"hops": -1}, {"hops": 4}, {"min_weight": float("nan")}, {"min_weight": 1.1}):
        with pytest.raises(InvalidInput):
            await find_around(gm, ann.who, ids[0], **({"hops": 1, "min_weight": 0.0} | bad), session=None)
    with pytest.raises(NotFound):
        await find_around(gm, ann.who, "memory-nobody-has", 1, 0.0, None)


async def test_a_neighbourhood_as_of_a_moment_holds_what_held_then(gm: Graphmem, ann: Pupil) -> None:
    by_text = await lived(gm, ann)
    ids = [by_text[text].id for text in LIFE][:4]
    await changed(gm, ann.who, "MATCH (:Memory {institution: $i, student_id: $s})-[r]-(:Memory) DELETE r")
    for a, b in pairwise(ids):
        await linked(gm, ann, a, b, "PRECEDES", 0.8)
    ended = "MATCH (m:Memory {institution: $i, student_id: $s, id: $id}) SET m.invalid_at = $at"
    now = gm.clock()
    await changed(gm, ann.who, ended, id=ids[2], at=now - timedelta(days=1))
    for moment, seen in ((now, ids[:2]), (now - timedelta(days=2), ids)):
        found, edges = await find_around(gm, ann.who, ids[0], 3, 0.0, ann.session, moment)
        assert [memory.id for memory in found] == seen
        assert {(edge.from_id, edge.to_id) for edge in edges} == set(pairwise(seen))
    with pytest.raises(NotFound):
        await find_around(gm, ann.who, ids[2], 3, 0.0, ann.session, now)
    with pytest.raises(InvalidInput, match="asOf"):
        await find_around(gm, ann.who, ids[0], 3, 0.0, ann.session, now.replace(tzinfo=None))


async def test_pages_hold_every_memory_once_also_while_new_ones_come(gm: Graphmem, ann: Pupil) -> None:
    texts = tuple(f"On day {i} I swam {i + 2} lanes in the lake of Uster." for i in range(12))
    await observe(gm, ann.who, [replace(o, at=datetime(2026, 1, 5, tzinfo=UTC)) for o in observations(texts)])
    await run_jobs(gm, ann.session)
    seen: list[str] = []
    after = None
    while True:
        page = await list_memories(gm, ann.who, Filter(), 5, after, ann.session)
        seen += [as_said(memory) for memory in page.items]
        if page.next is None:
            break
        after = page.next
        if len(seen) == 5:
            await told(gm, ann, "My favourite colour is teal.")
    assert sorted(seen) == sorted(texts)
    assert len(await formed(gm, ann.who)) == 13
