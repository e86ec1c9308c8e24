"""Compression on the real database: what goes, what stays, what is found afterwards, and nobody else's (spec 13)."""

import json
import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput, Locked, Unavailable
from graphmem.flows.compression import compress, list_compressions
from graphmem.flows.context import recall
from graphmem.flows.observation import observe
from graphmem.flows.session_cache import open_memories
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import CompressionTrigger, Memory, MemoryRole, SourceKind
from graphmem.store import queries
from graphmem.store.graph import Transaction
from graphmem.text.summary import DIGEST_CHARACTERS
from tests.conftest import Enrol, Pupil, another_replica, say
from tests.support.client import Client
from tests.support.doubting import doubted
from tests.support.language import with_model
from tests.support.llm_server import Act, Seen, llm_server
from tests.support.remembering import again_open, asked, held, lived, observations

TOLD = tuple(
    f"{text} {name}."
    for name in ("Ottilie", "Ferdinand", "Zelda", "Emil")
    for text in (
        "On Monday I baked a lemon cake with my cousin",
        "The lemon cake that I baked was eaten by my cousin",
        "I photographed nine herons by the lake with my cousin",
        "The herons by the lake flew away from my cousin",
        "I repaired a green bicycle in the garage with my cousin",
        "The green bicycle in the garage belongs to my cousin",
    )
)


def later(gm: Graphmem, days: float = 60) -> Graphmem:
    """The same process some time later; sessions that are open then are those of now."""
    now = gm.clock()
    return another_replica(gm, clock=lambda: now + timedelta(days=days))


async def remembers(gm: Graphmem, pupil: Pupil) -> dict[str, Memory]:
    await lived(gm, pupil, TOLD)
    return {memory.id: memory for memory in await held(gm, pupil.session)}


async def faded(gm: Graphmem, pupil: Pupil) -> None:
    query = """MATCH (m:Memory {institution: $i, student_id: $s})
               SET m.last_accessed = m.last_accessed - duration({days: 90})
               WITH count(*) AS n
               MATCH (s:Student {institution: $i, id: $s}) SET s.memories_removed = s.memory_version"""
    await gm.graph.execute(query, {"i": pupil.who.institution, "s": pupil.who.student_id}, reads=False)
    gm.lock_up(pupil.who)


async def everything(gm: Graphmem, pupil: Pupil) -> list[dict[str, Any]]:
    return await asked(
        gm,
        pupil.who,
        """MATCH (n {institution: $i, student_id: $s}) OPTIONAL MATCH (n)-[r]->(m)
           WITH n, r, m ORDER BY elementId(n), elementId(r)
           RETURN properties(n) AS n, type(r) AS r, properties(r) AS p, m.id AS m""",
    )


async def test_fewer_memories_hold_the_same_sources_words_and_links(gm: Graphmem, ann: Pupil) -> None:
    before = await remembers(gm, ann)
    await faded(gm, ann)
    refs = {ref for memory in before.values() for ref in memory.source_refs}
    preview = await compress(gm, ann.session, to=10, preview=True)
    assert (preview.id, preview.at, preview.integrity_hash) == (None, None, None)
    assert len(await held(gm, ann.session)) == len(before)
    done = await compress(gm, ann.session, to=10)
    assert done.id is not None
    assert (done.nodes_before, done.pruned, done.merged) == (len(before), preview.pruned, preview.merged)
    after = await held(another_replica(gm), ann.session)
    assert len(after) == done.nodes_after == 10
    assert {ref for memory in after for ref in memory.source_refs} == refs
    summaries = [memory for memory in after if memory.role is MemoryRole.SUMMARY]
    assert sum(memory.merged_count for memory in summaries) == done.merged
    for each in summaries:
        assert each.quote
        assert len(each.content or "") <= DIGEST_CHARACTERS
    for process in (gm, another_replica(gm)):
        found = await recall(process, ann.session, "Who was with me at the herons by the lake?", 5, None)
        assert any("herons" in r.memory.words for r in found)
    told = await list_compressions(gm, ann.who, 5)
    assert told == [done]
    assert await compress(gm, ann.session, to=10) == done.__class__(
        trigger=CompressionTrigger.MANUAL, nodes_before=10, nodes_after=10, edges_before=done.edges_after,
        edges_after=done.edges_after, pruned=0, merged=0, cycles=0,
        loss=(await compress(gm, ann.session, to=10, preview=True)).loss,
    )  # fmt: skip


