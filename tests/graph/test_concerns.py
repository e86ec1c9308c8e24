"""What follows a message that tells of danger, on the real database: flag, ledger, surprise, reply, taking it back."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.errors import MindError, NotFound
from graphmem.flows import students
from graphmem.flows.context import context
from graphmem.flows.ledger import (
    Draft,
    add_entry,
    correct_concern,
    delete_entry,
    keep_heard_danger,
    list_entries,
    wellbeing,
)
from graphmem.flows.observation import observe
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import (
    Author,
    Concern,
    ConcernKind,
    Danger,
    LedgerCategory,
    Level,
    Message,
    Observation,
    Prediction,
    Respond,
    Response,
    Source,
    SourceKind,
    TurnOutcome,
    Who,
)
from graphmem.text import safety
from graphmem.text.safety import SafetyPassage, gravest
from tests.conftest import PASSWORD, Enrol, Pupil, another_replica, say
from tests.support.minds import ScriptedMind
from tests.support.remembering import nodes
from tests.support.surprising import quiet

CRY = "I don't want to live anymore."
CALM = "I think 12 plus 30 is 42."
CLEAR = {"institution", "student_id", "id", "kind", "urgency", "about", "at", "probability", "level", "labels"}


def concern_of(outcome: TurnOutcome) -> Concern:
    assert outcome.concern is not None
    return outcome.concern


async def threats(gm: Graphmem, pupil: Pupil) -> list[tuple[str | None, bool]]:
    found = await list_entries(gm, pupil.session, LedgerCategory.THREAT)
    return [(entry.content, entry.is_active) for entry in found]


DOUBTED = "everyone in my class hates me and i dont want to go back"


async def surfacing(gm: Graphmem, pupil: Pupil, text: str) -> list[str | None]:
    found = (await context(gm, pupil.session, text)).ledger
    return [entry.content for entry in found if entry.category is LedgerCategory.THREAT]


async def test_a_concern_that_is_not_sure_is_raised_and_comes_back_only_where_the_talk_touches_it(
    gm: Graphmem, ann: Pupil
) -> None:
    outcome = await say(gm, ann, DOUBTED)
    assert gm.settings.help in outcome.reply
    assert concern_of(outcome).urgency >= 1
    assert await threats(gm, ann) == [(DOUBTED, True)]
    assert len(await nodes(gm, ann.who, "Concern")) == 1
    assert await surfacing(gm, ann, "What is 12 plus 30?") == []
    assert await surfacing(gm, ann, "Do you think that everyone in your class hates you?") == [DOUBTED]


async def test_a_concern_that_is_sure_stands_in_every_context(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, CRY)
    assert await surfacing(gm, ann, "What is 12 plus 30?") == [CRY]


async def test_what_is_told_again_and_surer_matters_more(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, DOUBTED)
    (doubted,) = await list_entries(gm, ann.session, LedgerCategory.THREAT)
    surer = Danger(ConcernKind.OTHER_DANGER, 2)
    source = Source("source-9", SourceKind.TEACHER, "t9", datetime.now(UTC))
    await keep_heard_danger(gm, ann.session, "9", source, DOUBTED, surer)
    (kept,) = await list_entries(gm, ann.session, LedgerCategory.THREAT)
    assert kept.id == doubted.id
    assert doubted.importance < kept.importance
    await keep_heard_danger(gm, ann.session, "10", source, DOUBTED, replace(surer, sure=False))
    assert await list_entries(gm, ann.session, LedgerCategory.THREAT) == [kept]


async def test_danger_raises_a_flag_a_threat_and_the_surprise_in_the_turn_itself(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, CALM)
    outcome = await say(gm, ann, CRY)
    concern = concern_of(outcome)
    assert concern.kind is ConcernKind.SELF_HARM
    assert concern.urgency >= 2
    assert (concern.about, concern.help) == ("self", gm.settings.help)
    assert outcome.level in (Level.COGNITIVE_DISSONANCE, Level.PARADIGM_SHIFT)
    assert await threats(gm, ann) == [(CRY, True)]
    (flag,) = await nodes(gm, ann.who, "Concern")
    assert flag.keys() - {"text"} == CLEAR
    assert isinstance(flag["text"], bytes)
    assert b"live" not in flag["text"]
    await run_jobs(gm, ann.session)
    memories = [m for m in await nodes(gm, ann.who, "Memory") if m["timestamp"].to_native() == concern.at]
    assert memories
    assert all(m["surprise_level"] == outcome.level for m in memories)
    assert max(m["snr"] for m in memories) >= 800
    assert await threats(gm, ann) == [(CRY, True)]


async def test_a_harmless_message_raises_nothing(gm: Graphmem, ann: Pupil) -> None:
    assert (await say(gm, ann, CALM)).concern is None
    assert await nodes(gm, ann.who, "Concern") == []


async def test_the_reply_takes_care_and_holds_the_help_text(gm: Graphmem, ann: Pupil) -> None:
    own = another_replica(gm, settings=gm.settings.model_copy(update={"help": "Ring Ms Lee: 555."}))
    streamed: list[str] = []

    async def on_token(piece: str) -> None:
        streamed.append(piece)

    outcome = await say(own, ann, CRY, on_token=on_token)
    assert "Ring Ms Lee: 555." in outcome.reply
    assert "?" not in outcome.reply
    assert "".join(streamed) == outcome.reply
    assert concern_of(outcome).help == "Ring Ms Lee: 555."


async def test_an_institution_has_help_of_its_own(gm: Graphmem, ann: Pupil) -> None:
    texts = {ann.who.institution: "Go to room 7."}
    own = another_replica(gm, settings=gm.settings.model_copy(update={"help_institutions": texts}))
    assert "Go to room 7." in (await say(own, ann, CRY)).reply


async def test_the_help_is_in_the_language_of_the_message(gm: Graphmem, ann: Pupil) -> None:
    own = another_replica(gm, settings=gm.settings.model_copy(update={"help_languages": {"de": "Geh in Raum 7."}}))
    outcome = await say(own, ann, "Ich will nicht mehr leben, niemand würde mich vermissen")
    assert "Geh in Raum 7." in outcome.reply
    assert "Danke, dass du mir das sagst." in outcome.reply
    assert concern_of(outcome).help == "Geh in Raum 7."
    assert gm.settings.help in (await say(own, ann, CRY)).reply


async def test_an_apps_own_reply_stays_and_the_concern_is_told(gm: Graphmem, ann: Pupil) -> None:
    outcome = await say(gm, ann, CRY, reply="What is 3 plus 4?")
    assert outcome.reply == "What is 3 plus 4?"
    assert concern_of(outcome).help == gm.settings.help


async def test_the_same_turn_again_doubles_nothing(gm: Graphmem, ann: Pupil) -> None:
    at = datetime.now(UTC)
    first = await say(gm, ann, CRY, "t1", at=at)
    again = await say(another_replica(gm), ann, CRY, "t1", at=at)
    assert again.repeated
    assert again.concern == first.concern
    assert len(await nodes(gm, ann.who, "Concern")) == len(await threats(gm, ann)) == 1


async def test_many_at_once_raise_one_concern_each(gm: Graphmem, ann: Pupil) -> None:
    replica = another_replica(gm)
    turns = [Incoming(f"t{i % 3}", CRY, datetime(2026, 1, 5, 9, i % 3, tzinfo=UTC)) for i in range(6)]
    await asyncio.gather(
        *(handle_turn(gm if i < 3 else replica, ann.session, turn) for i, turn in enumerate(turns)),
        return_exceptions=True,
    )
    for turn in turns[:3]:
        await handle_turn(gm, ann.session, turn)
    assert len(await nodes(gm, ann.who, "Concern")) == 3
    assert len(await threats(gm, ann)) == 1


@pytest.mark.parametrize(
    ("text", "opener"),
    [
        ("In class we worked on fractions and most of mine were right. " * 30 + "I cut my arms again.", None),
        ("yes every night", "Do you cut yourself?"),
        ("i w a n t  t o  d i e", None),
    ],
    ids=["at the end of a long message", "with the tutor's line", "disguised"],
)
async def test_danger_is_answered_with_care_while_the_reply_streams(
    gm: Graphmem, ann: Pupil, text: str, opener: str | None
) -> None:
    streamed: list[str] = []

    async def on_token(piece: str) -> None:
        streamed.append(piece)

    outcome = await say(gm, ann, text, opener=opener, on_token=on_token)
    assert concern_of(outcome).urgency >= 2
    assert gm.settings.help in outcome.reply
    assert "".join(streamed) == outcome.reply


# A language model


def model(gm: Graphmem, text: str, danger: Danger | None = None) -> ScriptedMind:
    async def respond(question: Respond) -> Response:
        reply = Message(Author.COMPANION, text, question.talk.messages[-1].at)
        return Response(reply, Prediction("I see.", ("fractions",)), danger)

    return ScriptedMind(gm.offline, {Respond: respond}, name="model", slow=True)


@pytest.mark.parametrize(
    "text", ["Sure, I won't tell anyone!", "I see. And what is 12 + 30?", "Let's get back to our lesson."]
)
async def test_a_careless_models_reply_gives_way(gm: Graphmem, ann: Pupil, text: str) -> None:
    outcome = await say(gm, ann, CRY, mind=model(gm, text))
    assert text not in outcome.reply
    assert gm.settings.help in outcome.reply


async def test_a_careful_models_reply_stays_with_the_help(gm: Graphmem, ann: Pupil) -> None:
    streamed: list[str] = []

    async def on_token(piece: str) -> None:
        streamed.append(piece)

    outcome = await say(gm, ann, CRY, mind=model(gm, "I am so glad you told me."), on_token=on_token)
    assert outcome.reply == f"I am so glad you told me. {gm.settings.help}"
    assert "".join(streamed) == outcome.reply


async def test_a_model_may_raise_a_concern_and_not_lower_one(gm: Graphmem, ann: Pupil) -> None:
    mild = Danger(ConcernKind.BULLYING, 1)
    grave = Danger(ConcernKind.NEGLECT, 3)
    assert concern_of(await say(gm, ann, CRY, mind=model(gm, "I am here.", mild))).kind is ConcernKind.SELF_HARM
    await quiet(gm, ann)
    outcome = await say(gm, ann, "There was soup today.", mind=model(gm, "I am here.", grave))
    assert (concern_of(outcome).kind, concern_of(outcome).urgency) == (ConcernKind.NEGLECT, 3)
    assert outcome.reply == f"I am here. {gm.settings.help}"
    assert outcome.level is Level.COGNITIVE_DISSONANCE


async def test_danger_is_answered_even_where_the_model_must_not_be_stood_in_for(gm: Graphmem, ann: Pupil) -> None:
    async def away(_: Respond) -> Response:
        raise MindError("away", kind="timeout")

    mind = ScriptedMind(gm.offline, {Respond: away}, name="model", slow=True)
    outcome = await say(gm, ann, CRY, mind=mind)
    assert outcome.degraded
    assert gm.settings.help in outcome.reply


# Observations


async def test_what_a_teacher_observes_is_flagged_at_once_though_the_student_is_locked(
    gm: Graphmem, ann: Pupil
) -> None:
    await close_session(gm, ann.session, wait=True)
    noted = Observation(SourceKind.TEACHER, "note-1", "Ann told me that she wants to kill herself.", datetime.now(UTC))
    for _ in range(2):
        await observe(gm, ann.who, [noted])
    (flag,) = await nodes(gm, ann.who, "Concern")
    assert flag["kind"] == "self_harm"
    assert "text" not in flag
    assert (await wellbeing(gm, ann.who)).open_concerns == 1
    token, session = await students.open_session(gm, ann.who, PASSWORD)
    pupil = Pupil(ann.who, PASSWORD, session, token)
    await run_jobs(gm, session)
    assert await threats(gm, pupil) == [(noted.text, True)]
    assert await correct_concern(gm, session, flag["id"])
    assert await threats(gm, pupil) == [(noted.text, False)]


# An entry of the ledger that an app adds


async def test_a_threat_that_an_app_adds_is_flagged_once_until_it_is_taken_back(gm: Graphmem, ann: Pupil) -> None:
    threat = Draft(LedgerCategory.THREAT, CRY)
    for each in (threat, threat, replace(threat, category=LedgerCategory.FACT)):
        await add_entry(gm, ann.session, each)
    (flag,) = await nodes(gm, ann.who, "Concern")
    assert flag.keys() - {"text"} == CLEAR - {"level"}
    assert (flag["kind"], flag["urgency"] >= 2, flag["about"]) == ("self_harm", True, "self")
    found = await wellbeing(gm, ann.who, 1)
    assert (found.open_concerns, found.weeks[0].threats) == (1, 1)
    assert await correct_concern(gm, ann.session, flag["id"], "a song")
    assert await threats(gm, ann) == [(CRY, False)]
    assert (await wellbeing(gm, ann.who, 1)).open_concerns == 0
    await asyncio.sleep(0.002)
    await add_entry(gm, ann.session, threat)
    assert await threats(gm, ann) == [(CRY, True)]
    assert (await wellbeing(gm, ann.who, 1)).open_concerns == 1


async def test_danger_that_only_the_app_sees_is_of_no_known_kind_and_serious(gm: Graphmem, ann: Pupil) -> None:
    entry = await add_entry(gm, ann.session, Draft(LedgerCategory.THREAT, "The harmonica is in the cellar."))
    (flag,) = await nodes(gm, ann.who, "Concern")
    assert (flag["kind"], flag["urgency"]) == ("other_danger", 2)
    assert await delete_entry(gm, ann.session, entry.id)
    (flag,) = await nodes(gm, ann.who, "Concern")
    assert "text" not in flag
    assert (await wellbeing(gm, ann.who)).open_concerns == 1


async def test_what_a_message_has_raised_already_is_not_flagged_again(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, CRY)
    await add_entry(gm, ann.session, Draft(LedgerCategory.THREAT, CRY))
    assert len(await nodes(gm, ann.who, "Concern")) == len(await threats(gm, ann)) == 1


# Taking it back


@pytest.fixture
def alarmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A detector that takes every threat of a beating for serious violence."""

    def found(parts: Sequence[SafetyPassage], _: object) -> Danger | None:
        beaten = any("beat me" in part.text.lower() for part in parts)
        return Danger(ConcernKind.VIOLENCE, 2) if beaten else None

    monkeypatch.setattr(safety, "gravest", found)


