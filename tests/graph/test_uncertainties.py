"""Uncertainties on the real database: opened by what denies a memory, settled, undone, nobody else's (spec 12)."""

import asyncio
from datetime import timedelta

import pytest

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput, NotFound
from graphmem.flows.memories import find_memory
from graphmem.flows.uncertainty import (
    check_action,
    correct_memory,
    list_uncertainties,
    resolve_uncertainty,
    undo_resolution,
)
from graphmem.flows.uncertainty_plan import Settling
from graphmem.model import EdgeType, Memory, Reliability, Resolution, UncertaintyState
from tests.conftest import Enrol, Pupil, another_replica
from tests.support.client import Client
from tests.support.doubting import doubted
from tests.support.remembering import asked, held, lived, nodes, told

LIKES, HATES = "I love liquorice.", "I hate liquorice."
BY_HAND = (Resolution.USER_CLARIFIED, Resolution.MANUAL)


async def sides(gm: Graphmem, pupil: Pupil) -> tuple[Memory, Memory]:
    """Two memories that are in doubt, the older one first."""
    two = ("My sister Ada works at the bakery.", "My uncle Ferdinand sails out of the harbour.")
    memories = await lived(gm, pupil, two)
    return memories[two[0]], memories[two[1]]


async def now_of(gm: Graphmem, pupil: Pupil, memory: Memory) -> Memory:
    found = await find_memory(another_replica(gm), pupil.who, memory.id, pupil.session)
    assert found is not None
    return found


async def edges(gm: Graphmem, pupil: Pupil) -> set[tuple[str, str, str]]:
    query = """MATCH (a:Memory {institution: $i, student_id: $s})-[r:CONTRADICTS|TEMPORAL_EVOLUTION]->(b:Memory)
               RETURN a.id AS a, type(r) AS type, b.id AS b"""
    return {(row["a"], row["type"], row["b"]) for row in await asked(gm, pupil.who, query)}


async def test_what_denies_a_memory_without_a_word_of_change_leaves_both_in_doubt(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, LIKES, "My aunt sings in a choir.", HATES)
    (record,) = await list_uncertainties(gm, ann.who, ann.session)
    older, newer = [memory for memory in await held(gm, ann.session) if "liquorice" in (memory.content or "")]
    assert (record.a_id, record.b_id, record.state) == (older.id, newer.id, UncertaintyState.OPEN)
    assert {older.reliability, newer.reliability} == {Reliability.CONTRADICTED}
    assert older.invalid_at is None
    assert (newer.id, "CONTRADICTS", older.id) in await edges(gm, ann)


async def test_a_word_of_change_ends_the_older_one_silently(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, LIKES, "I hate liquorice now.")
    older, newer = await held(gm, ann.session)
    assert (older.reliability, newer.reliability) == (Reliability.SUPERSEDED, Reliability.RELIABLE)
    assert await list_uncertainties(gm, ann.who, ann.session) == []


async def test_what_denies_a_memory_much_later_is_a_change(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, LIKES, at=gm.clock() - timedelta(days=70))
    await told(gm, ann, HATES)
    older, newer = await held(gm, ann.session)
    assert (older.reliability, newer.reliability) == (Reliability.SUPERSEDED, Reliability.RELIABLE)
    assert await list_uncertainties(gm, ann.who, ann.session) == []


@pytest.mark.parametrize("resolution", list(Resolution))
async def test_each_resolution_settles_and_each_can_be_undone(gm: Graphmem, ann: Pupil, resolution: Resolution) -> None:
    older, newer = await sides(gm, ann)
    record = await doubted(gm, ann.session, older, newer)
    before = (await now_of(gm, ann, older), await now_of(gm, ann, newer), await edges(gm, ann))
    winner = newer.id if resolution in BY_HAND else None
    by = Settling(resolution, winner, "I told you: the harbour." if winner else None)
    if resolution in (Resolution.EVIDENCE_RESOLVED, Resolution.CONFIDENCE_DOMINANCE):
        with pytest.raises(InvalidInput, match="twice"):
            await resolve_uncertainty(gm, ann.session, record.id, by)
        assert (await now_of(gm, ann, older), await now_of(gm, ann, newer), await edges(gm, ann)) == before
        return
    done = await resolve_uncertainty(gm, ann.session, record.id, by)
    assert await resolve_uncertainty(another_replica(gm), ann.session, record.id, by) == done
    assert done.resolution is resolution
    if resolution is Resolution.DECAYED:
        assert done.state is UncertaintyState.DECAYED
    else:
        lost, won = await now_of(gm, ann, older), await now_of(gm, ann, newer)
        if resolution is Resolution.STRONGER_WINS and lost.invalid_at is None:
            lost, won = won, lost
        assert (lost.reliability, won.reliability) == (Reliability.SUPERSEDED, Reliability.RELIABLE)
        assert won.reinforcement_count == 1
        assert await edges(gm, ann) > before[2]
    back = await undo_resolution(gm, ann.session, record.id)
    assert (back.state, back.resolution, back.detail) == (UncertaintyState.OPEN, None, None)
    assert (await now_of(gm, ann, older), await now_of(gm, ann, newer), await edges(gm, ann)) == before
    with pytest.raises(InvalidInput, match="open"):
        await undo_resolution(gm, ann.session, record.id)


