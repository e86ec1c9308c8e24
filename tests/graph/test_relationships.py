"""How far relationships can be relied on, and what settling means around a doubt, on the real database (spec 12)."""

import pytest

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput
from graphmem.flows.context import REACH
from graphmem.flows.memories import find_memory, list_memories
from graphmem.flows.session_cache import open_memories
from graphmem.flows.uncertainty import (
    check_action,
    list_uncertainties,
    reconcile,
    resolve_uncertainty,
    undo_resolution,
)
from graphmem.flows.uncertainty_plan import Settling
from graphmem.model import DetectionContext, Memory, Reliability, Resolution, Severity, Uncertainty, UncertaintyState
from graphmem.store import memories
from graphmem.store.memories import Filter
from tests.conftest import Enrol, Pupil, another_replica
from tests.support.client import Client
from tests.support.doubting import doubted
from tests.support.remembering import asked, changed, linked, lived

BAKERY, SAILS, RAVENS = "My sister Ada works at the bakery.", "My uncle Ferdinand sails.", "My aunt Zelda tames ravens."
EDGES = """MATCH (a:Memory {institution: $i, student_id: $s})-[r:$($t)]->(b:Memory)
           RETURN a.id AS a, b.id AS b, r.reliability AS reliability"""


async def three(gm: Graphmem, pupil: Pupil) -> tuple[Memory, Memory, Memory]:
    """Three memories, with no relationship between them."""
    found = await lived(gm, pupil, (BAKERY, SAILS, RAVENS))
    await changed(gm, pupil.who, "MATCH (:Memory {institution: $i, student_id: $s})-[r]-(:Memory) DELETE r")
    return found[BAKERY], found[SAILS], found[RAVENS]


async def reliabilities(gm: Graphmem, pupil: Pupil, type_: str) -> dict[tuple[str, str], str]:
    rows = await asked(gm, pupil.who, f"CYPHER 25 {EDGES}", t=type_)
    return {(row["a"], row["b"]): row["reliability"] for row in rows}


async def opposed(gm: Graphmem, pupil: Pupil, **settings: str) -> tuple[Memory, Memory, tuple[Uncertainty, ...]]:
    """Two memories, each the cause of the other, and what a cycle finds."""
    one, other, _ = await three(gm, pupil)
    await linked(gm, pupil, one.id, other.id, "CAUSES", 0.9)
    await linked(gm, pupil, other.id, one.id, "CAUSES", 0.6)
    setting = another_replica(gm, settings=gm.settings.model_copy(update=settings))
    return one, other, await reconcile(setting, pupil.session, by_hand=True)


async def test_a_relationship_is_as_reliable_as_its_ends(gm: Graphmem, ann: Pupil) -> None:
    one, other, third = await three(gm, ann)
    await linked(gm, ann, one.id, third.id, "ENABLES", 0.8)
    await linked(gm, ann, one.id, third.id, "TEMPORAL_EVOLUTION", 0.8)
    record = await doubted(gm, ann.session, one, other)
    assert await reliabilities(gm, ann, "ENABLES") == {(one.id, third.id): "contradicted"}
    assert await reliabilities(gm, ann, "TEMPORAL_EVOLUTION") == {(one.id, third.id): "reliable"}
    table = (await open_memories(gm, ann.session)).edges
    reached = table.reached([one.id], [one.id], lambda _: True, REACH)
    assert {each.id: each.weight for each in reached}[third.id] == pytest.approx(0.8)
    await resolve_uncertainty(gm, ann.session, record.id, Settling(Resolution.MANUAL, other.id))
    assert await reliabilities(gm, ann, "ENABLES") == {(one.id, third.id): "superseded"}
    (edge,) = [e for e in (await memories.list_edges(gm.graph, ann.who, [third.id]))[third.id] if e.type == "ENABLES"]
    assert edge.reliability is Reliability.SUPERSEDED
    await undo_resolution(gm, ann.session, record.id)
    assert await reliabilities(gm, ann, "ENABLES") == {(one.id, third.id): "contradicted"}


async def test_the_newer_of_two_opposed_relationships_holds(gm: Graphmem, ann: Pupil) -> None:
    one, other, (record,) = await opposed(gm, ann)
    assert (record.detection_context, record.severity) == (DetectionContext.DRIFT, Severity.HIGH)
    assert (record.state, record.resolution) == (UncertaintyState.RESOLVED, Resolution.NEWER_WINS)
    assert record.a_edge is not None
    assert (record.a_id, record.a_edge.type, record.a_edge.to_id) == (one.id, "CAUSES", other.id)
    causes = {(one.id, other.id): "superseded", (other.id, one.id): "reliable"}
    assert await reliabilities(gm, ann, "CAUSES") == causes
    assert await list_uncertainties(another_replica(gm), ann.who, ann.session) == [record]
    assert await reconcile(another_replica(gm), ann.session, by_hand=True) == ()
    concerns = (
        "MATCH (:Uncertainty {institution: $i, student_id: $s})-[c:CONCERNS]->(m) RETURN c.side AS side, c.type AS t"
    )
    assert {(row["side"], row["t"]) for row in await asked(gm, ann.who, concerns)} == {("a", "CAUSES"), ("b", "CAUSES")}
    # The memories themselves are not in doubt.
    assert (await check_action(gm, ann.session, [one.id], "Praise Ada.", 0.8)).proceed
    assert (await undo_resolution(gm, ann.session, record.id)).state is UncertaintyState.OPEN
    assert set((await reliabilities(gm, ann, "CAUSES")).values()) == {"reliable"}


