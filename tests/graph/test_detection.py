"""Contradictions noticed in the turn itself, and before a statement is kept, on the real database (spec 3, 12)."""

import threading

import pytest

from graphmem.app import Graphmem
from graphmem.flows import uncertainty_plan
from graphmem.flows.uncertainty import list_uncertainties
from graphmem.jobs.runner import run_jobs
from graphmem.model import DetectionContext, Effect, Reliability, Uncertainty, UncertaintyState
from graphmem.text.revision import Claim, PairVerdict
from tests.conftest import Pupil, another_replica, say
from tests.support.doubting import COMPATIBLE, Judging, judged_by
from tests.support.remembering import asked, held, lived, told

DRIVES, OTHER = "I drive a Honda.", "I drive a Toyota."
OPPOSED = PairVerdict(Effect.CONTRADICTS, 0.9, "One car only.")

PLANES = ("I have never been on a plane in my life.", "I flew to Oslo by plane when I was six.")


async def only(gm: Graphmem, pupil: Pupil) -> Uncertainty:
    (record,) = await list_uncertainties(another_replica(gm), pupil.who, pupil.session)
    return record


async def test_what_contradicts_a_memory_is_raised_in_the_very_reply(gm: Graphmem, ann: Pupil) -> None:
    judge = Judging(OPPOSED)
    await told(gm, ann, DRIVES)
    with judged_by(judge):
        turn = await say(gm, ann, OTHER)
        assert judge.asked == [(DRIVES, OTHER)]
        assert "You told me before: “I drive a Honda”." in turn.reply
        record = await only(gm, ann)
        assert turn.weave == (record.id,)
        assert (record.detection_context, record.state) == (DetectionContext.INGESTION, UncertaintyState.SURFACED)
        assert (record.b_id, record.reasoning, record.surface_context) == (None, "One car only.", OTHER)
        # The same turn again changes nothing; what is formed of the message is the other side.
        assert (await say(gm, ann, OTHER, turn_id=turn.turn_id)).weave == turn.weave
        await run_jobs(gm, ann.session)
    older, newer = await held(another_replica(gm), ann.session)
    whole = await only(gm, ann)
    assert (whole.id, whole.a_id, whole.b_id, whole.surfaced_count) == (record.id, older.id, newer.id, 1)
    assert {older.reliability, newer.reliability} == {Reliability.CONTRADICTED}
    query = (
        """MATCH (a:Memory {institution: $i, student_id: $s})-[:CONTRADICTS]->(b:Memory) RETURN a.id AS a, b.id AS b"""
    )
    assert await asked(gm, ann.who, query) == [{"a": newer.id, "b": older.id}]


@pytest.mark.parametrize("text", ["Do I drive a Toyota?", "My aunt sings in a choir.", "12 - 3 = 9"])
async def test_without_a_candidate_nothing_is_compared(gm: Graphmem, ann: Pupil, text: str) -> None:
    judge = Judging(OPPOSED)
    await told(gm, ann, DRIVES)
    with judged_by(judge):
        assert (await say(gm, ann, text)).weave == ()
    assert judge.asked == []


async def test_a_slow_comparison_is_not_waited_for(gm: Graphmem, ann: Pupil) -> None:
    questions, done = list[Claim](), threading.Event()

    def never(new: Claim, _: Claim) -> PairVerdict:
        questions.append(new)
        done.wait(30)
        return OPPOSED

    await told(gm, ann, DRIVES)
    with judged_by(never, uncertainty_plan):
        turn = await say(gm, ann, OTHER)
        waited = done.is_set()
        done.set()
    assert (len(questions), waited, turn.weave) == (1, False, ())
    assert await list_uncertainties(another_replica(gm), ann.who, ann.session) == []
    # Before the statement is kept it is compared again.
    with judged_by(Judging(OPPOSED)):
        await run_jobs(gm, ann.session)
    assert (await only(gm, ann)).detection_context is DetectionContext.CONSOLIDATION


async def test_nothing_is_doubted_where_a_memory_ends(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, DRIVES)
    await told(gm, ann, "I drive a Toyota now, I sold my Honda.")
    assert await list_uncertainties(another_replica(gm), ann.who, ann.session) == []
    older, newer = await held(another_replica(gm), ann.session)
    assert (older.reliability, newer.reliability) == (Reliability.SUPERSEDED, Reliability.RELIABLE)


@pytest.mark.parametrize("verdict", [PairVerdict(Effect.ENDS, 0.9), COMPATIBLE])
async def test_what_ends_or_is_compatible_is_not_in_doubt(gm: Graphmem, ann: Pupil, verdict: PairVerdict) -> None:
    with judged_by(Judging(verdict)):
        await told(gm, ann, *PLANES)
    older, newer = await held(another_replica(gm), ann.session)
    ended = verdict is not COMPATIBLE
    assert older.reliability is (Reliability.SUPERSEDED if ended else Reliability.RELIABLE)
    assert newer.reliability is Reliability.RELIABLE
    assert await list_uncertainties(gm, ann.who, ann.session) == []


async def test_what_no_word_tells_is_compared_before_it_is_kept(gm: Graphmem, ann: Pupil) -> None:
    # Observed, so that no turn compares them.
    await lived(gm, ann, PLANES)
    assert (await only(gm, ann)).detection_context is DetectionContext.CONSOLIDATION
    assert {memory.reliability for memory in await held(another_replica(gm), ann.session)} == {Reliability.CONTRADICTED}
