"""A message with its annotations, and the one tokeniser, splitter, stemmer and word list behind them."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphmem
from graphmem.model import Author, Heard, Message
from graphmem.text.doc import Doc, doc_of
from graphmem.text.lexicon import STOP_WORDS, TIME_WORDS
from graphmem.text.normalize import plain
from graphmem.text.revision import slot_key
from graphmem.text.stems import stem
from graphmem.text.words import tokens

AT = datetime(2026, 1, 5, tzinfo=UTC)


@given(st.text(max_size=300))
def test_places_are_those_of_the_text(text: str) -> None:
    doc = Doc(text)
    assert len(doc.plain) == len(text)
    for part in doc.sentences:
        assert text[part.start : part.end] == part.text == part.text.strip()
    for token in doc.tokens:
        assert text[token.start : token.end] == token.text


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("I met Mr. Hill at 3.30. He left.", ["I met Mr. Hill at 3.30.", "He left."]),
        ("It is 12. Then I add 5.", ["It is 12.", "Then I add 5."]),
        ("1. Add them. 2. Check!", ["1. Add them.", "2. Check!"]),
        ("Really?! Yes…\nno", ["Really?!", "Yes…", "no"]),
        ("我懂。你呢？", ["我懂。", "你呢？"]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert [sentence.text for sentence in Doc(text).sentences] == sentences


def test_tokens_keep_units_and_inner_marks() -> None:
    assert [token.text for token in tokens("Isn't a well-known $5.50 at 4pm, 5x3?!")] == [
        "Isn't", "a", "well-known", "$5.50", "at", "4pm", ",", "5", "x", "3", "?!",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "forms", ["go goes going went gone", "study studies studied", "hop hopping", "swear swore", "child children"]
)
def test_inflections_have_one_stem(forms: str) -> None:
    assert len(set(map(stem, forms.split()))) == 1


def test_slots_are_compared_whatever_the_inflection() -> None:
    assert slot_key("self likes:video games") == slot_key("Self likes:Video game")
    assert slot_key("self likes:chess") != slot_key("self likes:dance")


def test_what_is_said_carries_its_annotations_along() -> None:
    doc = Doc("I like maths.")
    message = Message(Author.STUDENT, doc.text, AT, doc=doc)
    assert doc_of(replace(message, embedding=None)) is doc
    assert doc_of(replace(Heard(doc.text, AT, doc=doc), passes=2)) is doc
    assert doc_of(Heard("Hi", AT)) == Doc("Hi")
    assert message == Message(Author.STUDENT, doc.text, AT)


def test_word_lists_are_in_lower_case_and_agree() -> None:
    for words in (STOP_WORDS, TIME_WORDS):
        assert words == set(map(plain, words))


def test_texts_are_split_in_one_place() -> None:
    """Neither a sentence splitter nor a word pattern of its own in any module that reads language."""
    own = re.compile(r"^_(?:SENTENCE|SENTENCE_END|WORD|STEM|ENDINGS|NEGATIONS?|KIN_WORDS)\b = (?:re|frozenset)", re.M)
    folder = Path(graphmem.__file__).parent
    files = [*folder.glob("text/*.py"), *folder.glob("offline/*.py"), *folder.glob("flows/*.py")]
    assert {file.name for file in files if own.search(file.read_text("utf-8"))} == set()


@pytest.mark.parametrize("shape", ["?", "?a", "a.", '."', "Mr. ", "x-", "1,", "so ", "\n", "İ"])
def test_long_odd_texts_are_annotated_in_linear_time(shape: str) -> None:
    doc = Doc(shape * (32_000 // len(shape)) + "a")
    start = process_time()
    assert (doc.sentences, doc.tokens, doc.stems, doc.numbers, doc.capitals, doc.key_phrases(), doc.asks) is not None
    assert process_time() - start < 5
