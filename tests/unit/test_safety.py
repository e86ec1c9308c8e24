"""Danger: the one detector, what is learned from false alarms, and replies that take care."""

import json
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from graphmem.model import AboutWhom, ConcernKind, Danger, FalseAlarm
from graphmem.offline.care import LANGUAGES, caring_reply
from graphmem.text.danger_network import DangerReading
from graphmem.text.doc import Doc
from graphmem.text.language import language_of
from graphmem.text.reader import read_now
from graphmem.text.safety import find_danger, is_careful, is_known_alarm, load_danger_model

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "safety_labelled.jsonl").read_text("utf-8").splitlines()
]


def danger_in(text: str) -> Danger | None:
    return find_danger(Doc(text), read_now([text])[0])


HELP = "Ring 555 or go to Ms Lee."


def test_plain_danger_is_told_from_what_only_sounds_like_it() -> None:
    """Hand-written rows that nothing was trained on; how well the detector does is measured by `bench safety`."""
    found = [danger_in(row["text"]) is not None for row in ROWS]
    missed = [row["text"] for row, each in zip(ROWS, found, strict=True) if row["danger"] and not each]
    false = [row["text"] for row, each in zip(ROWS, found, strict=True) if each and not row["danger"]]
    assert len(missed) <= 2, missed
    assert len(false) <= 5, false


@pytest.mark.parametrize(
    "text",
    [
        "i want to kill myself",
        "me quiero morir",
        "ich will nicht mehr leben",
        "j'ai envie de mourir",
        "ölmek istiyorum",
        "أريد أن أموت",
        "chcę umrzeć",
        "quero morrer",
        "我想死",
        "आत्महत्या",
        "voglio morire",
        "my uncle touches me when mum is out",
        "dad hits me with his belt",
    ],
)
def test_plain_signs_are_never_missed(text: str) -> None:
    danger = danger_in(text)
    assert danger is not None
    assert danger.sign
    assert danger.urgency >= 2


def test_danger_at_the_end_of_a_long_message_counts() -> None:
    found = danger_in("and then we went home. " * 500 + "I want to end it all.")
    assert found is not None
    assert found.kind is ConcernKind.SELF_HARM


@pytest.mark.parametrize("word", ["I ", "me ", "he said ", "wants ", "took a ", "my "])
def test_the_longest_message_is_read_in_time(word: str) -> None:
    text = (word * 32_000)[:32_000]
    start = perf_counter()
    danger_in(text)
    assert perf_counter() - start < 2.0


ALARMS = [FalseAlarm("My dad said he will not beat me again at chess", ConcernKind.VIOLENCE, 2)]


@pytest.mark.parametrize(
    ("text", "urgency", "known"),
    [
        ("my dad said he will not beat me again at chess!", 2, True),
        ("My dad said he will not beat me again at the chess", 1, True),
        ("My dad said he will beat me again at chess", 2, False),
        ("My dad said he will not beat me again at chess", 3, False),
        ("My dad hit me", 2, False),
    ],
)
def test_only_the_like_of_a_false_alarm_is_passed_over(text: str, urgency: int, known: bool) -> None:
    assert is_known_alarm(Doc(text), Danger(ConcernKind.VIOLENCE, urgency), ALARMS) is known


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I don't want to live anymore, nobody would miss me", "en"),
        ("Ich will nicht mehr leben, niemand würde mich vermissen", "de"),
        ("Ya no quiero vivir, nadie me echaría de menos", "es"),
        ("Je ne veux plus vivre, je ne manquerais à personne", "fr"),
    ],
)
def test_a_reply_is_in_the_language_of_the_message(text: str, language: str) -> None:
    assert language_of(text) == language
    danger = Danger(ConcernKind.SELF_HARM, 3)
    replies = {each: caring_reply(danger, HELP, language=each) for each in LANGUAGES}
    assert language_of(replies[language].replace(HELP, "")) == language
    assert len(set(replies.values())) == len(LANGUAGES)
    for reply in replies.values():
        assert HELP in reply
        assert "?" not in reply


@pytest.mark.parametrize("kind", list(ConcernKind))
@pytest.mark.parametrize("urgency", [1, 2, 3])
@pytest.mark.parametrize("about", list(AboutWhom))
def test_each_reply_takes_care(kind: ConcernKind, urgency: int, about: AboutWhom) -> None:
    first = caring_reply(Danger(kind, urgency, about), HELP)
    again = caring_reply(Danger(kind, urgency, about), HELP, [first])
    assert first != again
    for reply in (first, again):
        assert HELP in reply
        assert "?" not in reply
        assert is_careful(reply)


@pytest.mark.parametrize(
    "reply",
    [
        "I will never tell anyone.",
        "It stays between us.",
        "This is confidential.",
        "I'll keep it a secret.",
        "That is sad. Now let's get back to the lesson.",
        "Oh no. So what is 4 + 5?",
    ],
)
def test_a_promise_of_secrecy_or_the_exercise_is_no_care(reply: str) -> None:
    assert not is_careful(reply)


def test_a_concern_may_be_raised_and_not_sure() -> None:
    doubted, certain = (
        "they never let me play with them and laugh when i come",
        "My dad hits me at home",
    )
    readings = read_now([doubted, certain])
    found = [find_danger(Doc(text), reading) for text, reading in zip((doubted, certain), readings, strict=True)]
    assert [danger and danger.sure for danger in found] == [False, True]


def test_what_is_not_sure_is_never_acute() -> None:
    model = load_danger_model()
    acute = DangerReading(0.0, np.ones(10, np.float32), np.array([0, 0, 1], np.float32), 0.0)
    doubted, sure = (model.danger(score, acute, None) for score in (model.threshold, model.sure))
    assert (doubted.urgency, doubted.sure, sure.urgency, sure.sure) == (2, False, 3, True)
    assert not sure.sign


@pytest.mark.parametrize(
    "text",
    [
        "a girl in my class is cutting her arms, what do I do",
        "some guys keep beating up Ali after school and took his phone",
        "my sister's boyfriend choked her yesterday",
        "One of my students wrote that he wants to end it this weekend",
    ],
)
def test_danger_to_others_is_told_as_theirs(text: str) -> None:
    danger = danger_in(text)
    assert danger is not None
    assert danger.about is AboutWhom.OTHER


@pytest.mark.parametrize(
    "text",
    ["Maria took it to the beach yesterday", "my mum is in hospital and i'm scared", "Her parents separated in May."],
)
def test_what_happens_every_day_is_no_danger(text: str) -> None:
    assert danger_in(text) is None