async def test_a_clarification_is_remembered_as_an_episode(gm: Graphmem, ann: Pupil) -> None:
    older, newer = await sides(gm, ann)
    record = await doubted(gm, ann.session, older, newer)
    by = Settling(Resolution.USER_CLARIFIED, newer.id, "Ada gave the bakery up in spring.")
    await resolve_uncertainty(gm, ann.session, record.id, by)
    (episode,) = [m for m in await held(another_replica(gm), ann.session) if "gave the bakery up" in (m.content or "")]
    assert episode.kind == "episode"
    assert (await list_uncertainties(gm, ann.who, ann.session))[0].detail == "Ada gave the bakery up in spring."
    assert (await list_uncertainties(gm, ann.who, None))[0].detail is None


async def test_who_wins_is_named_where_a_person_decides(gm: Graphmem, ann: Pupil) -> None:
    older, newer = await sides(gm, ann)
    record = await doubted(gm, ann.session, older, newer)
    for winner in (None, "somebody"):
        with pytest.raises(InvalidInput, match="winnerId"):
            await resolve_uncertainty(gm, ann.session, record.id, Settling(Resolution.MANUAL, winner))
    with pytest.raises(InvalidInput, match="winnerId"):
        await resolve_uncertainty(gm, ann.session, record.id, Settling(Resolution.NEWER_WINS, older.id))
    await resolve_uncertainty(gm, ann.session, record.id, Settling(Resolution.NEWER_WINS))
    with pytest.raises(InvalidInput, match="settled already"):
        await resolve_uncertainty(gm, ann.session, record.id, Settling(Resolution.STRONGER_WINS))


async def test_a_memory_in_doubt_alone_holds_again(gm: Graphmem, ann: Pupil) -> None:
    older, _ = await sides(gm, ann)
    record = await doubted(gm, ann.session, older, None)
    await resolve_uncertainty(gm, ann.session, record.id, Settling(Resolution.MANUAL, older.id))
    assert (await now_of(gm, ann, older)).reliability is Reliability.RELIABLE


async def test_a_correction_takes_the_place_of_a_memory_and_can_be_undone(gm: Graphmem, ann: Pupil) -> None:
    older, _ = await sides(gm, ann)
    new = await correct_memory(gm, ann.session, older.id, "My sister Ada works at the zoo.")
    again = await correct_memory(another_replica(gm), ann.session, older.id, "My sister Ada works at the zoo.")
    assert again.id == new.id
    assert (await now_of(gm, ann, older)).reliability is Reliability.SUPERSEDED
    assert (older.id, EdgeType.TEMPORAL_EVOLUTION.value, new.id) in await edges(gm, ann)
    (record,) = await list_uncertainties(gm, ann.who, ann.session)
    assert (record.state, record.resolution) == (UncertaintyState.RESOLVED, Resolution.USER_CLARIFIED)
    await undo_resolution(gm, ann.session, record.id)
    assert (await now_of(gm, ann, older)).reliability is Reliability.RELIABLE
    assert (await now_of(gm, ann, new)).reliability is Reliability.SUPERSEDED
    again = await correct_memory(gm, ann.session, older.id, "My sister Ada works at the zoo.")
    assert (again.id, again.reliability, again.invalid_at) == (new.id, Reliability.RELIABLE, None)
    assert (await now_of(gm, ann, older)).reliability is Reliability.SUPERSEDED


async def test_a_correction_that_says_the_same_is_refused(gm: Graphmem, ann: Pupil) -> None:
    older, _ = await sides(gm, ann)
    with pytest.raises(InvalidInput, match="already"):
        await correct_memory(gm, ann.session, older.id, "My sister Ada works at the bakery.")
    with pytest.raises(NotFound):
        await correct_memory(gm, ann.session, "nothing", "My sister Ada works at the zoo.")