async def test_the_graph_tells_what_the_record_says(gm: Graphmem, ann: Pupil) -> None:
    await remembers(gm, ann)
    await faded(gm, ann)
    done = await compress(gm, ann.session, to=8)
    query = """MATCH (m:Memory {institution: $i, student_id: $s}) WITH count(m) AS n
               OPTIONAL MATCH (a:Memory {institution: $i, student_id: $s})-[r]->(:Memory) RETURN n, count(r) AS edges"""
    (row,) = await asked(gm, ann.who, query)
    assert (row["n"], row["edges"]) == (done.nodes_after, done.edges_after)
    query = """MATCH (m:Memory {institution: $i, student_id: $s}) WHERE NOT (m)-[:FORMED_FROM]->(:Source) RETURN m.id"""
    assert await asked(gm, ann.who, query) == []
    (node,) = await asked(gm, ann.who, "MATCH (c:Compression {institution: $i, student_id: $s}) RETURN c.trigger AS t")
    assert node["t"] == "manual"


async def test_what_must_stay_stays_through_ten_compressions(gm: Graphmem, ann: Pupil) -> None:
    by_id = await remembers(gm, ann)
    await say(gm, ann, "I promise I will bring the lemon cake to Ottilie tomorrow.")
    first, second, third, *_ = by_id.values()
    await doubted(gm, ann.session, first, second)
    await gm.graph.execute(
        "MATCH (m:Memory {institution: $i, student_id: $s, id: $id}) SET m.flashbulb = true",
        {"i": ann.who.institution, "s": ann.who.student_id, "id": third.id},
        reads=False,
    )
    await faded(gm, ann)
    for _ in range(10):
        await compress(gm, ann.session, to=3)
    after = {memory.id for memory in await held(another_replica(gm), ann.session)}
    assert {first.id, second.id, third.id} <= after
    assert len(after) < len(by_id)


async def test_a_crash_leaves_all_as_it_was(gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch) -> None:
    await remembers(gm, ann)
    await faded(gm, ann)
    before = await everything(gm, ann)
    send, known = Transaction._sent, queries.load()
    for dies_at in ("create:Memory", "take_over", "delete", "link_new:Student-Compression"):
        body = known[f"changes/{dies_at}"].text.partition("\n")[2]

        async def dying(self: Transaction, text: str, params: dict[str, Any], last: str = body) -> Any:
            done = await send(self, text, params)
            if last in text:
                raise Unavailable("The process dies here.")
            return done

        with monkeypatch.context() as patch:
            patch.setattr(Transaction, "_sent", dying)
            with pytest.raises(Unavailable):
                await compress(gm, ann.session, to=8)
        assert await everything(gm, ann) == before
    assert (await compress(gm, ann.session, to=8)).id is not None


async def test_above_the_limit_it_happens_by_itself(gm: Graphmem, ann: Pupil) -> None:
    small = another_replica(gm, settings=gm.settings.model_copy(update={"memories_limit": 11}))
    await remembers(gm, ann)
    await faded(gm, ann)
    await open_memories(small, ann.session)
    await lived(small, ann, (*TOLD, "My uncle Konrad collects stamps from Iceland."))
    (done,) = await list_compressions(gm, ann.who, 5)
    assert done.trigger is CompressionTrigger.NODE_LIMIT
    assert done.nodes_after <= 11


async def test_at_the_end_of_a_session(gm: Graphmem, ann: Pupil) -> None:
    await remembers(gm, ann)
    await faded(gm, ann)
    small = another_replica(gm, settings=gm.settings.model_copy(update={"memories_limit": 11}))
    await close_session(small, ann.session, wait=True)
    (done,) = await list_compressions(gm, ann.who, 5)
    assert done.trigger is CompressionTrigger.SESSION_END
    again = await again_open(gm, ann)
    assert len(await held(gm, again.session)) == done.nodes_after


