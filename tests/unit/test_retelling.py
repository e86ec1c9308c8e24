"""What is said of oneself, retold in the third person."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.text.dating import dated
from graphmem.text.retelling import retold

AT = datetime(2026, 3, 17, tzinfo=UTC)
FIRST_PERSON = re.compile(r"\b(?:i|i'm|me|my|mine|myself|we|we're|us|our|ours|ourselves)\b", re.IGNORECASE)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("We moved to Leeds", "Mo moved to Leeds."),
        ("we've got a test on thursday", "Mo has got a test on Thursday, 19 March 2026."),
        ("we're moving to hamburg", "Mo is moving to hamburg."),
        ("we are five at home", "Mo and others are five at home."),
        ("we both like maths", "Mo and others both like maths."),
        ("i hate my brother, we share a room", "Mo hates their brother, they share a room."),
        ("me and my brother play chess", "Mo's brother and Mo play chess."),
        ("Tom and I are friends", "Tom and Mo are friends."),
        ("I grew up there and want to stay", "Mo grew up there and wants to stay."),
        ("i'm a nurse but never do it at home", "Mo is a nurse but never does it at home."),
        ("i do not smoke or do drugs", "Mo does not smoke or do drugs."),
        ("i know people who sing and have fun", "Mo knows people who sing and have fun."),
        ("I want to rest and have fun", "Mo wants to rest and have fun."),
        ("that sounds great, i always dream of it", "Mo always dreams of it."),
        ("that is math i guess", "That is math Mo guesses."),
        ("just here with my dog", "Mo says: just here with their dog."),
        ("just tell my mum", "Mo asks: just tell Mo's mum."),
        ("the team has been nice and i'm having fun", "The team has been nice and Mo is having fun."),
        (
            "since we last talked i had the best time in the last month",
            "Since Mo last talked they had the best time in the last month.",
        ),
        ("our teacher is ill", "Mo's teacher is ill."),
        ("he helped us", "Mo says that he helped them."),
        ("I rode my bike", "Mo rode their bike."),
        ("I set up a charity run", "Mo set up a charity run."),
        ("i cannot swim", "Mo cannot swim."),
        ("i literally hate it", "Mo literally hates it."),
        ("i promise ill do it", "Mo promises they will do it."),
        ("i feel ill at school", "Mo feels ill at school."),
        ('mum said "i love you" to me', 'Mo\'s mum said "i love you" to them.'),
        ("i did it on tuesday night", "Mo did it on the night of Tuesday, 10 March 2026."),
    ],
)
def test_what_is_said_of_oneself_is_told_of_its_speaker(text: str, told: str) -> None:
    assert retold(text, "Mo", AT) == told


@pytest.mark.parametrize(
    "text",
    [
        "we went to our house and they gave us a cake for me and my sister",
        "so do I",
        "that's me and we, too",
        "if we add the spoons, we get 15",
        "what we need is ours and mine",
    ],
)
def test_no_first_person_is_left(text: str) -> None:
    assert FIRST_PERSON.search(retold(text, "Mo", AT)) is None


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("they moved the test to the 25th", "they moved the test to 25 March 2026"),
        ("it has been pushed to the 31st", "it has been pushed to 31 March 2026"),
        ("the trip was on the 31st", "the trip was on 31 January 2026"),
        ("we start on the 14th, all of us", "we start on 14 April 2026, all of us"),
        ("he came 3rd in the race", "he came 3rd in the race"),
        ("i'm in 3rd class", "i'm in 3rd class"),
        ("the 2nd one is hard", "the 2nd one is hard"),
        ("we fly on friday the 20th of march", "we fly on friday the 20 March 2026"),
        ("i'm in the last year of school, last year was fun", "i'm in the last year of school, in 2025 was fun"),
        ("deniz, 17, last year of school", "deniz, 17, last year of school"),
        ("on friday the 20th we fly", "on Friday, 20 March 2026 we fly"),
    ],
)
def test_days_of_the_month_are_reckoned_and_ranks_are_not(said: str, told: str) -> None:
    assert dated(said, datetime(2026, 3, 16, 15, tzinfo=UTC)) == told


@pytest.mark.parametrize(
    ("typed", "day"),
    [
        ("wensday", "Wednesday, 18 March 2026"),
        ("wenesday", "Wednesday, 18 March 2026"),
        ("wednsday", "Wednesday, 18 March 2026"),
        ("saterday", "Saturday, 21 March 2026"),
        ("tueday", "Tuesday, 24 March 2026"),
        ("wen", "wen"),
    ],
)
def test_days_are_known_however_they_are_spelled(typed: str, day: str) -> None:
    assert dated(f"it is on {typed}", AT) == f"it is on {day}"
    assert dated(f"it is due {typed} the 19th", AT)


WORDS_FOR_DAYS = "on till wen wensday wed the 19th sat 3rd of mar last week month day n ago".split()  # noqa: SIM905


@given(st.lists(st.sampled_from(WORDS_FOR_DAYS)))
def test_no_mixture_of_words_for_days_is_too_odd(words: list[str]) -> None:
    assert dated(" ".join(words), AT) is not None
