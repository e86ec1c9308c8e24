"""Key phrases: what a text is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.text.doc import PHRASE_CHARACTERS, PHRASE_WORDS, Doc, rarest_word
from graphmem.text.words import word_rarity


def test_runs_of_content_words_rarest_first() -> None:
    assert Doc("The green sea turtles were in the conservation center.").key_phrases() == (
        "green sea turtles",
        "conservation center",
    )


def test_numbers_keep_their_unit() -> None:
    assert "12 spoons" in Doc("So she has 12 spoons over, I think.").key_phrases()
    assert "$5.50" in Doc("It is $5.50, or 20%").key_phrases()


def test_punctuation_ends_a_phrase() -> None:
    assert set(Doc("fractions, decimals; percentages").key_phrases()) == {"fractions", "decimals", "percentages"}


def test_short_forms_and_possessives_are_seen_through() -> None:
    assert Doc("Don't you see? It's Bello's bone").key_phrases() == ("Bello bone",)


def test_a_phrase_is_named_once_whatever_its_case() -> None:
    assert Doc("Fractions! fractions? FRACTIONS.").key_phrases() == ("Fractions",)


@pytest.mark.parametrize("text", ["", "ok :-)", "I am not sure", "😀😀", "?!..."])
def test_nothing_said_no_phrases(text: str) -> None:
    assert Doc(text).key_phrases() == ()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Я не понимаю дроби", "дроби"),
        ("Ich verstehe Brüche nicht", "Brüche"),
        ("分数の足し算がわかりません", "分数"),
        ("我不懂分数", "分数"),
        ("لا أفهم الكسور", "الكسور"),
        ("분수를 모르겠어요", "분수를"),
    ],
)
def test_other_languages_give_phrases_too(text: str, part: str) -> None:
    assert any(part in phrase for phrase in Doc(text).key_phrases())


@given(st.text(max_size=400), st.integers(0, 12))
def test_phrases_are_few_short_different_and_of_the_text(text: str, limit: int) -> None:
    phrases = Doc(text).key_phrases(limit)
    assert len(phrases) <= limit
    assert all(phrase.strip() and len(phrase) <= PHRASE_CHARACTERS for phrase in phrases)
    assert all(len(phrase.split()) <= PHRASE_WORDS for phrase in phrases)
    assert len({phrase.casefold() for phrase in phrases}) == len(phrases)
    assert phrases == Doc(text).key_phrases(limit)


@given(st.text())
def test_there_is_a_rarest_word_wherever_there_is_a_phrase(text: str) -> None:
    assert bool(rarest_word(Doc(text).words)) or Doc(text).key_phrases() == ()


@given(st.text(min_size=1, max_size=30))
def test_rarity_is_bounded(word: str) -> None:
    assert 0.0 <= word_rarity(word) <= 7.0


def test_of_a_very_long_text_beginning_and_end_are_read() -> None:
    phrases = Doc("zebra crossing. " + "well, so it is. " * 2_000 + "quantum tunnel").key_phrases()
    assert phrases == ("zebra crossing", "quantum tunnel") or phrases == ("quantum tunnel", "zebra crossing")
