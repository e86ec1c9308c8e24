"""Things that a compression carries over: what is protected, spans, times, concepts, entities, the fog."""

import asyncio
import subprocess
import sys
from datetime import timedelta
from time import perf_counter
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.bench.harness import PASSWORD, Learner, environment, learner
from graphmem.bench.turn import import_memories, made_memories, scale_sentences
from graphmem.flows.compression import compress, list_compressions
from graphmem.flows.context import context, recall
from graphmem.flows.ledger import Draft, add_entry
from graphmem.flows.overlay import reveal
from graphmem.flows.world import import_world
from graphmem.model import Concept, LedgerCategory, MemoryRole
from graphmem.settings import Settings
from tests.conftest import Pupil, another_replica
from tests.graph.test_compression import faded, remembers
from tests.support.doubting import doubted
from tests.support.own_neo4j import Access
from tests.support.remembering import asked, changed, held
from tests.unit.test_world import draft

SPANS = """MATCH (m:Memory {institution: $i, student_id: $s})-[f:FORMED_FROM]->(source:Source)
           WHERE f.start IS NOT NULL AND f.end > f.start
           RETURN source.ref AS ref, f.start AS start, f.end AS end"""


async def test_flashbulbs_the_ledger_and_open_doubts_are_all_there_after_ten_compressions(
    gm: Graphmem, ann: Pupil
) -> None:
    first, second, third, fourth, *_ = (await remembers(gm, ann)).values()
    await doubted(gm, ann.session, first, second)
    await changed(
        gm, ann.who, "MATCH (m:Memory {institution: $i, student_id: $s, id: $id}) SET m.flashbulb = true", id=third.id
    )
    entry = await add_entry(gm, ann.session, Draft(LedgerCategory.PROMISE, "I bring the lemon cake."))
    link = """MATCH (e:LedgerEntry {institution: $i, student_id: $s, id: $e})
              MATCH (m:Memory {institution: $i, student_id: $s, id: $id})
              MERGE (e)-[:CONCERNS]->(m) SET m.in_ledger = true"""
    await changed(gm, ann.who, link, e=entry.id, id=fourth.id)
    await faded(gm, ann)
    for _ in range(10):
        await compress(gm, ann.session, to=1)
    after = {memory.id: memory for memory in await held(another_replica(gm), ann.session)}
    assert {each.id for each in (first, second, third, fourth)} <= after.keys()
    assert all(after[each.id].content == each.content for each in (first, second, third, fourth))
    (row,) = await asked(
        gm,
        ann.who,
        """MATCH (u:Uncertainty {institution: $i, student_id: $s, state: 'open'})-[:CONCERNS]->(m:Memory)
           WITH count(m) AS sides
           MATCH (e:LedgerEntry {institution: $i, student_id: $s})-[:CONCERNS]->(m:Memory {id: $id})
           RETURN sides, count(e) AS entries""",
        id=fourth.id,
    )
    assert (row["sides"], row["entries"]) == (2, 1)


async def test_spans_times_concepts_and_entities_pass_to_summaries(gm: Graphmem, ann: Pupil) -> None:
    before = await remembers(gm, ann)
    await import_world(gm, ann.who.institution, draft(Concept("cake", "baking"), Concept("bird", "ornithology")))
    about = """MATCH (m:Memory {institution: $i, student_id: $s}), (c:Concept {institution: $i})
               WHERE (m)-[:FORMED_FROM]->(:Source {kind: 'chat'}) OR true
               MERGE (m)-[r:ABOUT]->(c) SET r.weight = 0.8
               MERGE (e:Entity {institution: $i, student_id: $s, id: 'entity-' + m.id})
               MERGE (m)-[:INVOLVES]->(e)"""
    await changed(gm, ann.who, about)
    spans = {tuple(row.values()) for row in await asked(gm, ann.who, SPANS)}
    await faded(gm, ann)
    done = await compress(gm, ann.session, to=6)
    assert done.merged
    assert {tuple(row.values()) for row in await asked(gm, ann.who, SPANS)} == spans
    summaries = [m for m in await held(another_replica(gm), ann.session) if m.role is MemoryRole.SUMMARY]
    for each in summaries:
        members = [m for m in before.values() if set(m.source_refs) <= set(each.source_refs)]
        assert min(m.valid_at for m in members if m.valid_at) == each.valid_at
        assert max(m.timestamp for m in members) >= each.timestamp
    query = """MATCH (m:Memory {institution: $i, student_id: $s})
               RETURN m.id AS id, COUNT { (m)-[:ABOUT]->(:Concept) } AS concepts,
                      COUNT { (m)-[:INVOLVES]->(e:Entity) WHERE e.id STARTS WITH 'entity-memory' } AS entities"""
    rows = await asked(gm, ann.who, query)
    assert all(row["concepts"] == 2 for row in rows)
    assert sum(row["entities"] for row in rows) == len(before)


