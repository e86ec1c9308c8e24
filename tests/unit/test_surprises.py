"""What the offline mind makes of a surprise: facts without fillers, updates with a reason, fitting questions."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.model import Analysis, Belief, Level, MemoryKind, Strategy, Surprising
from graphmem.offline.beliefs import MAX_BELIEF_UPDATES, belief_updates
from graphmem.offline.follow_ups import questions, reflection
from graphmem.offline.surprise_analysis import analysis

AT = datetime(2026, 1, 5, tzinfo=UTC)
WRONG = "Can you check that again? It is not quite right."


def told(actual: str, *beliefs: str, talk: tuple[str, ...] = (), before: str = "", most: int = 30) -> Surprising:
    known = tuple(Belief(f"memory-{i}", text, MemoryKind.TRAIT, None, AT, 0.9) for i, text in enumerate(beliefs))
    return Surprising(
        Level.PARADIGM_SHIFT, 0.95, 0.1, "Yes, I agree.", before, actual, AT, talk, known, most_facts=most
    )


# Belief updates

CHANGED = {
    "moved": ("I live in Rome.", "Guess what, we moved to Paris!", "", True),
    "attribute": ("My favourite colour is teal.", "My favourite colour is orange now.", "", True),
    "age": ("I am 11 years old.", "I just turned 12!", "", True),
    "attitude": ("I love football.", "I hate football now.", "", True),
    "no longer": ("I play chess with my uncle.", "I used to play chess with my uncle.", "", True),
    "denied": ("Whales are a kind of fish.", "Whales are not a kind of fish.", "", False),
    "result": ("So 7 x 8 = 54 plates.", "Oh, 7 x 8 = 56 plates.", "", False),
    "quantity": ("So Julia bought a package of 4 spoons.", "Julia bought a package of 10 spoons.", WRONG, False),
    "lapse": (
        "I multiplied the hours by the number of pages.",
        "I should have divided the hours by the number of pages instead of multiplying.",
        "",
        False,
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_belief_is_updated_for_a_reason(name: str) -> None:
    old, new, before, evolution = CHANGED[name]
    surprising = told(new, old, talk=(old,), before=before)
    (update,) = belief_updates(surprising)
    assert (update.prior_id, update.prior, update.evolution) == ("memory-0", old, evolution)
    assert update.new in surprising.actual
    assert surprising.actual[update.start : update.end] == update.new
    assert update.kind in {MemoryKind.TRAIT, MemoryKind.CONCEPT}
    assert -0.9 <= update.delta < 0


KEPT = {
    "two likes": ("I like Honda.", "I like Toyota.", ""),
    "two pets": ("I have a dog.", "I have a cat.", ""),
    "the same again": ("I live in Rome.", "Yes, I live in Rome.", ""),
    "other words": ("I live in Rome.", "I live in a small flat with my mum.", ""),
    "a question": ("Whales are a kind of fish.", "Are whales not a kind of fish?", ""),
    "a doubt": ("Whales are a kind of fish.", "Maybe whales are not a kind of fish.", ""),
    "the next step": ("So Julia had 15 spoons altogether.", "So Julia had 10 spoons left.", WRONG),
    "another thing": (
        "After the first night there are 12 vampires.",
        "After the second night there are 72 vampires.",
        "",
    ),
    "nobody said it was wrong": ("Julia bought a package of 4 spoons.", "Julia bought a package of 10 spoons.", ""),
    "unrelated": ("I love football.", "I should have divided the hours by the pages.", ""),
    "small talk": ("Long time no see!", "Long time, can't wait to see you!", ""),
    "a slip": ("So 7 x 8 = 56 plates.", "So 7 x 8 = 54 plates.", ""),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_can_both_be_so_stays(name: str) -> None:
    old, new, before = KEPT[name]
    assert belief_updates(told(new, old, talk=(old,), before=before)) == ()


def test_what_was_reckoned_in_another_session_is_left_alone() -> None:
    old, new, before, _ = CHANGED["quantity"]
    assert belief_updates(told(new, old, before=before)) == ()


def test_what_was_only_said_in_the_talk_can_be_taken_back_too() -> None:
    surprising = told("Oh, I see. So 12 + 3 = 15 and 7 x 8 = 56.", talk=("I think 7 x 8 = 54.",))
    (update,) = belief_updates(surprising)
    assert (update.prior_id, update.prior) == (None, "I think 7 x 8 = 54.")
    held = "I thought that whales were fish, but they are mammals."
    (update,) = belief_updates(told(held))
    assert (update.prior_id, update.prior, update.new) == (None, "whales were fish", held)


def test_the_latest_word_counts() -> None:
    talk = ("So 7 x 8 = 54.", "No, 7 x 8 = 56.")
    assert belief_updates(told("Yes, 7 x 8 = 56.", talk=talk)) == ()


def test_a_belief_worded_by_a_model_is_understood() -> None:
    (update,) = belief_updates(told("We moved to Paris.", "The student lives in Rome."))
    assert (update.prior_id, update.evolution) == ("memory-0", True)
    own = Belief("m", "Rome is where the family has its flat, in Trastevere.", MemoryKind.TRAIT, "self home", AT, 0.5)
    (update,) = belief_updates(replace(told("I live in Paris now."), beliefs=(own,)))
    assert update.prior_id == "m"


def test_a_mended_slip_is_no_evolution() -> None:
    (update,) = belief_updates(told("Sorry, my favourite colour is actually orange.", "My favourite colour is teal."))
    assert not update.evolution


def test_no_belief_is_updated_twice() -> None:
    surprising = told("We moved to Paris. I live in Paris. I live in Paris with Ann.", "I live in Rome.")
    assert [update.prior_id for update in belief_updates(surprising)] == ["memory-0"]


WORDS = st.sampled_from(
    """
    I you not no used to live in Rome Paris love hate football 7 x 8 = 54 56 should have instead of , . ? ! oh wait
    thought but spoons wrong never anymore x + < > é 我
    """.split()  # noqa: SIM905
)
TEXT = st.lists(WORDS, max_size=40).map(" ".join) | st.text(max_size=80)


@settings(deadline=None)  # the first one reads the word list
@given(TEXT, st.lists(TEXT, max_size=3), st.lists(TEXT, max_size=4), TEXT, st.sampled_from(list(Level)))
def test_any_talk_is_analysed_within_bounds(
    actual: str, beliefs: list[str], talk: list[str], before: str, level: Level
) -> None:
    surprising = replace(told(actual, *beliefs, talk=tuple(talk), before=before, most=3), level=level)
    found = analysis(surprising)
    assert found.explanation.endswith(".")
    assert found.facts == ()
    assert len(found.updates) <= MAX_BELIEF_UPDATES
    for update in found.updates:
        assert 0 <= update.start < update.end <= len(actual)
        assert min(len(update.prior), len(update.new)) > 0
        assert -1 <= update.delta <= 1
        assert 0 <= update.confidence <= 1
        assert update.prior_id in {None, *(belief.id for belief in surprising.beliefs)}
    asked = questions(surprising, found)
    assert 1 <= len(set(asked)) == len(asked) <= 3
    assert all(question.endswith("?") for question in asked)
    assert reflection(surprising, found).text


# Explanation and strategy


def test_the_explanation_says_what_was_expected_and_heard() -> None:
    found = analysis(told("What is the perimeter of the patio?"))
    assert found.explanation == (
        "Expected an agreement (“Yes, I agree”), heard a question about “patio”: "
        "the two have little in common (match 0.10)."
    )
    unexpected = replace(told("What is the perimeter?"), predicted=None, match=None, unusual=("gap",))
    assert analysis(unexpected).explanation == (
        "There was no expectation to go by; heard a question about “perimeter”: the time it took was unusual."
    )
    met = replace(told("Yes, I agree.", talk=("no",) * 3), match=0.9)
    assert "the expectation was met (match 0.90)" in analysis(met).explanation
    assert "much longer than the student's messages before" in analysis(met).explanation
    assert "“I live in Rome”, is no longer so" in analysis(told("We moved to Paris!", "I live in Rome.")).explanation


STRATEGIES = [
    (Level.NORMAL, "My dog is called Bello.", Strategy.NONE),
    (Level.BOUNDARY, "ok", Strategy.NONE),
    (Level.BOUNDARY, "My dog is called Bello.", Strategy.DEEP_EXTRACTION),
    (Level.COGNITIVE_DISSONANCE, "My dog is called Bello.", Strategy.DEEP_EXTRACTION),
    (Level.COGNITIVE_DISSONANCE, "I don't understand the denominator.", Strategy.ASK_FOLLOW_UP_QUESTIONS),
    (Level.COGNITIVE_DISSONANCE, "The football club in Rome is closed.", Strategy.CONNECT_PRIOR),
    (Level.COGNITIVE_DISSONANCE, "I hate the football club in Rome.", Strategy.ASK_FOLLOW_UP_QUESTIONS),
    (Level.COGNITIVE_DISSONANCE, "The football club is not in Rome.", Strategy.CONNECT_PRIOR),
    (Level.PARADIGM_SHIFT, "The football club is not in Rome.", Strategy.SELF_REFLECT),
    (Level.PARADIGM_SHIFT, "My dog is called Bello.", Strategy.ASK_FOLLOW_UP_QUESTIONS),
]


@pytest.mark.parametrize(("level", "actual", "strategy"), STRATEGIES)
def test_the_strategy_suits_level_and_content(level: Level, actual: str, strategy: Strategy) -> None:
    surprising = replace(told(actual, "The football club is in Rome."), level=level)
    assert analysis(surprising).strategy is strategy


# Questions and reflection


def test_what_changed_is_asked_about_first() -> None:
    surprising = told("We moved to Paris!", "I live in Rome.")
    first, *_ = questions(surprising, analysis(surprising))
    assert first == "Before it was “I live in Rome”, now “We moved to Paris!”: when did that change?"


def test_nothing_is_asked_that_was_asked_just_before() -> None:
    surprising = told("I don't understand the denominator.")
    asked = questions(surprising, Analysis(""))
    again = replace(surprising, before=f"Good. {asked[0]}", asked=asked[1:])
    assert not set(asked) & set(questions(again, Analysis("")))


def test_a_reflection_names_a_way_to_go_on_only_where_there_is_one() -> None:
    surprising = told("Whales are not a kind of fish.", "Whales are a kind of fish.")
    found = reflection(surprising, analysis(surprising))
    assert found.procedure is not None
    assert "whales" in found.procedure.lower()
    assert "“Whales are a kind of fish”" in found.text
    assert reflection(told("ok"), Analysis("")).procedure is None
