"""What a violated expectation teaches, by rule."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import Fact, Mismatch
from graphmem.offline.facts import LESSON_CHARACTERS, MAX_LESSON_TAGS, keywords, lesson
from graphmem.text.doc import Doc
from graphmem.text.matching import retrieve

TEXTS = st.one_of(st.text(max_size=400), st.sampled_from(["", "7", "no", "😀", "<b>", "“”", "word " * 200, "a" * 500]))


@given(TEXTS, TEXTS, TEXTS)
def test_any_mismatch_teaches_one_short_sentence_with_tags(predicted: str, actual: str, asked: str) -> None:
    learned = lesson(Mismatch(predicted, actual, asked))
    assert 0 < len(learned.text) <= LESSON_CHARACTERS
    assert "\n" not in learned.text
    assert not set(learned.text) & set("<>")
    assert 1 <= len(learned.tags) <= MAX_LESSON_TAGS
    assert all(tag.strip() for tag in learned.tags)
    assert len(set(learned.tags)) == len(learned.tags)
    assert learned == lesson(Mismatch(predicted, actual, asked))


@given(st.lists(TEXTS, max_size=3), st.integers(1, 8))
def test_keywords_are_few_and_never_empty(texts: list[str], limit: int) -> None:
    words = keywords(list(map(Doc, texts)), limit)
    assert len(words) <= limit
    assert all(word.strip() for word in words)
    assert len(set(words)) == len(words)


def test_the_lesson_says_what_was_asked_said_and_expected() -> None:
    learned = lesson(Mismatch("I added 5", "My dog ate the spoons", "Well. How many are left?"))
    assert learned.text == (
        "Asked “How many are left?”, the student said “My dog ate the spoons” where “I added 5” was expected."
    )
    assert set(learned.tags) == {"dog ate", "spoons"}


def test_without_a_question_or_a_prediction_the_sentence_still_reads() -> None:
    assert lesson(Mismatch("", "Seven", "")).text == "The student said “Seven”."
    assert lesson(Mismatch("Six", "", "")).text == "The student said nothing in words where “Six” was expected."


@pytest.mark.parametrize(
    ("actual", "tag"),
    [("yes", "spoons"), ("200", "200"), ("200", "spoons"), ("I am not sure", "spoons"), ("Bello", "Bello")],
)
def test_a_message_that_names_nothing_is_tagged_by_what_it_answers(actual: str, tag: str) -> None:
    assert tag in lesson(Mismatch("It is five", actual, "How many spoons?")).tags


def test_what_was_learned_is_found_again_by_keywords_of_a_later_message() -> None:
    at = datetime(2026, 1, 15, tzinfo=UTC)
    said = ("My dog Bello is ill", "I am scared of fractions", "We moved to Hamburg last summer")
    lessons = [lesson(Mismatch("I got 12", text, "What did you get?")) for text in said]
    facts = [Fact(str(i), i, learned.text, learned.tags, at) for i, learned in enumerate(lessons)]
    for i, later in enumerate(("How is Bello?", "Do I need a fraction here?", "It rains in Hamburg")):
        assert retrieve(facts, keywords([Doc(later)], 8))[0].id == str(i)
