"""What a new statement does to an older one: same, refined, ended, forgotten."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from graphmem.model import Aspect, Heard
from graphmem.offline.formation import extract
from graphmem.text.affect import load_affect
from graphmem.text.contradiction import ended_chance
from graphmem.text.doc import Doc
from graphmem.text.embedder import ShippedNetwork
from graphmem.text.revision import (
    RATHER_ENDED,
    Effect,
    Revisable,
    effect,
    retractions,
    slot_of,
)

AT = datetime(2026, 9, 1, tzinfo=UTC)
encode = ShippedNetwork(1).encode
affect = load_affect()


def told(text: str, days: int = 0) -> Revisable:
    at = AT + timedelta(days=days)
    memory = extract(Heard(text, at, student="Tobi", observed=True)).memories[0]
    content = text[memory.start : memory.end]
    vector = encode([content])[0]
    valence = affect.valence(Doc(content), vector)
    return Revisable(content, text, at, memory.aspect, slot_of(Doc(text)), valence, vector)


def found(new: str, old: str, days: int = 7) -> Effect:
    before, after = told(old), told(new, days)
    assert before.vector is not None
    assert after.vector is not None
    return effect(after, before, float(before.vector @ after.vector))


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("I am in grade 7 at Lincoln School.", "I am in grade 8 now.", Effect.ENDS),
        ("My favourite food is pizza.", "My favourite food is sushi, not pizza any more.", Effect.ENDS),
        ("I live in Rome.", "We moved to Paris.", Effect.ENDS),
        ("I live in Rome.", "I live in Paris.", Effect.CONTRADICTS),
        ("I live in Rome.", "I used to live in Paris.", Effect.NONE),
        ("I used to live in Rome.", "I live in Paris.", Effect.NONE),
        ("My mocks are on 12 May.", "My mocks got moved to 19 May.", Effect.ENDS),
        ("I drive a Honda.", "I sold the Honda.", Effect.ENDS),
        ("I love chess.", "I can't stand chess.", Effect.CONTRADICTS),
        ("I hate decimals.", "I don't hate decimals anymore, they are ok.", Effect.ENDS),
        ("emil is moving to hamburg in march", "emil isn't moving anymore!!", Effect.ENDS),
        ("i promise i read chapter 3 to oma till friday", "i read chapter 3 to oma on thursday", Effect.ENDS),
        ("I like drawing comics.", "I love drawing comics.", Effect.SAME),
        ("I like Honda.", "I like Toyota.", Effect.NONE),
        ("I am allergic to peanuts.", "I am allergic to cats.", Effect.NONE),
        ("My dog is called Biscuit.", "I have football on Monday.", Effect.NONE),
        # What tells of an end is said of another matter, asked, denied, or only sounds like one.
        (
            "I can't have dairy, so no ice cream.",
            "My mum loves ice cream. Any more tips for dairy-free ice cream?",
            Effect.NONE,
        ),
        ("I dance at the studio in Bern.", "Dancing in Bern was tough at first, but I never quit.", Effect.NONE),
        (
            "My family loves picnics.",
            "I had to say goodbye to Max, no wagging tail anymore. My family is sad.",
            Effect.NONE,
        ),
        ("I made coconut ice cream.", "Sorry I haven't been around. I made my friend ice cream.", Effect.NONE),
        ("I dance at the studio in Bern.", "I quit the dance studio in Bern.", Effect.ENDS),
    ],
)
def test_what_a_new_statement_does_to_an_older_one(old: str, new: str, wanted: Effect) -> None:
    assert found(new, old) is wanted


def test_a_comparison_that_is_mended_overcomes_the_wrong_one_of_any_lesson() -> None:
    wrong = Revisable("Kim thinks 1/8 is bigger than 1/4.", "1/8 is bigger than 1/4", AT, Aspect.MISCONCEPTION)
    right = Revisable(
        "So 1/4 is bigger than 1/8.", "so 1/4 is bigger than 1/8", AT + timedelta(days=9), Aspect.UNDERSTANDING
    )
    other = replace(right, words="so 1/2 is bigger than 1/3")
    assert effect(right, wrong, 0.3) is Effect.ENDS
    assert effect(other, wrong, 0.3) is Effect.NONE


def test_an_understanding_overcomes_the_misconception_of_its_lesson() -> None:
    wrong = Revisable("Tobi thinks 1/8 is more.", "1/8 is more", AT, Aspect.MISCONCEPTION)
    right = Revisable("Tobi understands that pieces get smaller.", "the pieces get smaller", AT, Aspect.UNDERSTANDING)
    assert effect(right, wrong, 0.2) is Effect.ENDS
    assert effect(wrong, right, 0.2) is Effect.NONE


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Please forget that I failed the test.", ("I failed the test",)),
        ("thats not true, sorry", (None,)),
        ("forget it", ()),
        ("don't forget about friday", ()),
        ("I will never forget that day", ()),
        ("I forgot about the homework", ()),
    ],
)
def test_what_is_to_be_forgotten(text: str, wanted: tuple[str | None, ...]) -> None:
    assert retractions(text) == wanted


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("please call me Tobi", "and remember im the one with the peanut thing, mum packed extra snacks"),
        ("i will not get credit for this question", "I always use a calculator in exams to make sure"),
        ("My dog is called Biscuit.", "I walk Biscuit every day."),
        ("We have a cat called Biscuit.", "Biscuit had kittens last night"),
        ("I live in Leeds", "I went to Leeds market"),
    ],
)
def test_what_is_unlikely_to_have_ended_stays(old: str, new: str) -> None:
    assert found(new, old) is Effect.NONE


def test_a_network_weighs_what_may_have_ended() -> None:
    before = "The student's dad drives a lorry and is home on Sundays only."
    left, told = (
        ended_chance(text, before) for text in ("My dad has another job now and is home every night", "Dad called")
    )
    assert left > RATHER_ENDED > told


def test_two_networks_find_an_end_without_a_word_of_it() -> None:
    lorry = "My dad drives a lorry to Mombasa, so I see him only on Sundays."
    assert found("Dad got other work, he drives around here, so he is home every night.", lorry) is Effect.ENDS
    assert found("Dad called from the lorry.", lorry) is Effect.NONE


@pytest.mark.parametrize(
    ("old", "new"), [("I like drawing comics.", "I love drawing comics."), ("I play chess", "I play chess weekly")]
)
def test_what_is_said_again_with_more_to_it_ends_nothing(old: str, new: str) -> None:
    assert found(new, old) is not Effect.ENDS


@pytest.mark.parametrize(
    "old",
    [
        "im alergic to milk so i cant have the cake",
        "im allergic to milk so i cant eat cake",
        "I'm allergic to milk so I can't have the cake.",
    ],
)
def test_a_denied_allergy_is_never_the_same_said_again(old: str) -> None:
    assert found("I'm not allergic to milk, it's only eggs.", old) not in (Effect.SAME, Effect.REFINES)
    assert found("I'm not allergic to milk any more.", old) is Effect.ENDS


def test_a_step_of_a_sum_ends_nothing() -> None:
    assert found("cause 7 8 9!!!", "pls call me Tobi") is Effect.NONE


def test_of_two_statements_joined_only_one_ends() -> None:
    both = "I have two sisters, Ida and Mo, and Mo plays chess."
    assert found("Mo doesn't play chess any more.", both) is Effect.OUTDATES


def test_an_attribute_has_one_value_at_a_time() -> None:
    assert found("I live in Paris.", "I live in Rome.", 90) is Effect.ENDS
    assert found("I live in Rome.", "I live in Rome, the big one.") in (Effect.SAME, Effect.NONE)


def test_a_step_repeated_in_one_lesson_is_one() -> None:
    first = Revisable("Mo multiplies the average by the number of tests.", "93 by 6", AT, Aspect.MISCONCEPTION)
    again = Revisable(
        "Mo takes the average for all tests.", "all tests", AT + timedelta(minutes=5), Aspect.MISCONCEPTION
    )
    later = Revisable("Mo takes the average for all tests.", "all tests", AT + timedelta(days=5), Aspect.MISCONCEPTION)
    assert [effect(each, first, 0.8) for each in (again, later)] == [Effect.SAME, Effect.NONE]
