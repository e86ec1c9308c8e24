"""What ends, ends everywhere, on the real Neo4j: ledger, facts, episodes and twins (spec 7, 8, 12)."""

from dataclasses import replace

from graphmem.app import Graphmem
from graphmem.cache import OpenMemories
from graphmem.flows.facts import list_facts
from graphmem.flows.forgetting import forget_memory
from graphmem.flows.ledger import list_entries
from graphmem.flows.session_cache import open_memories, write_planned
from graphmem.flows.uncertainty import correct_memory, list_uncertainties, undo_resolution
from graphmem.model import LedgerCategory, Memory, MemoryKind, MemoryRole, Reliability
from graphmem.store.changes import ChangeRow, Changes, End, New, Origin, Span, renewed
from tests.conftest import Enrol, Pupil, another_replica
from tests.support.remembering import held, told

ALLERGY = "I'm allergic to peanuts."
OTHER = "I have a green bicycle."


async def with_everything(gm: Graphmem, pupil: Pupil) -> Memory:
    """A statement with its ledger entry, and of the same message an episode, a twin and a fact."""
    await told(gm, pupil, OTHER, ALLERGY, reply="How many spoons did Julia buy in total?")
    (said,) = [m for m in await held(gm, pupil.session) if m.in_ledger]
    made = [
        replace(said, id=i, role=role, kind=kind, content=content, quote=None, content_hash=i, in_ledger=False)
        for i, role, kind, content in (
            ("an-episode", MemoryRole.EPISODE, MemoryKind.EPISODE, f"Allergic to peanuts: “{ALLERGY} It is so sad.”"),
            ("a-twin", MemoryRole.SAID, MemoryKind.EPISODE, f"Ann told: {ALLERGY}"),
        )
    ]
    vectors = await gm.embedder.embed([each.content or "" for each in made])
    new = tuple(New(each, vector, Span(0, 9)) for each, vector in zip(made, vectors, strict=True))
    origin = Origin(said.source_kind, said.source_refs[0])
    await write_rows(gm, pupil, *new, origin=origin)
    assert await standing(gm, pupil) == {"said", "an-episode", "a-twin", "entry", "fact", "other"}
    return said


async def write_rows(gm: Graphmem, pupil: Pupil, *rows: ChangeRow, origin: Origin | None = None) -> None:
    """Write changes that belong to no job."""

    async def planned(memories: OpenMemories) -> Changes:
        return Changes(memories.version, "test", rows, origin)

    assert await write_planned(gm, pupil.session, planned) is not None


async def standing(gm: Graphmem, pupil: Pupil) -> set[str]:
    """What holds, as another replica reads it."""
    replica = another_replica(gm)
    index = (await open_memories(replica, pupil.session)).index
    stands = [each for each in index.latest(50) if each.invalid_at is None]
    # Episodes of their own are headed by a date.
    holding = {_name(each) for each in stands if each.role is not MemoryRole.EPISODE or each.id == "an-episode"}
    entries = {"entry" for _ in await list_entries(replica, pupil.session, LedgerCategory.FACT, active=True)}
    return holding | entries | {"fact" for _ in await list_facts(replica, pupil.session, 9)}


def _name(memory: Memory) -> str:
    return memory.id if memory.id.startswith("a") else "other" if "bicycle" in memory.words else "said"


async def test_a_correction_ends_all_that_stems_from_a_memory_and_undoing_it_brings_all_back(
    gm: Graphmem, ann: Pupil
) -> None:
    said = await with_everything(gm, ann)
    before = await standing(gm, ann)
    await correct_memory(gm, ann.session, said.id, "I can eat everything.")
    (record,) = await list_uncertainties(gm, ann.who, ann.session)
    index = (await open_memories(gm, ann.session)).index
    left = {m.id for m in index.latest(50) if m.invalid_at is None} - {said.id}
    assert not left & {"an-episode", "a-twin"}
    assert not await list_facts(gm, ann.session, 9)
    assert not await list_entries(gm, ann.session, active=True)
    await undo_resolution(gm, ann.session, record.id)
    assert before <= await standing(gm, ann)


async def test_what_a_mind_names_as_ended_ends_by_its_id(gm: Graphmem, ann: Pupil) -> None:
    said = await with_everything(gm, ann)
    (entry,) = await list_entries(gm, ann.session, active=True)
    (fact,) = await list_facts(gm, ann.session, 9)
    left = await standing(gm, ann)
    for named, gone in (("nothing", set[str]()), (fact.id, {"fact"}), (entry.id, {"entry"})):
        await write_rows(gm, ann, End(named))
        left -= gone
        assert await standing(gm, ann) == left
    await write_rows(gm, ann, *renewed([said.id], invalid_at=gm.clock(), reliability=Reliability.SUPERSEDED))
    assert await standing(gm, ann) == {"other"}


async def test_a_forgotten_memory_takes_its_twin_and_its_episode_with_it(gm: Graphmem, ann: Pupil) -> None:
    said = await with_everything(gm, ann)
    await forget_memory(gm, ann.session, said.id)
    assert await standing(gm, ann) == {"other"}


async def test_another_student_keeps_what_is_named_alike(gm: Graphmem, ann: Pupil, enrol: Enrol) -> None:
    bob = await enrol("bob")
    said = await with_everything(gm, ann)
    await with_everything(gm, bob)
    await correct_memory(gm, ann.session, said.id, "I can eat everything.")
    assert await standing(gm, bob) == {"said", "an-episode", "a-twin", "entry", "fact", "other"}