async def test_a_summary_that_names_a_hidden_concept_stays_in_the_fog(gm: Graphmem, ann: Pupil) -> None:
    await remembers(gm, ann)
    await faded(gm, ann)
    await compress(gm, ann.session, to=6)
    await import_world(gm, ann.who.institution, draft(Concept("heron", "heron", ("herons",))))
    for process in (gm, another_replica(gm)):
        for question in ("Who was with me at the lake?", "lemon cake", "What did I photograph?"):
            found = await recall(process, ann.session, question)
            assert not any("heron" in f"{each.memory.words}".casefold() for each in found)
            assert "heron" not in (await context(process, ann.session, question)).prompt.casefold()
    await reveal(gm, ann.session, ["heron"])
    found = await recall(gm, ann.session, "What did I photograph by the lake?")
    assert any("herons" in each.memory.words for each in found)


async def test_ten_compressions_leave_ten_records_at_most_and_losses_that_add_up(gm: Graphmem, ann: Pupil) -> None:
    await remembers(gm, ann)
    await faded(gm, ann)
    for left in (10, 8, 6):
        await compress(gm, ann.session, to=left)
    records = await list_compressions(gm, ann.who, 10)
    assert [each.nodes_after for each in records] == [6, 8, 10]
    for each in records:
        assert sum(loss.nodes for loss in each.loss) == each.nodes_before - each.nodes_after
        assert sum(loss.gravity for loss in each.loss) >= 0


SNAPSHOT = """MATCH (node:Memory|Compression {institution: $i, student_id: $s})
RETURN node.id AS id, node:Compression AS record, node.content_hash AS hash, node.content AS content,
       node.nodes_after AS nodes,
       COLLECT { MATCH (node)-[:FORMED_FROM]->(source:Source) RETURN source.ref ORDER BY source.ref } AS refs,
       COLLECT { MATCH (node)-[e]->(o:Memory) RETURN type(e) + o.id ORDER BY type(e) + o.id } AS edges ORDER BY id"""


def started(settings: Settings, student: Learner) -> "subprocess.Popen[bytes]":
    """The command that compresses a student's memories to 15, as a process of its own."""
    own = ("--institution", student.who.institution, "--password-stdin", "--to", "15")
    process = subprocess.Popen(
        [sys.executable, "-m", "graphmem", "compress", student.who.student_id, *own],
        env=environment(settings, GRAPHMEM_NEO4J_TIMEOUT="120"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    process.stdin.write(f"{PASSWORD}\n".encode())
    process.stdin.close()
    return process


async def left(gm: Graphmem, student: Learner, before: list[dict[str, Any]]) -> str:
    """Whether the graph is as before a compression, as after it, or neither."""
    now = await asked(gm, student.who, SNAPSHOT)
    records = [row for row in now if row["record"]]
    refs = [{ref for row in rows for ref in row["refs"]} for rows in (before, now)]
    after = len(records) == 1 and records[0]["nodes"] == len(now) - 1 == 15 and refs[0] == refs[1]
    return "before" if now == before else "after" if after else "neither"


async def test_killed_compression_leaves_graph_as_before_or_as_after(
    gm: Graphmem, neo4j_access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("uri", "user", "password"):
        monkeypatch.setenv(f"GRAPHMEM_NEO4J_{name.upper()}", getattr(neo4j_access, name))
    settings = gm.settings.model_copy(update={"neo4j_uri": neo4j_access.uri})
    texts, whole = tuple(scale_sentences(None)[:40]), 0.0
    vectors = await gm.embedder.embed(texts)
    for share in (None, 0.6, 0.9):
        student = await learner(gm, f"killed-{share}")
        session = await student.begin()
        made = made_memories(session, texts, vectors, len(texts))
        await import_memories(gm.graph, session, made, gm.clock() - timedelta(days=1))
        before, start = await asked(gm, student.who, SNAPSHOT), perf_counter()
        process = started(settings, student)
        if share is not None:
            await asyncio.sleep(whole * share)
            process.kill()
        await asyncio.to_thread(process.wait)
        whole = whole or perf_counter() - start
        # The server rolls back what a client that is gone had begun.
        await asyncio.sleep(1.0)
        assert await left(gm, student, before) in ("before", "after")
        await asyncio.to_thread(started(settings, student).wait)
        assert await left(gm, student, before) == "after"