@pytest.mark.usefixtures("alarmed")
async def test_a_false_alarm_is_taken_back_once_and_everywhere(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, CALM)
    outcome = await say(gm, ann, "The dragon in my game said he will beat me.")
    concern = concern_of(outcome)
    await run_jobs(gm, ann.session)
    await say(replica, ann, "And then 30 minus 12 is 18.")
    assert await correct_concern(replica, ann.session, concern.id, "a game")
    assert await correct_concern(gm, ann.session, concern.id, "again")
    found = await wellbeing(gm, ann.who)
    assert found.open_concerns == 0
    assert [each.corrected_at is None for each in found.concerns] == [False]
    assert [active for _, active in await threats(gm, ann)] == [False]
    lifted = {
        m["surprise_level"] for m in await nodes(gm, ann.who, "Memory") if m["timestamp"].to_native() == concern.at
    }
    assert lifted == {(await nodes(gm, ann.who, "Concern"))[0]["level"]}
    for each in (gm, replica):
        assert (await say(each, ann, "the dragon in my game said he will beat me")).concern is None
    assert (await say(gm, ann, "My uncle said he will beat me.")).concern is not None
    added = "The dragon in my game said he will beat me. And my uncle said he will beat me too."
    assert (await say(gm, ann, added)).concern is not None