async def test_an_action_that_rests_on_doubt_is_advised_against(gm: Graphmem, ann: Pupil) -> None:
    older, newer = await sides(gm, ann)
    fine = await check_action(gm, ann.session, [older.id], "Plan Saturday.", 0.9)
    assert (fine.proceed, fine.confidence, fine.warning, fine.question) == (True, 0.9, None, None)
    await doubted(gm, ann.session, older, newer)
    advised = await check_action(gm, ann.session, [older.id, newer.id], "Plan Saturday.", 0.9)
    assert not advised.proceed
    assert advised.confidence == pytest.approx(0.54)
    assert advised.unreliable == (older.id, newer.id)
    assert "bakery" in (advised.question or "")
    assert "harbour" in (advised.question or "")
    for ids, confidence in (([], 0.5), (["x"] * 101, 0.5), ([older.id], 1.5), ([older.id], float("nan"))):
        with pytest.raises(InvalidInput):
            await check_action(gm, ann.session, ids, "Plan.", confidence)


async def test_settling_at_once_settles_once(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    older, newer = await sides(gm, ann)
    record = await doubted(gm, ann.session, older, newer)
    by = Settling(Resolution.NEWER_WINS)
    both = await asyncio.gather(*(resolve_uncertainty(each, ann.session, record.id, by) for each in (gm, replica)))
    assert both[0] == both[1]
    assert (await now_of(gm, ann, newer)).reinforcement_count == 1


async def test_another_student_sees_and_settles_nothing(gm: Graphmem, ann: Pupil, enrol: Enrol) -> None:
    older, newer = await sides(gm, ann)
    record = await doubted(gm, ann.session, older, newer)
    bob = await enrol("bob")
    assert await list_uncertainties(gm, bob.who, bob.session) == []
    for act in (
        resolve_uncertainty(gm, bob.session, record.id, Settling(Resolution.NEWER_WINS)),
        undo_resolution(gm, bob.session, record.id),
        correct_memory(gm, bob.session, older.id, "My sister Ada works at the zoo."),
        check_action(gm, bob.session, [older.id], "Plan.", 0.5),
    ):
        with pytest.raises(NotFound):
            await act
    (node,) = await nodes(gm, ann.who, "Uncertainty")
    assert node["state"] == "open"


async def test_what_was_said_lies_sealed(gm: Graphmem, ann: Pupil) -> None:
    older, newer = await sides(gm, ann)
    record = await doubted(gm, ann.session, older, newer)
    await resolve_uncertainty(gm, ann.session, record.id, Settling(Resolution.MANUAL, newer.id, "The harbour it is."))
    (node,) = await nodes(gm, ann.who, "Uncertainty")
    plain = [value if isinstance(value, bytes) else str(value).encode() for value in node.values()]
    assert not any(word in value for value in plain for word in (b"harbour", b"bakery"))


async def test_over_the_api(gm: Graphmem, app_client: Client, ann: Pupil) -> None:
    older, newer = await sides(gm, ann)
    record = await doubted(gm, ann.session, older, newer)
    client = await app_client.opened("ann", ann.password)
    shown = """{ student(id: "ann") { uncertainties(state: OPEN) {
        id severity a { content } b { content uncertainties { id } } reasoning state } } }"""
    (found,) = (await client.call(shown))["uncertainties"]
    assert found["id"] == record.id
    assert found["b"]["uncertainties"] == [{"id": record.id}]
    assert "bakery" in found["a"]["content"]
    settle = """mutation($id: ID!) { resolveUncertainty(studentId: "ann", id: $id, resolution: TEMPORAL_SUPERSEDE) {
        state resolution a { reliability } b { reliability } } }"""
    done = await client.call(settle, id=record.id)
    assert done == {
        "state": "RESOLVED",
        "resolution": "TEMPORAL_SUPERSEDE",
        "a": {"reliability": "SUPERSEDED"},
        "b": {"reliability": "RELIABLE"},
    }
    undo = """mutation($id: ID!) { undoResolution(studentId: "ann", id: $id) { state a { reliability } } }"""
    assert (await client.call(undo, id=record.id))["a"]["reliability"] == "CONTRADICTED"
    check = """mutation($ids: [ID!]!) { checkAction(studentId: "ann", memoryIds: $ids, action: "Plan", confidence: 1) {
        proceed confidence reliabilityWarning question unreliable { id } } }"""
    advised = await client.call(check, ids=[older.id])
    assert (advised["proceed"], advised["confidence"]) == (False, 0.6)
    correct = """mutation($id: ID!) { correctMemory(studentId: "ann", id: $id, content: "Ada works at the zoo.") {
        reliability content } }"""
    assert (await client.call(correct, id=older.id))["reliability"] == "RELIABLE"
