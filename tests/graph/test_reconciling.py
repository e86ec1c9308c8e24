"""Drift cycles on the real database: noticed late, left in doubt, undone, nobody else's (spec 12)."""

from dataclasses import replace
from datetime import timedelta

import pytest

from graphmem.app import Graphmem
from graphmem.flows.uncertainty import list_uncertainties, reconcile
from graphmem.jobs.sessions import close_session
from graphmem.model import DetectionContext, Effect, Memory, Reliability
from graphmem.text.revision import PairVerdict
from tests.conftest import Enrol, Pupil, another_replica
from tests.support.client import Client
from tests.support.doubting import COMPATIBLE, Judging, judged_by
from tests.support.remembering import again_open, held, told

CLASH = ("I have never been on a plane in my life.", "I flew to Oslo by plane when I was six.")
OTHERS = ("My aunt Zelda tames ravens.", "I play the violin in the school orchestra.")


async def told_unnoticed(gm: Graphmem, pupil: Pupil, *texts: str) -> None:
    """Turns and their memories, while everything is found to be compatible: only a cycle may notice."""

    with judged_by(Judging(COMPATIBLE)):
        await told(gm, pupil, *texts)
    assert await list_uncertainties(another_replica(gm), pupil.who, pupil.session) == []
    assert {m.reliability for m in await held(another_replica(gm), pupil.session)} == {Reliability.RELIABLE}


async def sides(gm: Graphmem, pupil: Pupil) -> tuple[Memory, Memory]:
    found = {memory.quote or memory.content: memory for memory in await held(another_replica(gm), pupil.session)}
    older, newer = (next(m for text, m in found.items() if text and words in text) for words in ("never", "Oslo"))
    return older, newer


async def test_a_cycle_notices_what_cannot_both_be_so(gm: Graphmem, ann: Pupil) -> None:
    await told_unnoticed(gm, ann, *OTHERS, *CLASH)
    assert await list_uncertainties(gm, ann.who, ann.session) == []
    (record,) = await reconcile(gm, ann.session, by_hand=True)
    older, newer = await sides(gm, ann)
    assert {record.a_id, record.b_id} == {older.id, newer.id}
    assert record.detection_context is DetectionContext.DRIFT
    assert {older.reliability, newer.reliability} == {Reliability.CONTRADICTED}
    assert await list_uncertainties(another_replica(gm), ann.who, ann.session) == [record]
    # What is in doubt is not doubted twice.
    assert await reconcile(another_replica(gm), ann.session, by_hand=True) == ()


@pytest.mark.parametrize("again", ["I have a dog called Bello.", "I've got a dog called Bello."])
async def test_what_was_wrongly_retired_holds_when_it_is_said_again(gm: Graphmem, ann: Pupil, again: str) -> None:
    async def dogs() -> list[Reliability]:
        found = await held(another_replica(gm), ann.session)
        return [m.reliability for m in found if "Bello" in m.words]

    # Both networks take a second dog for the end of the first.
    ends = Judging(PairVerdict(Effect.ENDS, 0.9))
    await told_unnoticed(gm, ann, "I have a dog called Bello.", "I have a dog called Rex.")
    with judged_by(ends):
        await reconcile(gm, ann.session, by_hand=True)
    assert await dogs() == [Reliability.SUPERSEDED]
    await told(gm, ann, again)
    assert await dogs() == [Reliability.RELIABLE]
    with judged_by(ends):
        await reconcile(gm, ann.session, by_hand=True)
    assert await dogs() == [Reliability.RELIABLE]


async def test_a_cycle_sees_what_another_process_wrote(gm: Graphmem, ann: Pupil) -> None:
    other = another_replica(gm)
    await told_unnoticed(gm, ann, OTHERS[0], CLASH[0])
    assert await reconcile(other, ann.session, by_hand=True) == ()
    await told_unnoticed(gm, ann, CLASH[1])
    assert len(await reconcile(other, ann.session, by_hand=True)) == 1


async def test_cycles_of_themselves_are_half_an_hour_apart(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, OTHERS[0])
    assert await reconcile(gm, ann.session) == ()
    await told_unnoticed(gm, ann, *CLASH)
    assert await reconcile(another_replica(gm), ann.session) == ()
    now = gm.clock()
    later = replace(gm, clock=lambda: now + timedelta(minutes=31))
    assert len(await reconcile(later, ann.session)) == 1


async def test_one_runs_at_the_end_of_a_session(gm: Graphmem, ann: Pupil) -> None:
    await told_unnoticed(gm, ann, *CLASH)
    await close_session(gm, ann.session, wait=True)
    again = await again_open(gm, ann)
    (record,) = await list_uncertainties(gm, again.who, again.session)
    assert record.detection_context is DetectionContext.DRIFT


async def test_over_the_api_and_for_one_student_only(
    gm: Graphmem, enrol: Enrol, ann: Pupil, app_client: Client
) -> None:
    bob = await enrol("bob")
    await told_unnoticed(gm, ann, *CLASH)
    await told_unnoticed(gm, bob, *CLASH)
    client = await app_client.opened("ann", ann.password)
    (found,) = await client.call('mutation { reconcile(studentId: "ann") { id state a { content } b { content } } }')
    assert found["state"] == "OPEN"
    assert await list_uncertainties(gm, bob.who, bob.session) == []
    assert {m.reliability for m in await held(another_replica(gm), bob.session)} == {Reliability.RELIABLE}