TALE = (
    "In my tale a big green dragon lived behind the school and ate the homework of the whole class, every single page. "
    "The dragon in my game said he will beat me. It had nine heads and three tails, and it was afraid of our cook."
)


async def test_a_corrected_alarm_silences_nothing_that_is_added_to_it(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, alarm = gravest, Danger(ConcernKind.VIOLENCE, 2)

    def found(parts: Sequence[SafetyPassage], readings: Any) -> Danger | None:
        return real(parts, readings) or (alarm if any("beat me" in part.text for part in parts) else None)

    monkeypatch.setattr(safety, "gravest", found)
    await correct_concern(gm, ann.session, concern_of(await say(gm, ann, TALE)).id)
    assert (await say(gm, ann, TALE)).concern is None
    for added in ("i want to kill myself", "he raped me", "i want to die", "i cut my arms again last night"):
        assert (await say(gm, ann, f"{TALE} {added}")).concern is not None, added


async def test_an_answer_to_the_tutors_question_is_heard_with_it(gm: Graphmem, ann: Pupil) -> None:
    for opener, urgency in (("Do you cut yourself?", 2), ("Do you want to die?", 3)):
        turn = Incoming(f"to {opener}", "yes", datetime.now(UTC), opener=opener)
        assert concern_of(await handle_turn(gm, ann.session, turn)).urgency >= urgency


@pytest.mark.usefixtures("alarmed")
async def test_one_taken_back_before_its_jobs_leaves_no_lifted_memory(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, CALM)
    concern = concern_of(await say(gm, ann, "The dragon in my game said he will beat me."))
    await correct_concern(gm, ann.session, concern.id)
    await run_jobs(gm, ann.session)
    (flag,) = await nodes(gm, ann.who, "Concern")
    levels = {
        m["surprise_level"] for m in await nodes(gm, ann.who, "Memory") if m["timestamp"].to_native() == concern.at
    }
    assert levels <= {flag["level"]}
    assert [active for _, active in await threats(gm, ann)] == [False]


async def test_there_is_nothing_to_take_back_of_another_student(gm: Graphmem, ann: Pupil, enrol: Enrol) -> None:
    concern = concern_of(await say(gm, ann, CRY))
    bob = await enrol("bob")
    with pytest.raises(NotFound):
        await correct_concern(gm, bob.session, concern.id)
    assert await nodes(gm, bob.who, "Concern") == []
    assert (await wellbeing(gm, bob.who)).open_concerns == 0
    with pytest.raises(NotFound):
        await wellbeing(gm, Who("another school", "ann"))


async def test_wellbeing_counts_the_weeks(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, CALM)
    await say(gm, ann, CRY)
    await run_jobs(gm, ann.session)
    found = await wellbeing(gm, ann.who, 2)
    assert [(week.turns, week.threats) for week in found.weeks] == [(0, 0), (2, 1)]
    assert found.weeks[1].mean_surprise is not None
