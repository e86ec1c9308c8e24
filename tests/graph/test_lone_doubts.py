"""Doubts about one memory alone, on the real database: before an action, in a drift cycle, settled (spec 12)."""

from dataclasses import replace
from datetime import timedelta

import pytest

from graphmem.app import Graphmem
from graphmem.flows.uncertainty import check_action, list_uncertainties, reconcile, resolve_uncertainty
from graphmem.flows.uncertainty_plan import Settling, doubted_alone, lone_type
from graphmem.model import (
    DetectionContext,
    Memory,
    MemoryRole,
    Reliability,
    Resolution,
    Severity,
    UncertaintyState,
    UncertaintyType,
)
from graphmem.store.changes import Changes
from tests.conftest import Pupil, another_replica
from tests.support.remembering import held, lived, told

HOME, NAME, LIKES = "I live in Utrecht.", "My name is Ann.", "I love liquorice."
YEARS = timedelta(days=400)


async def only(gm: Graphmem, pupil: Pupil, words: str) -> Memory:
    (found,) = [m for m in await held(another_replica(gm), pupil.session) if words in (m.quote or m.content or "")]
    return found


async def test_an_action_that_rests_on_what_was_said_long_ago_is_advised_against(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, NAME, HOME, LIKES, at=gm.clock() - YEARS)
    ids = [(await only(gm, ann, text)).id for text in (NAME, LIKES, HOME)]
    assert (await check_action(gm, ann.session, ids[:2], "Greet her.", 0.9)).proceed
    for replica in (gm, another_replica(gm)):
        advised = await check_action(replica, ann.session, ids, "Send a parcel.", 0.9)
        assert (advised.proceed, advised.unreliable) == (False, (ids[2],))
        assert advised.question is not None
        assert advised.question.startswith("By the way, is it still so: “")
    (record,) = await list_uncertainties(gm, ann.who, ann.session)
    assert (record.type, record.detection_context) == (UncertaintyType.STALE, DetectionContext.PRE_ACTION)
    assert (record.severity, record.a_id, record.b_id) == (Severity.LOW, ids[2], None)
    assert (await only(gm, ann, HOME)).reliability is Reliability.UNCERTAIN


async def test_what_is_confirmed_can_be_relied_on_again(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, HOME, at=gm.clock() - YEARS)
    home = await only(gm, ann, HOME)
    await check_action(gm, ann.session, [home.id], "Send a parcel.", 0.9)
    (record,) = await list_uncertainties(gm, ann.who, ann.session)
    await resolve_uncertainty(gm, ann.session, record.id, Settling(Resolution.USER_CLARIFIED, home.id))
    again = await only(gm, ann, HOME)
    assert (again.reliability, again.reinforcement_count) == (Reliability.RELIABLE, 1)
    then = record.created_at
    assert await list_uncertainties(gm, ann.who, ann.session, as_of=then - timedelta(seconds=1)) == []
    (held,) = await list_uncertainties(gm, ann.who, ann.session, UncertaintyState.RESOLVED, as_of=gm.clock())
    assert held.resolution is Resolution.USER_CLARIFIED
    assert (await check_action(gm, ann.session, [home.id], "Send a parcel.", 0.9)).proceed


async def test_what_is_over_is_put_into_the_past(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, HOME, at=gm.clock() - YEARS)
    home = await only(gm, ann, HOME)
    await check_action(gm, ann.session, [home.id], "Send a parcel.", 0.9)
    (record,) = await list_uncertainties(gm, ann.who, ann.session)
    await resolve_uncertainty(gm, ann.session, record.id, Settling(Resolution.TEMPORAL_SUPERSEDE))
    over = await only(gm, ann, HOME)
    assert over.reliability is Reliability.SUPERSEDED
    assert over.invalid_at is not None
    assert over.content == HOME


async def test_a_drift_cycle_doubts_what_is_stale_and_the_student_says_it_again(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, NAME, HOME, LIKES, at=gm.clock() - YEARS)
    (record,) = await reconcile(gm, ann.session, by_hand=True)
    home = await only(gm, ann, HOME)
    assert (record.type, record.detection_context) == (UncertaintyType.STALE, DetectionContext.DRIFT)
    assert (record.a_id, home.reliability) == (home.id, Reliability.UNCERTAIN)
    assert await reconcile(another_replica(gm), ann.session, by_hand=True) == ()
    await told(gm, ann, "I live in Utrecht, you know.")
    found = await list_uncertainties(another_replica(gm), ann.who, ann.session)
    (settled,) = [each for each in found if each.is_lone]
    assert (settled.state, settled.resolution) == (UncertaintyState.RESOLVED, Resolution.USER_CLARIFIED)
    assert (await only(gm, ann, HOME)).reliability is Reliability.RELIABLE


async def test_a_move_settles_the_doubt_about_the_old_home(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, HOME, at=gm.clock() - YEARS)
    await reconcile(gm, ann.session, by_hand=True)
    await told(gm, ann, "We moved to Leeds.")
    (settled,) = await list_uncertainties(gm, ann.who, ann.session)
    assert settled.state is UncertaintyState.RESOLVED
    assert (await only(gm, ann, HOME)).reliability is Reliability.SUPERSEDED


async def test_what_does_not_say_what_it_is_about_is_doubted_only_before_an_action(gm: Graphmem, ann: Pupil) -> None:
    said = "I have been practising it every day since March."
    await lived(gm, ann, (said,))
    memory = await only(gm, ann, "practising it")
    assert await reconcile(gm, ann.session, by_hand=True) == ()
    advised = await check_action(gm, ann.session, [memory.id], "Buy one.", 0.9)
    (record,) = await list_uncertainties(gm, ann.who, ann.session)
    assert record.type is UncertaintyType.AMBIGUOUS
    assert "what was that about?" in (advised.question or "")


@pytest.mark.parametrize("days", [1, 40])
async def test_what_was_inferred_and_never_said_is_unverified(gm: Graphmem, ann: Pupil, days: int) -> None:
    memories = await lived(gm, ann, ("My sister Ada works at the bakery.",))
    (memory,) = memories.values()
    belief, now = replace(memory, role=MemoryRole.BELIEF), memory.timestamp + timedelta(days=days)
    wanted = UncertaintyType.UNVERIFIED if days > 30 else None
    assert lone_type(belief, now, acted_on=False) is wanted
    assert lone_type(belief, now, acted_on=True) is UncertaintyType.UNVERIFIED
    assert lone_type(replace(belief, reinforcement_count=1), now, acted_on=True) is None
    many = Changes(1, "drift", doubted_alone([belief] * 5, DetectionContext.DRIFT, now))
    assert len(many.doubts) == (2 if days > 30 else 0)