async def test_one_students_compression_touches_nobody_else(gm: Graphmem, enrol: Enrol) -> None:
    ann, bob = await enrol("ann"), await enrol("bob")
    for pupil in (ann, bob):
        await remembers(gm, pupil)
        await faded(gm, pupil)
    before = await everything(gm, bob)
    await compress(gm, ann.session, to=8)
    assert await everything(gm, bob) == before
    assert await list_compressions(gm, bob.who, 5) == []


async def test_bad_input_and_a_session_that_has_ended(gm: Graphmem, ann: Pupil) -> None:
    with pytest.raises(InvalidInput):
        await compress(gm, ann.session, to=0)
    await close_session(gm, ann.session, wait=True)
    with pytest.raises(Locked):
        await compress(gm, ann.session)


async def test_over_graphql(gm: Graphmem, ann: Pupil, app_client: Client) -> None:
    await remembers(gm, ann)
    await faded(gm, ann)
    fields = "id trigger nodesBefore nodesAfter pruned merged cycles loss { modality nodes entropy gravity edgeWeight }"
    mutation = f'mutation($p: Boolean) {{ compress(studentId: "ann", preview: $p, to: 10) {{ {fields} }} }}'
    assert (await app_client.call(mutation, p=True))["id"] is None
    done = await app_client.call(mutation, p=False)
    assert done["nodesAfter"] == 10
    listed = await app_client.call(f'{{ student(id: "ann") {{ compressions {{ {fields} }} }} }}')
    assert listed["compressions"] == [done]


async def test_notes_of_a_teacher_are_not_mixed_with_the_students_words(gm: Graphmem, ann: Pupil) -> None:
    await observe(gm, ann.who, observations(TOLD[:12], kind=SourceKind.TEACHER))
    await run_jobs(gm, ann.session)
    await lived(gm, ann, TOLD[12:])
    await faded(gm, ann)
    await compress(gm, ann.session, to=6)
    for memory in await held(another_replica(gm), ann.session):
        if memory.role is MemoryRole.SUMMARY:
            assert memory.source_kind in (SourceKind.CHAT, SourceKind.TEACHER)


def first_of_each_group(seen: Seen) -> str | None:
    """A model that says the first statement of each group."""
    groups = unescape(seen.question).split("<group>")[1:]
    told = [re.findall(r"^1 \(\d{4}-\d\d-\d\d\) (.*)$", group, re.MULTILINE)[0] for group in groups]
    return json.dumps({"summaries": [{"summary": text, "says": [1]} for text in told]}) if groups else None


async def test_a_language_model_writes_the_summaries_and_is_counted(gm: Graphmem, ann: Pupil) -> None:
    before = await remembers(gm, ann)
    await faded(gm, ann)
    statements = {memory.content for memory in before.values()}
    with llm_server(answer=first_of_each_group) as server:
        async with with_model(gm, server) as talking:
            done = await compress(talking, ann.session, to=10)
    assert done.merged
    summaries = [m for m in await held(another_replica(gm), ann.session) if m.role is MemoryRole.SUMMARY]
    assert {each.content for each in summaries} <= statements
    (usage,) = await asked(
        gm, ann.who, "MATCH (u:Usage {institution: $i, student_id: $s, kind: 'compress'}) RETURN u.calls AS calls"
    )
    assert usage["calls"] == len([seen for seen in server.seen if "<group>" in seen.question])


async def test_where_the_model_is_away_rules_summarise(gm: Graphmem, ann: Pupil) -> None:
    await remembers(gm, ann)
    await faded(gm, ann)
    for degrade in ("offline", "refuse"):
        left = len(await held(gm, ann.session))
        with llm_server(then=Act(status=500)) as server:
            async with with_model(gm, server, degrade=degrade) as talking:
                assert (await compress(talking, ann.session, to=left - 2)).merged
