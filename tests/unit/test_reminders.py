"""Ledger entries of messages: what the encoder finds in their statements, and what only sounds like it."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import Author, Heard, LedgerCategory, Reminder, SourceKind
from graphmem.offline.formation import Extraction, extract
from graphmem.samples import sample_dialogues
from graphmem.text.reminders import (
    CUE_TRIGGERS,
    IMPORTANCE,
    SUMMARY_CHARACTERS,
    summary_of,
)

AT = datetime(2026, 1, 1, tzinfo=UTC)
LABELLED = Path(__file__).parents[1] / "data" / "ledger_labelled.jsonl"


def found(text: str, kind: SourceKind = SourceKind.CHAT, before: str = "") -> tuple[Reminder, ...]:
    return extract(Heard(text, AT, kind, before=before)).reminders


def categories(text: str, kind: SourceKind = SourceKind.CHAT) -> list[str]:
    return [r.category.value for r in found(text, kind)]


def test_each_category_has_an_importance() -> None:
    assert set(IMPORTANCE) == set(LedgerCategory)


def test_spans_are_the_sentences_themselves() -> None:
    text = "Hi Mr. Brown!  I promised Mia I'd feed her rabbits. ok? I’m allergic to nuts\nBye."
    promise, fact = found(text)
    assert (promise.content, fact.content) == ("I promised Mia I'd feed her rabbits.", "I’m allergic to nuts")
    for each in (promise, fact):
        assert text[each.start : each.end] == each.content
    assert promise.trigger_entities == ("Mia",)
    assert "rabbits" in promise.triggers


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Hello. I copied half of the report. Don't tell anyone!", "I copied half of the report. Don't tell anyone!"),
        ("Can you keep a secret? I copied it. Bye.", "Can you keep a secret? I copied it."),
        ("I owe Tom 5 euros. Don't tell anyone.", "Don't tell anyone."),
    ],
)
def test_a_secret_comes_with_what_is_secret(text: str, content: str) -> None:
    assert found(text)[-1].content == content
    assert found(text)[-1].category is LedgerCategory.SECRET


def test_a_wish_for_a_day_holds_until_the_day_is_over() -> None:
    (once,) = found("can you remind me to bring my recorder on Saturday?")
    assert (once.category, once.expires_at) == (LedgerCategory.INSTRUCTION, datetime(2026, 1, 4, tzinfo=UTC))
    (always,) = found("Remind me at the end of each lesson to write down my homework.")
    assert (always.category, always.expires_at) == (LedgerCategory.INSTRUCTION, None)


def test_a_sentence_is_one_entry() -> None:
    assert categories("I promised Tom to pay back the money I owe him") == ["debt"]


@pytest.mark.parametrize(
    "text",
    [
        "My slip was that I took the perimeter for the area.",
        "The error was mine, I read the clock an hour late.",
        "I forgot to add the fee for the second ticket.",
        "I knew that the rope was nine metres long.",
        "We gave our old piano to the music school.",
        "I sold my bike and bought a scooter.",
        "My cousin works at the bank since May.",
        "I can't wait to see how your garden turns out!",
        "Never stop believing in what you do.",
        "Sharing my music with others gives me courage.",
    ],
)
def test_what_only_sounds_like_an_entry_is_none(text: str) -> None:
    assert categories(text) == []


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("I promised my uncle to water his tomatoes in July", "promise"),
        ("Nobody may hear that I write love poems, keep it to yourself", "secret"),
        ("My neighbour lent me his ladder and I have not brought it back", "debt"),
        ("My grandmother died of a stroke in March", "fact"),
        ("please never ask about my sister again", "instruction"),
    ],
)
def test_what_must_not_be_forgotten_is_an_entry(text: str, category: str) -> None:
    assert categories(text) == [category]


def test_an_entry_is_a_whole_statement() -> None:
    (told,) = found("epilepsy", before="Is there an illness that I should know of?")
    assert told.content == told.summary == "Asked “Is there an illness that I should know of?”: epilepsy"
    assert found("epilepsy") == ()


def test_of_a_message_without_a_pass_the_ledger_keeps_what_belongs_there_and_nothing_else_is_formed() -> None:
    def unread(text: str) -> Extraction:
        return extract(Heard(text, AT, passes=0))

    asked = unread("Thanks! Remind me at the end of each lesson to write down my homework.")
    assert [each.category.value for each in asked.reminders] == ["instruction"]
    assert asked.memories == ()
    for text in (
        "thanks",
        "ok",
        "lol",
        "see you tomorrow!",
        "12 + 3 = 15",
        "My uncle said he will kill me.",
        "I like teal.",
    ):
        assert unread(text) == Extraction()


def test_nothing_is_formed_from_what_was_said_before() -> None:
    assert found("Yes.", before="I promised Mia I'd feed her rabbits.") == ()


def test_apostrophes_may_be_curly_or_missing() -> None:
    for text in ("don't tell my mom i quit", "don’t tell my mom i quit", "dont tell my mom i quit"):
        assert categories(text) == ["secret"]


@pytest.mark.parametrize("text", ["", " \n ", "?!...", "😀", "Привет, как дела?", "我不懂分数"])
def test_nothing_to_find(text: str) -> None:
    assert found(text) == ()


PIECES = st.sampled_from(
    [
        "I promise to call.",
        "don't tell anyone",
        "i owe Tom 5 euros",
        "x" * 700,
        "\n",
        ". ",
        "I want to die!",
        "Note: ",
        "’",
        '"',
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=30)), max_size=12))
def test_whatever_is_said_spans_are_exact_apart_and_in_order(parts: list[str]) -> None:
    text, end = " ".join(parts), 0
    for reminder in found(text):
        assert end <= reminder.start < reminder.end <= len(text)
        assert text[reminder.start : reminder.end] == reminder.content
        assert reminder.content.strip()
        assert 0 < len(reminder.summary) <= SUMMARY_CHARACTERS
        assert len(reminder.triggers) <= CUE_TRIGGERS
        assert all(t.strip() for t in reminder.triggers)
        end = reminder.end


@given(st.text(max_size=300))
def test_summaries_are_short(text: str) -> None:
    assert len(summary_of(text)) <= SUMMARY_CHARACTERS


def scores(split: str) -> tuple[float, float, dict[str, float]]:
    """Precision and recall over all categories, and recall of each, on hand-labelled sentences."""
    hits, wanted, false = Counter[str](), Counter[str](), 0
    for line in LABELLED.read_text("utf-8").splitlines():
        row = json.loads(line)
        # Danger is found by the detector, not by a cue.
        if row["split"] == split and row["category"] != LedgerCategory.THREAT:
            told = set(categories(row["text"]))
            wanted[row["category"]] += row["category"] != "none"
            hits[row["category"]] += row["category"] in told
            false += len(told - {row["category"]})
    right = hits.total()
    return right / (right + false), right / wanted.total(), {c: hits[c] / n for c, n in wanted.items() if n}


def test_labelled_sentences_nobody_tuned_to() -> None:
    """Measured: precision 0.89, recall 0.65 (a category has 12 sentences, so one is 0.08)."""
    precision, recall, _ = scores("test")
    assert precision >= 0.75
    assert recall >= 0.55


def test_nothing_is_promoted_from_students_who_do_their_sums() -> None:
    """Real tutoring: the students of the shipped dialogues promise, owe and confess nothing."""
    messages = [m.text for d in sample_dialogues() for m in d.messages if m.author is Author.STUDENT]
    assert len(messages) > 40
    assert [r.content for text in messages for r in found(text)] == []
