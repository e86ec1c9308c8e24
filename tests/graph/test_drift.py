"""The drift cycle as a whole: what it does with and without a key, whose it is, how it runs by itself (spec 16)."""

import asyncio
from datetime import timedelta

import pytest

from graphmem import metrics
from graphmem.app import Graphmem
from graphmem.errors import Unavailable
from graphmem.flows.compression import list_compressions
from graphmem.jobs.drift import drift_cycle, drift_due
from graphmem.jobs.sessions import expire_sessions
from graphmem.jobs.sweeper import sweep
from graphmem.model import CompressionTrigger
from graphmem.store import uncertainties
from tests.conftest import Enrol, Pupil, another_replica
from tests.graph.test_compression import TOLD, faded, later, remembers
from tests.support.remembering import asked, changed, lived, told

FAR = timedelta(days=3)


async def test_with_the_key_it_does_everything(gm: Graphmem, ann: Pupil) -> None:
    small = another_replica(gm, settings=gm.settings.model_copy(update={"memories_limit": 11}))
    await remembers(gm, ann)
    await faded(gm, ann)
    await lived(gm, ann, (*TOLD, "I have never been on a plane in my life.", "I flew to Oslo by plane when I was six."))
    report = await drift_cycle(small, ann.who, ann.session, by_hand=True)
    assert (report.students, report.jobs) == (1, 0)
    assert report.faded >= len(TOLD) // 2
    (compression,) = report.compressions
    assert (compression.trigger, compression.nodes_after) == (CompressionTrigger.MANUAL, 7)
    assert report.settled + report.left_open >= 0
    again = await drift_cycle(small, ann.who, ann.session, by_hand=True)
    assert again.compressions == ()


async def test_what_a_session_that_nobody_closed_left_is_considered(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, "My sister Ada moved to Lisbon with her horse Bella in May.")
    assert (await drift_cycle(gm, ann.who, None)).considered == 0
    await changed(gm, ann.who, "MATCH (o:OpenSession {institution: $i, student_id: $s}) DETACH DELETE o")
    before = metrics.consolidated.labels("considered")._value.get()
    report = await drift_cycle(gm, ann.who, None)
    assert report.considered >= 1
    assert report.kept <= report.considered
    assert metrics.consolidated.labels("considered")._value.get() == before + report.considered
    assert (await drift_cycle(gm, ann.who, None)).considered == 0


async def test_where_it_cannot_consolidate_that_is_counted(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    await told(gm, ann, "My sister Ada moved to Lisbon with her horse Bella in May.")
    await changed(gm, ann.who, "MATCH (o:OpenSession {institution: $i, student_id: $s}) DETACH DELETE o")

    async def broken(*_: object) -> int:
        raise Unavailable

    before = metrics.consolidated.labels("failed")._value.get()
    with monkeypatch.context() as patch:
        patch.setattr("graphmem.flows.consolidation.memories.save_verdicts", broken)
        report = await drift_cycle(gm, ann.who, None)
    assert (report.failed, report.considered) == (1, 0)
    assert metrics.consolidated.labels("failed")._value.get() > before
    assert (await drift_cycle(gm, ann.who, None)).considered >= 1


async def test_a_question_goes_with_the_last_memory_that_raised_it(gm: Graphmem, ann: Pupil) -> None:
    by_words = await lived(gm, ann)
    first, second, *_ = by_words.values()
    raise_it = """MATCH (m:Memory {institution: $i, student_id: $s}) WHERE m.id IN $ids
                  MERGE (q:Question {institution: $i, student_id: $s, id: $q}) SET q.state = 'waiting', q.text = $text
                  MERGE (m)-[:RAISES]->(q)"""
    await changed(gm, ann.who, raise_it, ids=[first.id, second.id], q="question-both", text=b"")
    await changed(gm, ann.who, raise_it, ids=[first.id], q="question-one", text=b"")
    assert (await drift_cycle(gm, ann.who, None)).questions == 0
    ends = "MATCH (m:Memory {institution: $i, student_id: $s, id: $id}) SET m.invalid_at = datetime()"
    await changed(gm, ann.who, ends, id=first.id)
    assert (await drift_cycle(gm, ann.who, None)).questions == 1
    left = await asked(gm, ann.who, "MATCH (q:Question {institution: $i, student_id: $s}) RETURN q.id AS id")
    assert [row["id"] for row in left] == ["question-both"]


async def test_a_cycle_is_due_once_a_day_and_taken_by_one_process(gm: Graphmem, enrol: Enrol) -> None:
    pupils = [await enrol(f"pupil-{i}") for i in range(4)]
    ours = {pupil.who.institution for pupil in pupils}
    now = gm.clock() + FAR
    before = now - timedelta(days=1)
    while await uncertainties.claim_due(gm.graph, before, now, 500):
        pass
    await changed(gm, pupils[0].who, "MATCH (s:Student {institution: $i, id: $s}) SET s.decayed_at = NULL")
    for pupil in pupils[1:]:
        await changed(gm, pupil.who, "MATCH (s:Student {institution: $i, id: $s}) SET s.decayed_at = s.created_at")
    taken = await asyncio.gather(*(uncertainties.claim_due(gm.graph, before, now, 2) for _ in range(6)))
    names = [who.student_id for each in taken for who, _ in each if who.institution in ours]
    assert len(names) == len(set(names))
    rest = await uncertainties.claim_due(gm.graph, before, now, 100)
    names += [who.student_id for who, _ in rest if who.institution in ours]
    assert sorted(names) == sorted(pupil.who.student_id for pupil in pupils)
    left = await uncertainties.claim_due(gm.graph, before, now, 100)
    assert [who for who, _ in left if who.institution in ours] == []


@pytest.mark.usefixtures("nobody_else")
async def test_the_sweeper_runs_cycles_and_compresses_where_a_session_is_open(gm: Graphmem, ann: Pupil) -> None:
    await remembers(gm, ann)
    await faded(gm, ann)
    small = another_replica(gm, settings=gm.settings.model_copy(update={"memories_limit": 11, "drift_hours": 1.0}))
    await changed(
        gm, ann.who, "MATCH (s:Student {institution: $i, id: $s}) SET s.decayed_at = datetime() - duration({hours: 2})"
    )
    await sweep(small)
    (done,) = await list_compressions(gm, ann.who, 5)
    assert done.trigger is CompressionTrigger.NODE_LIMIT
    never = another_replica(gm, settings=gm.settings.model_copy(update={"drift_hours": 0.0}))
    assert (await drift_due(never)).students == 0


@pytest.mark.usefixtures("nobody_else")
async def test_without_a_session_the_sweeper_does_what_needs_no_key(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, "My sister Ada moved to Lisbon with her horse Bella in May.")
    # The students of other tests are due as well: of more than a sweep takes, this one comes first.
    longest = "MATCH (s:Student {institution: $i, id: $s}) SET s.decayed_at = datetime('2000-01-01T00:00:00Z')"
    await changed(gm, ann.who, longest)
    tomorrow = later(gm, days=2)
    await expire_sessions(tomorrow)
    await sweep(tomorrow)
    (row,) = await asked(
        gm,
        ann.who,
        """MATCH (m:Memory {institution: $i, student_id: $s, role: 'said'})
           RETURN all(x IN collect(m) WHERE x.considered AND x.gravity_now IS NOT NULL) AS done""",
    )
    assert row["done"]
