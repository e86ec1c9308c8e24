"""Replies of the offline mind: reckoned, quoted, or one of few kind sentences; nothing is asked back."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.language.encoder import read_now
from graphmem.model import AskedFor, Author, LedgerCategory, LedgerEntry, Message, Remembered, SourceKind
from graphmem.offline.answers import NOTHING
from graphmem.offline.replies import FOREIGN, TEMPLATES, replied

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)


def reply(*texts: str, remembered: Remembered | None = None, task: str = "") -> str:
    """The reply to the last of some messages; the student speaks first and last."""
    authors = [Author.STUDENT, Author.COMPANION] * len(texts)
    said = [Message(a, t, AT + timedelta(minutes=i)) for i, (a, t) in enumerate(zip(authors, texts, strict=False))]
    return replied(said, remembered or Remembered(), task, read_now(texts[-1:])[0])


def noted(text: str, at: datetime = AT - timedelta(days=44)) -> LedgerEntry:
    category = LedgerCategory.FACT
    return LedgerEntry("e", category, text, text, 0.8, (), (), 0.8, True, None, at, given_by=SourceKind.CHAT)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("What is 12*7?", "12 x 7 = 84."),
        ("what is 15% of 80?", "15% of 80 = 12."),
        ("Which is bigger, 1/8 or 1/4?", "1/4 is bigger than 1/8."),
        ("Kannst du mir bei Brüchen helfen, ich verstehe sie nicht", FOREIGN["de"]),
    ],
)
def test_exact_reply(text: str, said: str) -> None:
    assert reply(text) == said


@pytest.mark.parametrize(
    ("text", "task", "name"),
    [
        ("12 - 3 = 8", "How many are left?", "wrong sum"),
        ("so 12 - 3 = 9", "How many are left?", "right sum"),
        ("hi", "", "greeting"),
        ("thank you!", "", "thanks"),
        ("i dont get it", "How many are left?", "stuck"),
        ("my grandma died on sunday and i miss her so much", "", "hard"),
        ("tell me a joke", "", "request"),
        ("who are you?", "", "companion"),
    ],
)
def test_reply_by_act(text: str, task: str, name: str) -> None:
    beginnings = tuple(re.split("{|telling me", each)[0] for each in TEMPLATES[name])
    assert reply(text, task=task).startswith(beginnings), reply(text, task=task)


def test_newer_statement_that_fits_nearly_as_well_is_quoted_beside_the_best() -> None:
    hens = noted("My mother runs a shop with two sewing machines, and we keep twelve hens.", AT - timedelta(days=44))
    fewer = noted("Permit me to correct an earlier statement: the hens number nine.", AT - timedelta(days=20))
    remembered = Remembered(ledger=(hens, fewer), asked_for=AskedFor.OWN, today=AT, similarity={"e": 0.6})
    found = reply("How many hens did I finally say we keep?", remembered=remembered)
    assert found.index("twelve hens") < found.index("the hens number nine")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("my new teacher is mr hill", "about mr hill"),
        ("my grandma died on sunday and i miss her so much", "about your grandma"),
        ("Hi, my name is Tomas and I am twelve", ""),
    ],
)
def test_reply_names_whom_a_message_names(text: str, names: str) -> None:
    assert names in reply(text)
    assert ("about" in reply(text)) is bool(names)


def test_question_for_memory_is_answered_by_a_quotation_with_its_day() -> None:
    held = Remembered(ledger=(noted("my cat is called Duma"),), asked_for=AskedFor.OWN, today=AT, similarity={"e": 0.6})
    assert reply("what is my cat called?", remembered=held) == "You told me on 22 November: “my cat is called Duma”."


def test_question_for_memory_without_an_answer_says_so() -> None:
    assert reply("what is my cat called?", remembered=Remembered(asked_for=AskedFor.OWN, today=AT)) == NOTHING


def test_foreign_language_is_answered_in_it_once() -> None:
    first = "Ich habe heute meinen Hund Rex verloren"
    later = reply(first, FOREIGN["de"], "Er ist im Park weggelaufen und ich suche ihn")
    assert later not in FOREIGN.values()


def test_templates_ask_nothing() -> None:
    assert not [each for wordings in TEMPLATES.values() for each in wordings if "?" in each]


@given(st.text(min_size=1, max_size=200))
def test_reply_is_short_and_plain(text: str) -> None:
    said = reply(text)
    assert 0 < len(said) <= 400
    assert said == reply(text)
