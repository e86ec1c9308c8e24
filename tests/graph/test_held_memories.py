"""What processes hold of a student stays in step with the graph: memories, edges, and how memories stand (spec 10)."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.errors import Unavailable
from graphmem.flows.context import recall
from graphmem.flows.session_cache import memories_now, open_memories
from graphmem.flows.uncertainty import reconcile, resolve_uncertainty, undo_resolution
from graphmem.flows.uncertainty_plan import Settling
from graphmem.jobs.runner import run_jobs
from graphmem.model import HeldEdge, Level, Memory, Resolution
from tests.conftest import Pupil, another_replica, say
from tests.support.doubting import doubted
from tests.support.remembering import LIFE, linked, lived
from tests.support.surprising import asking, surprises

BAKERY, SAILS, BREAD = "My sister Ada works at the bakery.", "My uncle Ferdinand sails.", "Ada bakes bread at night."
Held = tuple[list[Memory], dict[str, set[HeldEdge]]]


async def held_by(gm: Graphmem, pupil: Pupil) -> Held:
    """What a process holds of a student once it has looked how things are now."""
    held, _ = await memories_now(gm, pupil.session)
    found = sorted(held.index.latest(1000), key=lambda memory: memory.id)
    return found, {memory.id: set(held.edges.of(memory.id)) for memory in found}


async def assert_in_step(pupil: Pupil, *processes: Graphmem) -> None:
    """Each process holds what one that has just been started reads."""
    memories, edges = await held_by(another_replica(processes[0]), pupil)
    for each in processes:
        own_memories, own_edges = await held_by(each, pupil)
        assert list(map(as_read, own_memories)) == list(map(as_read, memories))
        assert own_edges == edges


def as_read(memory: Memory) -> dict[str, Any]:
    """A memory with what reading it loses: parts of a millisecond, and the order of its sources."""
    values = asdict(memory) | {"source_refs": set(memory.source_refs)}
    return {
        name: value.replace(microsecond=value.microsecond // 1000) if isinstance(value, datetime) else value
        for name, value in values.items()
    }


async def test_every_process_sees_the_edges_that_formation_and_doubts_change(gm: Graphmem, ann: Pupil) -> None:
    other = another_replica(gm)
    by_text = await lived(gm, ann, (BAKERY, SAILS, BREAD))
    one, two = by_text[BAKERY], by_text[SAILS]
    await assert_in_step(ann, gm, other)
    await linked(gm, ann, one.id, by_text[BREAD].id, "ENABLES", 0.8)
    await assert_in_step(ann, gm, other)
    record = await doubted(gm, ann.session, one, two)
    await assert_in_step(ann, gm, other)
    _, edges = await held_by(other, ann)
    assert {each.reliability for each in edges[one.id] if each.type == "ENABLES"} == {"contradicted"}
    await resolve_uncertainty(other, ann.session, record.id, Settling(Resolution.MANUAL, two.id))
    await assert_in_step(ann, gm, other)
    await undo_resolution(gm, ann.session, record.id)
    await assert_in_step(ann, gm, other)


async def test_every_process_sees_what_a_cycle_settles_about_opposed_edges(gm: Graphmem, ann: Pupil) -> None:
    other = another_replica(gm)
    by_text = await lived(gm, ann, (BAKERY, SAILS))
    for begins, ends, weight in ((BAKERY, SAILS, 0.9), (SAILS, BAKERY, 0.6)):
        await linked(gm, ann, by_text[begins].id, by_text[ends].id, "CAUSES", weight)
    await assert_in_step(ann, gm, other)
    (record,) = await reconcile(gm, ann.session, by_hand=True)
    await assert_in_step(ann, gm, other)
    await undo_resolution(other, ann.session, record.id)
    await assert_in_step(ann, gm, other)


async def test_every_process_sees_what_an_episode_takes_from_the_one_before(gm: Graphmem, ann: Pupil) -> None:
    other = another_replica(gm)
    await open_memories(other, ann.session)
    await surprises(gm, ann, "My dog Rex died last night.", Level.PARADIGM_SHIFT)
    await run_jobs(asking(gm), ann.session)
    await assert_in_step(ann, gm, other)
    await surprises(gm, ann, "We are moving to Norway in May.", Level.PARADIGM_SHIFT)
    await say(gm, ann, "My aunt Zelda lives in Oslo.")
    await run_jobs(asking(gm), ann.session)
    await assert_in_step(ann, gm, other)
    _, edges = await held_by(gm, ann)
    assert any(each.type == "ABSTRACTS" for own in edges.values() for each in own)


async def test_memories_stand_as_the_turns_of_all_processes_leave_them(gm: Graphmem, ann: Pupil) -> None:
    by_text = await lived(gm, ann)
    # The clocks of two machines are never quite the same.
    behind = another_replica(gm, clock=lambda: gm.clock() - timedelta(seconds=5))
    before = {each.id: each.access_count for each in (await held_by(behind, ann))[0]}
    for process in (gm, behind, behind, gm):
        await say(process, ann, "Do you remember which bone I broke?")
    await assert_in_step(ann, gm, behind)
    after = {each.id: each.access_count for each in (await held_by(gm, ann))[0]}
    broken = by_text[LIFE[2]].id
    assert after[broken] == before[broken] + 4
    (found, *_) = await recall(behind, ann.session, "Which bone did I break?", 1)
    assert (found.memory.id, found.memory.access_count) == (broken, after[broken])


async def test_a_turn_and_the_jobs_after_it_leave_what_is_held_in_step(gm: Graphmem, ann: Pupil) -> None:
    other = another_replica(gm)
    for text in ("I live in Leeds.", "My sister Ada lives in Leeds, too.", "Ada and I sail on Sundays."):
        await say(gm, ann, text)
        await assert_in_step(ann, gm, other)
        await run_jobs(gm, ann.session)
        await assert_in_step(ann, gm, other)
    # A job of another process reinforces what this one has used since.
    await say(gm, ann, "I live in Leeds.")
    await run_jobs(other, ann.session)
    await assert_in_step(ann, gm, other)


async def test_what_cannot_be_read_after_a_write_is_read_anew(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_text = await lived(gm, ann, (BAKERY, SAILS))
    record = await doubted(gm, ann.session, by_text[BAKERY], by_text[SAILS])
    run = gm.graph.run

    async def failing(name: str, *args: object, **params: object) -> object:
        if name == "memory/list_linked":
            raise Unavailable
        return await run(name, *args, **params)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(gm.graph, "run", failing)
        await resolve_uncertainty(gm, ann.session, record.id, Settling(Resolution.MANUAL, by_text[SAILS].id))
    assert gm.memories(ann.who) is None
    await assert_in_step(ann, gm)
