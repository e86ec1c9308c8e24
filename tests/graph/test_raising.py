"""Doubts raised in passing on the real database: when, how often, what an answer settles (spec 12)."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest

from graphmem.app import Graphmem
from graphmem.flows import uncertainty_plan
from graphmem.flows.context import context
from graphmem.flows.ledger import Draft, add_entry
from graphmem.flows.memories import find_memory
from graphmem.flows.observation import observe
from graphmem.flows.session_cache import open_memories
from graphmem.flows.uncertainty import list_uncertainties, undo_resolution
from graphmem.jobs.runner import run_jobs
from graphmem.model import (
    LedgerCategory,
    Observation,
    Reliability,
    Resolution,
    Severity,
    SourceKind,
    TurnOutcome,
    Uncertainty,
    UncertaintyState,
)
from tests.conftest import Enrol, Pupil, another_replica, say
from tests.support.client import Client
from tests.support.doubting import COMPATIBLE, Judging, doubted, judged_by
from tests.support.remembering import held, lived, told

LIKES, HATES = "I love liquorice.", "I hate liquorice."
ON_TOPIC = "We were given liquorice at the fair."
BEGUN = datetime(2026, 1, 12, 9, tzinfo=UTC)


class Talk:
    """A talk that goes on, a minute from message to message, its jobs done after each."""

    def __init__(self, gm: Graphmem, pupil: Pupil) -> None:
        self.gm, self.pupil, self.at = gm, pupil, BEGUN

    async def says(self, text: str, **more: str | None) -> TurnOutcome:
        self.at += timedelta(minutes=1)
        outcome = await say(self.gm, self.pupil, text, at=self.at, **more)
        await run_jobs(self.gm, self.pupil.session)
        return outcome

    async def doubt(self) -> Uncertainty:
        (record,) = await list_uncertainties(another_replica(self.gm), self.pupil.who, self.pupil.session)
        return record


@pytest.fixture
async def talk(gm: Graphmem, ann: Pupil) -> Talk:
    """A talk in which two statements deny each other, which is noticed only when they are kept."""
    found = Talk(gm, ann)
    with judged_by(Judging(COMPATIBLE), uncertainty_plan):
        for text in (LIKES, "My sister Ada sails.", HATES):
            await found.says(text)
    return found


async def test_a_doubt_is_raised_in_passing_where_the_talk_touches_it(gm: Graphmem, ann: Pupil, talk: Talk) -> None:
    other = await talk.says("Our cat Mimi sleeps in the sink.")
    assert other.weave == ()
    record = await talk.doubt()
    assert (record.state, record.surfaced_count) == (UncertaintyState.OPEN, 0)
    turn = await talk.says(ON_TOPIC)
    assert turn.weave == (record.id,)
    assert "“I love liquorice”" in turn.reply
    assert "“I hate liquorice”" in turn.reply
    now = await talk.doubt()
    assert (now.state, now.surfaced_count, now.last_surfaced_at) == (UncertaintyState.SURFACED, 1, talk.at)


async def test_the_answer_settles_it(gm: Graphmem, ann: Pupil, talk: Talk) -> None:
    await talk.says(ON_TOPIC)
    await talk.says("Oh, I love it!")
    record = await talk.doubt()
    assert (record.state, record.resolution) == (UncertaintyState.RESOLVED, Resolution.USER_CLARIFIED)
    by_id = {memory.id: memory for memory in await held(another_replica(gm), ann.session)}
    likes, hates = by_id[record.a_id], by_id[record.b_id or ""]
    assert (likes.reliability, likes.invalid_at) == (Reliability.RELIABLE, None)
    assert hates.reliability is Reliability.SUPERSEDED
    back = await undo_resolution(gm, ann.session, record.id)
    assert back.state is UncertaintyState.OPEN
    again = await find_memory(gm, ann.who, record.b_id or "", ann.session)
    assert again is not None
    assert (again.reliability, again.invalid_at) == (Reliability.CONTRADICTED, None)


async def test_saying_one_side_again_settles_it_only_as_an_answer(gm: Graphmem, ann: Pupil, talk: Talk) -> None:
    await talk.says(HATES)
    assert (await talk.doubt()).state is not UncertaintyState.RESOLVED
    while (await talk.doubt()).surfaced_count == 0:
        await talk.says(ON_TOPIC)
    await talk.says(HATES)
    record = await talk.doubt()
    assert record.state is UncertaintyState.RESOLVED
    older = await find_memory(gm, ann.who, record.a_id, ann.session)
    assert older is not None
    assert older.reliability is Reliability.SUPERSEDED


async def test_what_ends_one_side_settles_it_unasked(gm: Graphmem, ann: Pupil, talk: Talk) -> None:
    await talk.says("I don't love liquorice any more.")
    record = await talk.doubt()
    assert record.state is UncertaintyState.RESOLVED
    likes = await find_memory(gm, ann.who, record.a_id, ann.session)
    assert likes is not None
    assert likes.reliability is Reliability.SUPERSEDED


async def test_it_does_not_nag(gm: Graphmem, ann: Pupil, talk: Talk) -> None:
    before, raised = await talk.doubt(), []
    for i in range(20):
        turn = await talk.says(f"A lorry full of liquorice drove down road number {i}.")
        raised += [i] if turn.weave else []
    assert len(raised) == 3
    assert all(b - a > 2 for a, b in pairwise(raised))
    after = await talk.doubt()
    steps = list(Severity)
    assert steps.index(after.severity) == steps.index(before.severity) - 1
    assert after.surfaced_count == 3


async def test_the_companion_grows_more_tolerant_and_less(gm: Graphmem, ann: Pupil, talk: Talk) -> None:
    async def tolerance() -> float:
        return (await open_memories(another_replica(gm), ann.session)).tolerance

    assert await tolerance() == 0.5
    while (await talk.doubt()).surfaced_count < 3:
        await talk.says(ON_TOPIC)
    # What is said again, and a doubt passed over.
    assert await tolerance() == 0.52
    await talk.says("I love it!")
    assert (await talk.doubt()).state is UncertaintyState.RESOLVED
    assert await tolerance() == 0.49


async def test_nothing_is_raised_in_danger(gm: Graphmem, ann: Pupil, talk: Talk) -> None:
    turn = await talk.says("I want to die and I have the pills, with liquorice.")
    assert turn.concern is not None
    assert turn.weave == ()
    assert "“I love liquorice”" not in turn.reply


async def test_what_happened_does_not_interrupt(gm: Graphmem, ann: Pupil) -> None:
    two = ("I photographed herons in Arles yesterday.", "My uncle Ferdinand sails out of the harbour.")
    by_text = await lived(gm, ann, two)
    episode = by_text[two[0]]
    assert episode.kind == "episode"
    await doubted(gm, ann.session, episode, None)
    turn = await say(gm, ann, "The herons of Arles are grey.")
    assert turn.weave == ()


async def test_what_others_noted_is_not_told_as_the_students_word(gm: Graphmem, ann: Pupil) -> None:
    notes = [
        Observation(SourceKind.TEACHER, f"note-{i}", text, BEGUN + timedelta(minutes=i))
        for i, text in enumerate(("I love chess.", "I hate chess."))
    ]
    await observe(gm, ann.who, notes)
    await run_jobs(gm, ann.session)
    sides = await held(gm, ann.session)
    record = await doubted(gm, ann.session, sides[0], sides[-1])
    turn = await say(gm, ann, "We played chess at school.", at=BEGUN + timedelta(hours=1))
    assert turn.weave == ()
    assert "chess”" not in turn.reply
    assert (await context(gm, ann.session, "We played chess.")).weave == ()
    assert [doubt.id for doubt in await list_uncertainties(gm, ann.who, ann.session, topic="chess")] == [record.id]


async def test_what_gives_away_a_secret_is_not_raised(gm: Graphmem, ann: Pupil, talk: Talk) -> None:
    record = await talk.doubt()
    assert [doubt.id for doubt in (await context(gm, ann.session, ON_TOPIC)).weave] == [record.id]
    draft = Draft(LedgerCategory.SECRET, "I hate liquorice")
    await add_entry(gm, ann.session, draft)
    assert (await context(gm, ann.session, ON_TOPIC)).weave == ()
    assert (await talk.says(ON_TOPIC)).weave == ()


async def test_an_app_that_replies_itself_is_told(gm: Graphmem, ann: Pupil, talk: Talk) -> None:
    record = await talk.doubt()
    turn = await talk.says(ON_TOPIC, reply="How kind of them!")
    assert (turn.weave, turn.reply) == ((record.id,), "How kind of them!")


async def test_a_context_shows_both_sides_and_changes_nothing(gm: Graphmem, ann: Pupil, talk: Talk) -> None:
    before = await talk.doubt()
    for _ in range(4):
        found = await context(gm, ann.session, ON_TOPIC)
        assert [doubt.id for doubt in found.weave] == [before.id]
        assert "noted: I love liquorice. / and also: I hate liquorice." in found.prompt
    assert (await context(gm, ann.session, "How do sails work?")).weave == ()
    assert await talk.doubt() == before


async def test_the_api_gives_the_doubts_of_a_turn(gm: Graphmem, ann: Pupil, talk: Talk, app_client: Client) -> None:
    client = await app_client.opened("ann", ann.password)
    turn = await client.call(
        """mutation($t: String!) { handleTurn(studentId: "ann", turnId: "on-topic", text: $t)
           { weave { id state surfacedCount a { content } b { content } } } }""",
        t=ON_TOPIC,
    )
    (woven,) = turn["weave"]
    assert (woven["state"], woven["surfacedCount"]) == ("SURFACED", 1)
    assert "liquorice" in woven["a"]["content"]
    query = 'query($t: String) { student(id: "ann") { uncertainties(topic: $t) { id } } }'
    for topic, count in (("liquorice", 1), ("the violin", 0), (None, 1)):
        assert len((await client.call(query, t=topic))["uncertainties"]) == count


async def test_a_doubt_of_another_student_is_not_touched(gm: Graphmem, enrol: Enrol, ann: Pupil, talk: Talk) -> None:
    bob = await enrol("bob")
    await told(gm, bob, LIKES, "My sister Ada sails.", HATES)
    before = await list_uncertainties(gm, bob.who, bob.session)
    assert [doubt.id for doubt in before] == [(await talk.doubt()).id]
    await talk.says(ON_TOPIC)
    assert (await talk.doubt()).surfaced_count == 1
    assert await list_uncertainties(gm, bob.who, bob.session) == before


async def test_a_story_over_http(gm: Graphmem, ann: Pupil, app_client: Client) -> None:
    """Two cars, one of them sold: woven in once, settled, its edge in the graph, then undone."""
    client = await app_client.opened("ann", ann.password)

    async def turn(text: str) -> Any:
        mutation = """mutation($i: ID!, $t: String!) { handleTurn(studentId: "ann", turnId: $i, text: $t)
                      { reply weave { id } } }"""
        answered = await client.call(mutation, i=uuid4().hex, t=text)
        await run_jobs(gm, ann.session)
        return answered

    async def doubt() -> Any:
        query = """{ student(id: "ann") { uncertainties { id state resolution surfacedCount
                   a { content reliability edges { type fromId toId } } b { id content reliability } } } }"""
        return (await client.call(query))["uncertainties"]

    for text in ("I drive a Honda.", "My aunt Zelda tames ravens."):
        assert (await turn(text))["weave"] == []
    texts = ("I drive a Toyota.", "The Toyota is red.", "It rains.")
    assert [bool((await turn(text))["weave"]) for text in texts] == [True, False, False]
    await turn("I sold the Honda.")
    (record,) = await doubt()
    assert (record["state"], record["resolution"], record["surfacedCount"]) == ("RESOLVED", "USER_CLARIFIED", 1)
    assert (record["a"]["reliability"], record["b"]["reliability"]) == ("SUPERSEDED", "RELIABLE")
    assert "Honda" in record["a"]["content"]
    assert ("TEMPORAL_EVOLUTION", record["b"]["id"]) in {(e["type"], e["toId"]) for e in record["a"]["edges"]}
    undo = 'mutation($id: ID!) { undoResolution(studentId: "ann", id: $id) { state a { reliability } } }'
    back = await client.call(undo, id=record["id"])
    assert (back["state"], back["a"]["reliability"]) == ("OPEN", "CONTRADICTED")
