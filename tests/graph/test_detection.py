"""Contradictions noticed in the turn itself, and before a statement is kept, on the real database (spec 3, 12)."""

import asyncio
from dataclasses import replace

import pytest

from graphmem.app import Graphmem
from graphmem.flows import formation_plan
from graphmem.flows.uncertainty import list_uncertainties
from graphmem.jobs.runner import run_jobs
from graphmem.model import (
    Classify,
    DetectionContext,
    PairClass,
    PairVerdict,
    Reliability,
    Uncertainty,
    UncertaintyState,
)
from tests.conftest import Pupil, another_replica, say
from tests.support.doubting import COMPATIBLE, Judging, Verdicts, judged_by
from tests.support.minds import ScriptedMind
from tests.support.remembering import asked, held, lived, told

DRIVES, OTHER = "I drive a Honda.", "I drive a Toyota."
OPPOSED = PairVerdict(PairClass.TRUE_CONTRADICTION, 0.9, 0.2, 0.9, "One car only.", "car")
CHANGED = PairVerdict(PairClass.TEMPORAL_CHANGE, 0.9, 0.95, 0.9, "Sold.", "car")

PLANES = ("I have never been on a plane in my life.", "I flew to Oslo by plane when I was six.")


async def only(gm: Graphmem, pupil: Pupil) -> Uncertainty:
    (record,) = await list_uncertainties(another_replica(gm), pupil.who, pupil.session)
    return record


async def test_what_contradicts_a_memory_is_raised_in_the_very_reply(gm: Graphmem, ann: Pupil) -> None:
    judge = Judging(OPPOSED)
    judging = judged_by(gm, judge)
    await told(judging, ann, DRIVES)
    turn = await say(judging, ann, OTHER)
    assert judge.asked == [(DRIVES, OTHER)]
    assert "You told me before: “I drive a Honda”." in turn.reply
    record = await only(gm, ann)
    assert turn.weave == (record.id,)
    assert (record.detection_context, record.state) == (DetectionContext.INGESTION, UncertaintyState.SURFACED)
    assert (record.b_id, record.reasoning, record.surface_context) == (None, "One car only.", "car")
    # The same turn again changes nothing; what is formed of the message is the other side.
    assert (await say(judging, ann, OTHER, turn_id=turn.turn_id)).weave == turn.weave
    await run_jobs(judging, ann.session)
    older, newer = await held(another_replica(gm), ann.session)
    whole = await only(gm, ann)
    assert (whole.id, whole.a_id, whole.b_id, whole.surfaced_count) == (record.id, older.id, newer.id, 1)
    assert {older.reliability, newer.reliability} == {Reliability.CONTRADICTED}
    query = (
        """MATCH (a:Memory {institution: $i, student_id: $s})-[:CONTRADICTS]->(b:Memory) RETURN a.id AS a, b.id AS b"""
    )
    assert await asked(gm, ann.who, query) == [{"a": newer.id, "b": older.id}]


@pytest.mark.parametrize("text", ["Do I drive a Toyota?", "My aunt sings in a choir.", "12 - 3 = 9"])
async def test_without_a_candidate_no_mind_is_asked(gm: Graphmem, ann: Pupil, text: str) -> None:
    judge = Judging(OPPOSED)
    judging = judged_by(gm, judge)
    await told(judging, ann, DRIVES)
    assert (await say(judging, ann, text)).weave == ()
    assert judge.asked == []


async def test_a_classifier_that_never_answers_is_not_waited_for(gm: Graphmem, ann: Pupil) -> None:
    questions = 0

    async def never(question: Classify) -> Verdicts:
        nonlocal questions
        questions += 1
        await asyncio.Event().wait()
        raise AssertionError

    judging = judged_by(gm, Judging(OPPOSED))
    await told(judging, ann, DRIVES)
    hanging = replace(judging, mind=ScriptedMind(judging.offline, {Classify: never}, slow=True))
    turn = await asyncio.wait_for(say(hanging, ann, OTHER), 30)
    assert (questions, turn.weave, turn.degraded) == (1, (), False)
    assert await list_uncertainties(another_replica(gm), ann.who, ann.session) == []
    # Before the statement is kept it is asked about again.
    await run_jobs(judging, ann.session)
    assert (await only(gm, ann)).detection_context is DetectionContext.CONSOLIDATION


async def test_nobody_is_asked_where_words_say_that_a_memory_ends(gm: Graphmem, ann: Pupil) -> None:
    judge = Judging(OPPOSED)
    judging = judged_by(gm, judge)
    await told(judging, ann, DRIVES)
    await told(judging, ann, "I drive a Toyota now, I sold my Honda.")
    assert judge.asked == []
    assert await list_uncertainties(another_replica(gm), ann.who, ann.session) == []
    older, newer = await held(another_replica(gm), ann.session)
    assert (older.reliability, newer.reliability) == (Reliability.SUPERSEDED, Reliability.RELIABLE)


@pytest.mark.parametrize("verdict", [CHANGED, COMPATIBLE, replace(CHANGED, ended=0.5), replace(OPPOSED, opposed=0.5)])
async def test_only_what_is_sure_changes_what_is_kept(
    gm: Graphmem, ann: Pupil, verdict: PairVerdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What tells endings by itself does not stand in the way of a verdict here.
    monkeypatch.setattr(formation_plan, "ending_chance", lambda new, old: 0.9)
    judging = judged_by(gm, Judging(verdict))
    await told(judging, ann, *PLANES)
    older, newer = await held(another_replica(gm), ann.session)
    ended = verdict is CHANGED
    assert older.reliability is (Reliability.SUPERSEDED if ended else Reliability.RELIABLE)
    assert newer.reliability is Reliability.RELIABLE
    assert await list_uncertainties(gm, ann.who, ann.session) == []


async def test_what_no_word_tells_is_asked_about_before_it_is_kept(gm: Graphmem, ann: Pupil) -> None:
    judge = Judging(OPPOSED)
    judging = judged_by(gm, judge)
    # Observed, so that no turn compares them.
    await lived(judging, ann, PLANES)
    record = await only(gm, ann)
    assert (record.detection_context, record.reasoning) == (DetectionContext.CONSOLIDATION, "One car only.")
    assert judge.asked[-1] == PLANES
    assert {memory.reliability for memory in await held(another_replica(gm), ann.session)} == {Reliability.CONTRADICTED}
