"""Hastily typed text as it is meant."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.errors import SetupError
from graphmem.text.orthography import Respelled, is_tidy, last_tokens, nearest_word, read_variants, respelled


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("wen is my maths test", "When is my maths test?"),
        ("wat did i get rong with the pizza", "What did I get wrong with the pizza?"),
        ("i have a cat hes grey", "I have a cat. He's grey"),
        ("my best freind is bartek", "My best friend is Bartek"),
        # What comes next begins with its day.
        ("they hid my shoes and on friday finn laughed at me", "They hid my shoes and on Friday Finn laughed at me"),
    ],
)
def test_children_are_understood(said: str, meant: str) -> None:
    assert respelled(said).text == meant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "?!",
        "5/8",
        "3 + 4 = 7",
        "wait v = i x r so u have to divide",
        "cos(x^2) i think",
        "Is it 5/8? I think so.",
        "I live in Oslo with my dad.",
        "ich wohne mit meiner mutter in einem kleinen haus am fluss",
    ],
)
def test_what_needs_nothing_stays(text: str) -> None:
    assert respelled(text) == Respelled(text, text)


def test_a_number_is_never_another_one() -> None:
    said = "i got 17 out of 20 n then 3/8 of 4.5 is 1.6875 i think"
    digits = [c for c in said if c.isdigit()]
    assert [c for c in respelled(said).text if c.isdigit()] == digits


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=120))
def test_every_word_keeps_its_place(text: str) -> None:
    found = respelled(text)
    assert found.original == text
    for piece in found.pieces:
        assert 0 <= piece.start <= piece.end <= len(found.text)
        assert 0 <= piece.original_start <= piece.original_end <= len(text)
    if found.pieces:
        first, last = found.pieces[0], found.pieces[-1]
        assert found.original_of(first.start, last.end) == text[first.original_start : last.original_end]
        assert found.original_of(0, len(found.text)).strip() == text.strip()


def test_a_clause_is_quoted_as_it_was_typed() -> None:
    found = respelled("i have a cat hes grey n he bites")
    start = found.text.index("He's")
    assert found.original_of(start, len(found.text)) == "hes grey n he bites"


def test_long_texts_are_respelled_at_their_beginning() -> None:
    text = "wats my dog called? " + "i like it here wat about u. " * 200
    found = respelled(text)
    assert found.text.startswith("What's my dog called? I like it here")
    assert found.text.endswith("i like it here wat about u. ")
    assert found.original_of(0, len(found.text)).split() == text.split()


def test_tidy_texts_are_told_by_their_marks() -> None:
    assert is_tidy("Can we go on? I'm ready!")
    assert not is_tidy("can we go on")
    assert not is_tidy("Can we go on")


def test_only_what_clearly_stands_for_a_word_is_spelt() -> None:
    assert nearest_word("becuase") == "because"
    assert nearest_word("saoirse") == "saoirse"
    assert nearest_word("dog") == "dog"


def test_tokens_beyond_what_is_read_count_as_the_last() -> None:
    assert last_tokens([(0, 0), (0, 3), (4, 6), (0, 0)], [3, 6, 9]) == [1, 2, 2]


def test_damaged_variants_are_named(tmp_path: Path) -> None:
    (tmp_path / "variants.json").write_text("{")
    with pytest.raises(SetupError, match="install graphmem again"):
        read_variants(tmp_path / "variants.json")
    (tmp_path / "variants.json").write_text(json.dumps({"wat": "what"}))
    assert read_variants(tmp_path / "variants.json") == {"wat": "what"}
