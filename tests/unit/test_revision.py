"""What a new statement does to an older one: same, refined, ended, forgotten."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from graphmem.model import Aspect, Effect, Heard, Vector
from graphmem.offline.formation import extract
from graphmem.text.affect import load_affect
from graphmem.text.contradiction import CONTRADICTORY, ended_chance
from graphmem.text.doc import Doc
from graphmem.text.embedder import ShippedNetwork
from graphmem.text.revision import DENIAL, RATHER_ENDED, Claim, may_clash, pair_verdict, retractions, slot_of

AT = datetime(2026, 9, 1, tzinfo=UTC)
encode = ShippedNetwork(1).encode
affect = load_affect()


def told(text: str, days: int = 0) -> Claim:
    at = AT + timedelta(days=days)
    memory = extract(Heard(text, at, student="Tobi", observed=True)).memories[0]
    content, slot = text[memory.start : memory.end], slot_of(Doc(text))
    vector = encode([content])[0]
    valence = affect.valence(Doc(content), vector)
    return Claim(content, text, at, vector, aspect=memory.aspect, slot=slot, slot_key=slot, valence=valence, fresh=True)


def found(new: str, old: str, days: int = 7) -> Effect | None:
    return pair_verdict(told(new, days), told(old)).effect


def towards(cosine: float) -> Vector:
    """A vector of this cosine with that of no other angle."""
    return np.array([cosine, np.sqrt(1 - cosine**2)], dtype=np.float32)


def work(content: str, words: str, aspect: Aspect, days: float = 0, cosine: float = 1.0) -> Claim:
    return Claim(content, words, AT + timedelta(days=days), towards(cosine), aspect=aspect)


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("I am in grade 7 at Lincoln School.", "I am in grade 8 now.", Effect.ENDS),
        ("My favourite food is pizza.", "My favourite food is sushi, not pizza any more.", Effect.ENDS),
        ("I live in Rome.", "We moved to Paris.", Effect.ENDS),
        ("I live in Rome.", "I live in Paris.", Effect.CONTRADICTS),
        ("I live in Rome.", "I used to live in Paris.", None),
        ("I used to live in Rome.", "I live in Paris.", None),
        ("My mocks are on 12 May.", "My mocks got moved to 19 May.", Effect.ENDS),
        ("I drive a Honda.", "I sold the Honda.", Effect.ENDS),
        ("I love chess.", "I can't stand chess.", Effect.CONTRADICTS),
        ("I hate decimals.", "I don't hate decimals anymore, they are ok.", Effect.ENDS),
        ("emil is moving to hamburg in march", "emil isn't moving anymore!!", Effect.ENDS),
        ("i promise i read chapter 3 to oma till friday", "done! read the chapter to oma", Effect.ENDS),
        ("I like drawing comics.", "I love drawing comics.", Effect.SAME),
        ("I like Honda.", "I like Toyota.", None),
        ("I am allergic to peanuts.", "I am allergic to cats.", None),
        ("My dog is called Biscuit.", "I have football on Monday.", None),
        # What tells of an end is said of another matter, asked, denied, or only sounds like one.
        (
            "I can't have dairy, so no ice cream.",
            "My mum loves ice cream. Any more tips for dairy-free ice cream?",
            None,
        ),
        (
            "My family loves picnics.",
            "I had to say goodbye to Max, no wagging tail anymore. My family is sad.",
            None,
        ),
        ("I made coconut ice cream.", "Sorry I haven't been around. I made my friend ice cream.", None),
        ("I dance at the studio in Bern.", "I quit the dance studio in Bern.", Effect.ENDS),
    ],
)
def test_what_a_new_statement_does_to_an_older_one(old: str, new: str, wanted: Effect | None) -> None:
    assert found(new, old) is wanted


def test_a_comparison_that_is_mended_overcomes_the_wrong_one_of_any_lesson() -> None:
    wrong = work("Kim thinks 1/8 is bigger than 1/4.", "1/8 is bigger than 1/4", Aspect.MISCONCEPTION)
    right = work("So 1/4 is bigger than 1/8.", "so 1/4 is bigger than 1/8", Aspect.UNDERSTANDING, 9, 0.3)
    other = replace(right, words="so 1/2 is bigger than 1/3")
    assert pair_verdict(right, wrong).effect is Effect.ENDS
    assert pair_verdict(replace(right, aspect=None), wrong).effect is Effect.ENDS
    assert pair_verdict(other, wrong).effect is None


def test_an_understanding_overcomes_the_misconception_of_its_lesson() -> None:
    wrong = work("Tobi thinks 1/8 is more.", "1/8 is more", Aspect.MISCONCEPTION)
    right = work("Tobi understands that pieces get smaller.", "the pieces get smaller", Aspect.UNDERSTANDING, 0, 0.2)
    assert pair_verdict(right, wrong).effect is Effect.ENDS
    assert pair_verdict(wrong, right).effect is None


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
    assert found(new, old) is None


def test_a_network_weighs_what_may_have_ended() -> None:
    before = "The student's dad drives a lorry and is home on Sundays only."
    left, told = (
        ended_chance(text, before) for text in ("My dad has another job now and is home every night", "Dad called")
    )
    assert left > RATHER_ENDED > told


def test_two_networks_find_an_end_without_a_word_of_it() -> None:
    lorry = "My dad drives a lorry to Mombasa, so I see him only on Sundays."
    assert found("Dad got other work, he drives around here, so he is home every night.", lorry) is Effect.ENDS
    assert found("Dad called from the lorry.", lorry) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I like drawing comics.", "I love drawing comics."),
        ("I play chess", "I play chess weekly"),
        ("I dance at the studio in Bern.", "Dancing in Bern was tough at first, but I never quit."),
    ],
)
def test_what_is_said_again_with_more_to_it_ends_nothing(old: str, new: str) -> None:
    assert not pair_verdict(told(new, 7), told(old)).ends


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
    assert found("cause 7 8 9!!!", "pls call me Tobi") is None


def test_of_two_statements_joined_only_one_ends() -> None:
    both = "I have two sisters, Ida and Mo, and Mo plays chess."
    assert found("Mo doesn't play chess any more.", both) is Effect.OUTDATES


def test_an_attribute_has_one_value_at_a_time() -> None:
    assert found("I live in Paris.", "I live in Rome.", 90) is Effect.ENDS
    assert found("I live in Rome.", "I live in Rome, the big one.") in (Effect.SAME, None)


def test_a_step_repeated_in_one_lesson_is_one() -> None:
    first = work("Mo multiplies the average by the number of tests.", "93 by 6", Aspect.MISCONCEPTION)
    again = work("Mo takes the average for all tests.", "all tests", Aspect.MISCONCEPTION, 0.003, 0.8)
    later = replace(again, at=AT + timedelta(days=5))
    assert [pair_verdict(each, first).effect for each in (again, later)] == [Effect.SAME, None]


@pytest.mark.parametrize(
    ("old", "new", "clash"),
    [
        ("We won the tournament in York.", "We lost the tournament in Leeds.", True),
        ("I have 2 dogs.", "I have 3 dogs.", True),
        ("I like it.", "I don't like it.", True),
        ("I love liquorice.", "I hate liquorice.", True),
        ("I have 2 dogs.", "2 dogs are mine.", False),
        ("I like tea.", "We won the tournament in York.", False),
    ],
)
def test_what_may_clash_is_of_one_matter_and_differs(old: str, new: str, clash: bool) -> None:
    assert may_clash(told(new, 1), told(old)) is clash
    assert not may_clash(replace(told(new, 1), slot_key="a"), replace(told(old), slot_key="b"))


NEVER, ONCE = "I have never been on a plane in my life.", "I flew to Oslo by plane when I was six."


def test_what_cannot_both_be_so_is_doubted_and_no_message_of_several() -> None:
    doubted = pair_verdict(told(ONCE, 1), told(NEVER))
    assert (doubted.effect, doubted.chance >= CONTRADICTORY, doubted.reason) == (Effect.CONTRADICTS, True, DENIAL)
    assert pair_verdict(replace(told(ONCE, 1), fresh=False), told(NEVER)) == doubted
    several = f"Good to hear from you! {ONCE} My cat had kittens."
    assert pair_verdict(replace(told(ONCE, 1), words=several), told(NEVER)).effect is None
