"""What a violated expectation teaches, by rule."""

from dataclasses import fields, replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.flows.facts import Learned
from graphmem.flows.facts import learned as learned_of
from graphmem.model import Fact, HabitCount, Lesson, Mismatch
from graphmem.offline.facts import LESSON_CHARACTERS, MAX_LESSON_TAGS, keywords, lesson, own_clauses
from graphmem.text.doc import Doc
from graphmem.text.habits import HABITS, Exchange, counted
from graphmem.text.matching import retrieve
from graphmem.text.reader import MessageReading
from tests.support.markup import compares_only

TEXTS = st.one_of(st.text(max_size=400), st.sampled_from(["", "7", "no", "😀", "<b>", "“”", "word " * 200, "a" * 500]))


def reading(lasting: float = 0.9, trait: float = 0.9, own: float = 0.9, snr: int = 700) -> MessageReading:
    """What the reader may make of a clause."""
    nothing = np.zeros(0, dtype=np.float32)
    kind = np.array([1 - trait, 0.0, trait], dtype=np.float32)
    lasts = np.array([1 - lasting, 0.0, lasting, 0.0], dtype=np.float32)
    read = dict.fromkeys(("band", "modality", "ledger", "concern", "concern_logits", "urgency", "domain"), nothing)
    known = {each.name for each in fields(MessageReading)}
    given = {"snr": snr, "kind": kind, "lasting": lasts, "about_self": own, "valence": 0.0, **read}
    return MessageReading(**{name: given.get(name, nothing) for name in known})  # type: ignore[arg-type]


@given(TEXTS, TEXTS, TEXTS)
def test_any_lesson_is_one_short_sentence_with_tags(predicted: str, actual: str, asked: str) -> None:
    mismatch = Mismatch(predicted, actual, asked, habits=tuple(HabitCount(name, 4, 4) for name in HABITS))
    clauses = own_clauses(actual)
    learned = lesson(mismatch, clauses, [reading()] * len(clauses))
    assert learned == lesson(mismatch, clauses, [reading()] * len(clauses))
    if learned is not None:
        assert 0 < len(learned.text) <= LESSON_CHARACTERS
        assert "\n" not in learned.text
        assert compares_only(learned.text)
        assert 1 <= len(learned.tags) <= MAX_LESSON_TAGS
        assert all(tag.strip() for tag in learned.tags)
        assert len(set(learned.tags)) == len(learned.tags)


@given(st.lists(TEXTS, max_size=3), st.integers(1, 8))
def test_keywords_are_few_and_never_empty(texts: list[str], limit: int) -> None:
    words = keywords(list(map(Doc, texts)), limit)
    assert len(words) <= limit
    assert all(word.strip() for word in words)
    assert len(set(words)) == len(words)


def stated(text: str, read: MessageReading | None = None) -> str | None:
    """Text of the lesson of a message that tells something of the student."""
    clauses = own_clauses(text)
    learned = lesson(Mismatch("I got 12.", text, "What did you get?"), clauses, [read or reading()] * len(clauses))
    return None if learned is None else learned.text


def test_what_is_mine_is_named_by_the_question_before_it() -> None:
    assert own_clauses("do you have a dog? mine is called Rex") == ["My dog is called Rex"]
    assert own_clauses("Mine is teal!", "Hi! What is your favourite colour?") == ["My favourite colour is teal!"]


def test_what_lasts_is_said_generally_and_in_the_third_person() -> None:
    assert stated("i always need a picture else i dont get it") == (
        "The student always needs a picture else they don't get it."
    )
    assert stated("I hate fractions!") == "The student hates fractions!"


@pytest.mark.parametrize("text", ["ok", "yes", "42", "thanks!", "12 + 5 = 17", "Is it 12?", "", "That is nice of you."])
def test_where_nothing_general_is_shown_there_is_no_lesson(text: str) -> None:
    assert stated(text) is None


def test_what_passes_or_says_little_is_no_lesson() -> None:
    assert stated("I am tired today", reading(lasting=0.1)) is None
    assert stated("I was at the market", reading(trait=0.1)) is None
    assert stated("I am like that", reading(snr=100)) is None


@pytest.mark.parametrize(
    ("text", "is_lesson"),
    [
        ("We all have our own ways to calm down", False),
        ("We should be grateful for our teachers", False),
        ("I always calm down when I play the cello", True),
        ("My family has dinner together every evening", True),
    ],
)
def test_what_is_said_of_people_in_general_is_no_lesson_about_the_student(text: str, *, is_lesson: bool) -> None:
    learned = lesson(Mismatch("ok", text, "And you?", student="Mo"), own_clauses(text), [reading()])
    assert (learned is not None) is is_lesson


def test_a_habit_is_raised_from_three_times_and_most_of_its_moments_on() -> None:
    def learned(shown: int, moments: int) -> Lesson | None:
        return lesson(
            Mismatch(
                "I added 5 and then 6.", "41", "How did you get there?", habits=(HabitCount("bare", shown, moments),)
            )
        )

    assert learned(2, 2) is None
    assert learned(3, 5) is None
    told = learned(4, 5)
    assert told is not None
    assert told.text == "The student gives the bare result when asked for reasons, 4 of 5 times."
    assert told.habit == "bare"


def test_a_habit_that_was_foreseen_teaches_nothing() -> None:
    habits = (HabitCount("bare", 4, 5),)
    assert lesson(Mismatch("36", "41", "How did you get there?", habits=habits)) is None


def test_habits_are_counted_in_their_moments_only() -> None:
    said = ("It is 36.", "36", "No idea")
    asked = ("How many?", "That is not quite right. How did you get 36?", "Why?")
    counts: tuple[HabitCount, ...] = ()
    for i, text in enumerate(said):
        counts = counted(counts, Exchange(Doc(text), Doc(asked[i]), Doc(said[i - 1] if i else "")))
    found = {count.name: (count.shown, count.moments) for count in counts}
    assert found["keep"] == (1, 1)
    assert found["bare"] == (1, 2)
    assert found["lost"] == (1, 3)
    assert "sums" not in found


def test_what_was_learned_is_found_again_by_keywords_of_a_later_message() -> None:
    at = datetime(2026, 1, 15, tzinfo=UTC)
    said = ("I love my dog Bello", "I am scared of fractions", "I live in Hamburg")
    facts = [Fact(str(i), i, stated(text) or "", ("x",), at) for i, text in enumerate(said)]
    for i, later in enumerate(("How is Bello?", "Do I need a fraction here?", "It rains in Hamburg")):
        assert retrieve(facts, keywords([Doc(later)], 8))[0].id == str(i)


def test_nothing_is_stored_twice() -> None:
    at, later = datetime(2026, 1, 15, tzinfo=UTC), datetime(2026, 1, 16, tzinfo=UTC)
    known = Fact("fact-t1", 7, "Mo hates fractions.", ("fractions",), at)
    again = learned_of(Lesson("Mo hates fractions!", ("x",)), "fact-t9", later, [known], [])
    assert again.fact == replace(known, seq=0, created_at=later)
    new = learned_of(Lesson("Mo skates at weekends.", ("x",)), "fact-t9", later, [known], [])
    assert new.fact is not None
    assert (new.fact.id, new.fact.created_at) == ("fact-t9", later)
    habit = learned_of(Lesson("Mo gives up, 4 of 5 times.", ("x",), "lost"), "fact-t9", later, [known], [])
    assert habit.fact is not None
    assert habit.fact.is_habit
    assert learned_of(None, "fact-t9", later, [known], []) == Learned()
