"""Statements that became part of a summary are still found by what says them again, ends or denies them."""

from datetime import timedelta

from graphmem.app import Graphmem
from graphmem.flows.compression import compress
from graphmem.flows.context import recall
from graphmem.flows.observation import observe
from graphmem.flows.session_cache import open_memories
from graphmem.jobs.runner import run_jobs
from graphmem.model import Memory, MemoryRole, Observation, Reliability, SourceKind
from tests.conftest import Pupil, another_replica
from tests.support.remembering import asked, changed, held, lived

LIFE = (
    "My favourite colour is teal.",
    "My hamster Bella sleeps in a shoe box under the stairs.",
    "I play the trumpet in the school orchestra.",
    "Uncle Ferdinand builds tiny submarines out of matchboxes.",
    "I am allergic to peanuts, so I never eat satay.",
    "My best friend Ottilie lives next to the old mill.",
)


async def closely_linked(gm: Graphmem, pupil: Pupil) -> None:
    """Link all memories with each other, and let none have faded, so that they are merged and not pruned."""
    await changed(
        gm,
        pupil.who,
        """MATCH (a:Memory {institution: $i, student_id: $s})
           SET a.last_accessed = datetime(), a.gravity = 1.0
           WITH a MATCH (b:Memory {institution: $i, student_id: $s})
           WHERE a.id < b.id MERGE (a)-[r:SUPPORTS]->(b)
           SET r.weight = 1.0, r.created_at = datetime(), r.reliability = 'reliable'""",
    )
    gm.lock_up(pupil.who)


async def merged(gm: Graphmem, pupil: Pupil) -> Memory:
    """The summary that most of a life became."""
    await lived(gm, pupil, LIFE)
    await closely_linked(gm, pupil)
    await compress(gm, pupil.session, to=1)
    found = await summaries(gm, pupil)
    assert found
    return max(found, key=lambda each: each.merged_count)


async def summaries(gm: Graphmem, pupil: Pupil) -> list[Memory]:
    return [m for m in await held(another_replica(gm), pupil.session) if m.role is MemoryRole.SUMMARY]


async def said(gm: Graphmem, pupil: Pupil, text: str) -> None:
    at = gm.clock() - timedelta(minutes=1)
    await observe(gm, pupil.who, [Observation(SourceKind.CHAT, f"later-{text}", text, at)])
    await run_jobs(gm, pupil.session)


async def stated(gm: Graphmem, pupil: Pupil) -> dict[str, Memory]:
    """Which summary holds each statement, by its words; in a process that reads them anew."""
    found = await open_memories(another_replica(gm), pupil.session)
    everything = found.index.latest(len(found.index))
    return {part.quote or part.content: memory for memory in everything for part in memory.statements}


async def test_statements_come_back_from_the_database_with_their_vectors(gm: Graphmem, ann: Pupil) -> None:
    await merged(gm, ann)
    found = await open_memories(another_replica(gm), ann.session)
    parts = [part for memory in found.index.latest(100) for part in memory.statements]
    assert len(parts) >= 2
    # What was observed is embedded by its own words.
    vectors = await gm.embedder.embed([part.quote or part.content for part in parts])
    for part, vector in zip(parts, vectors, strict=True):
        ((_, nearest, cosine), *_) = found.index.nearest_statements(vector, 1)
        assert nearest == part
        assert cosine > 0.95
        assert found.index.find(part.content_hash) is not None


async def test_what_says_a_statement_again_strengthens_its_summary(gm: Graphmem, ann: Pupil) -> None:
    await merged(gm, ann)
    text, summary = next((t, m) for t, m in (await stated(gm, ann)).items() if "Bella" in t)
    before = len(await held(gm, ann.session))
    await said(gm, ann, text)
    after = {m.id: m for m in await held(another_replica(gm), ann.session)}
    assert len(after) == before
    assert after[summary.id].reinforcement_count == summary.reinforcement_count + 1
    assert after[summary.id].statements == summary.statements


async def test_what_ends_a_statement_takes_it_out_of_its_summary(gm: Graphmem, ann: Pupil) -> None:
    await merged(gm, ann)
    told = await stated(gm, ann)
    text, summary = next((t, m) for t, m in told.items() if "teal" in t)
    await said(gm, ann, "My favourite colour is orange now.")
    for process in (gm, another_replica(gm)):
        found = await open_memories(process, ann.session)
        now = found.index.get(summary.id)
        assert now is not None
        assert "teal" not in now.words
        assert len(now.statements) == len(summary.statements) - 1
        assert now.content
        (ended,) = [m for m in found.index.latest(100) if (m.quote or m.content) == text]
        assert ended.invalid_at is not None
        assert ended.reliability is Reliability.SUPERSEDED
        assert ended.source_refs
        others = [m for m in now.statements if m.vector is not None]
        assert len(others) == len(now.statements)
    query = """MATCH (a:Memory {institution: $i, student_id: $s, id: $id})-[r:TEMPORAL_EVOLUTION]->(b:Memory)
               MATCH (a)-[:FORMED_FROM]->(s:Source) RETURN b.id AS b, count(s) AS sources"""
    (row,) = await asked(gm, ann.who, query, id=ended.id)
    assert row["sources"] == 1
    found_now = await recall(gm, ann.session, "What is my favourite colour?", 3, None)
    assert "orange" in (found_now[0].memory.content or "")
    assert not any("teal" in each.memory.words for each in found_now)


async def test_of_a_summary_of_summaries_the_statements_stay(gm: Graphmem, ann: Pupil) -> None:
    await merged(gm, ann)
    before = await stated(gm, ann)
    await said(gm, ann, "My cousin Zelda paints blue windmills.")
    await closely_linked(gm, ann)
    await compress(gm, ann.session, to=1)
    after = await stated(gm, ann)
    assert before.keys() < after.keys()


async def test_another_embedding_model_gives_statements_vectors_again(gm: Graphmem, ann: Pupil) -> None:
    await merged(gm, ann)
    before = await stated(gm, ann)
    await changed(gm, ann.who, "MATCH (m:Memory {institution: $i, student_id: $s}) REMOVE m.embedding")
    gm.lock_up(ann.who)
    for process in (gm, another_replica(gm)):
        found = await open_memories(process, ann.session)
        parts = [part for memory in found.index.latest(100) for part in memory.statements]
        assert len(parts) == len(before)
        assert all(part.vector is not None for part in parts)