async def test_the_stronger_one_holds_where_that_is_set(gm: Graphmem, ann: Pupil) -> None:
    one, other, (record,) = await opposed(gm, ann, conflicts="stronger_wins")
    assert record.resolution is Resolution.STRONGER_WINS
    assert (await reliabilities(gm, ann, "CAUSES"))[other.id, one.id] == "superseded"


async def test_a_person_may_decide(gm: Graphmem, ann: Pupil, enrol: Enrol, app_client: Client) -> None:
    one, other, (record,) = await opposed(gm, ann, conflicts="manual")
    bob = await enrol("bob")
    assert (record.state, await list_uncertainties(gm, bob.who, bob.session)) == (UncertaintyState.OPEN, [])
    with pytest.raises(InvalidInput, match="winnerId"):
        await resolve_uncertainty(gm, ann.session, record.id, Settling(Resolution.MANUAL))
    with pytest.raises(InvalidInput, match="choose"):
        await resolve_uncertainty(gm, ann.session, record.id, Settling(Resolution.EVIDENCE_RESOLVED))
    for winner in (one.id, "a"):
        done = await resolve_uncertainty(gm, ann.session, record.id, Settling(Resolution.MANUAL, winner))
        assert done.state is UncertaintyState.RESOLVED
    assert (await reliabilities(gm, ann, "CAUSES"))[other.id, one.id] == "superseded"
    client = await app_client.opened("ann", ann.password)
    query = '{ student(id: "ann") { uncertainties { a { id } aRelationship { type toId } bRelationship { toId } } } }'
    told = {
        "a": {"id": one.id},
        "aRelationship": {"type": "CAUSES", "toId": other.id},
        "bRelationship": {"toId": one.id},
    }
    assert (await client.call(query))["uncertainties"] == [told]


async def test_what_lies_around_is_strengthened_and_weakened(gm: Graphmem, ann: Pupil) -> None:
    texts = (BAKERY, SAILS, RAVENS, "My cousin Iris bakes at dawn.")
    found = await lived(gm, ann, texts)
    one, other, third, weaker = (found[text] for text in texts)
    await changed(gm, ann.who, "MATCH (:Memory {institution: $i, student_id: $s})-[r]-(:Memory) DELETE r")
    for from_id, to_id in ((third.id, other.id), (weaker.id, one.id)):
        await linked(gm, ann, from_id, to_id, "SUPPORTS", 1.0)
    record = await doubted(gm, ann.session, one, other)
    await resolve_uncertainty(gm, ann.session, record.id, Settling(Resolution.USER_CLARIFIED, other.id))

    async def now(memory: Memory) -> Memory:
        return (await find_memory(another_replica(gm), ann.who, memory.id, ann.session)) or memory

    assert (await now(third)).strength > third.strength
    assert (await now(weaker)).confidence == pytest.approx(0.8 * weaker.confidence)
    await undo_resolution(gm, ann.session, record.id)
    assert (await now(third), await now(weaker)) == (third, weaker)


async def test_what_was_so_is_put_into_the_past_and_back(gm: Graphmem, ann: Pupil) -> None:
    one, other, _ = await three(gm, ann)
    record = await doubted(gm, ann.session, one, other)
    before = gm.clock()
    await resolve_uncertainty(gm, ann.session, record.id, Settling(Resolution.NEWER_WINS))
    past = await find_memory(another_replica(gm), ann.who, one.id, ann.session)
    assert past is not None
    assert (past.content, past.invalid_at is None) == (one.content, False)
    held = (await open_memories(gm, ann.session)).index.get(one.id)
    assert held is not None
    assert held.content == past.content
    wanted = Filter(as_of=one.timestamp)
    then = await list_memories(gm, ann.who, wanted, 50, None, ann.session)
    assert one.content in {memory.content for memory in then.items}
    assert before >= one.timestamp
    await undo_resolution(gm, ann.session, record.id)
    back = await find_memory(another_replica(gm), ann.who, one.id, ann.session)
    assert back is not None
    assert (back.content, back.quote, back.invalid_at) == (one.content, one.quote, None)
