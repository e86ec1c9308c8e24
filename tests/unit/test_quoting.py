"""Formation by quoting: what of a message is kept, in whose words, and what it leans on."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import Aspect, Heard, LedgerCategory
from graphmem.offline.formation import Extraction, extract
from graphmem.text.normalize import cleaned

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
NOT_YET = "Not quite. What does the bottom number count?"


def quoted(text: str, **more: object) -> Extraction:
    return extract(Heard(text, AT, **more))  # type: ignore[arg-type]


def words(text: str, **more: object) -> list[str]:
    return [text[each.start : each.end] for each in quoted(text, **more).memories]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("hi! my favourite colour is teal. thanks", ["my favourite colour is teal."]),
        ("i stopped football. i love swimming now", ["i stopped football.", "i love swimming now"]),
        ("I have a cat called Duma. How about you?", ["I have a cat called Duma."]),
        ("My uncle Ferdinand builds submarines.", ["My uncle Ferdinand builds submarines."]),
        ("ok", []),
        ("hello there!", []),
        ("what is a numerator?", []),
        ("lol ok thanks, see you tomorrow", []),
    ],
)  # fmt: skip
def test_statements_kept(text: str, kept: list[str]) -> None:
    assert words(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "Mi perro se llama Bruno y tengo dos hermanas mayores.",
        "Wir sind im März nach Hamburg gezogen, mein bester Freund wohnt noch in Bremen.",
        "Моя сестра живёт в Казани и учится на врача.",
    ],
)
def test_foreign_text_is_quoted_whole_without_slot(text: str) -> None:
    (memory,) = quoted(text).memories
    assert (words(text), memory.slot, memory.aspect) == ([text], None, None)


@pytest.mark.parametrize(
    ("text", "more", "aspect"),
    [
        ("1/9 is bigger than 1/5 because 9 is bigger than 5", {}, Aspect.MISCONCEPTION),
        ("so 12 x 4 = 46 apples are left", {"task": "How many apples are left?"}, Aspect.MISCONCEPTION),
        ("i just added the denominators", {"task": "1/2 + 1/3?", "reply": NOT_YET}, Aspect.MISCONCEPTION),
        (
            "2 and -1 are the roots because both make it zero",
            {"task": "Solve x^2 - x - 2 = 0", "reply": "Yes, that's exactly it. Now, how might you check their sum?"},
            None,
        ),
        (
            "the plant eats the soil so it gets heavier",
            {"task": "Where does a tree get its mass from?", "reply": "Good thinking! But is the pot any lighter?"},
            Aspect.MISCONCEPTION,
        ),
        ("12", {"task": "How many apples are left?"}, None),
        ("my cat is called Minka", {}, None),
    ],
)  # fmt: skip
def test_work_is_quoted_with_its_aspect(text: str, more: dict[str, str], aspect: Aspect | None) -> None:
    found = quoted(text, **more)
    assert [memory.aspect for memory in found.memories if memory.aspect is not None] == ([aspect] if aspect else [])
    assert all(each == text for each in words(text, **more))
    assert all(memory.context == more.get("task", "") for memory in found.memories if memory.aspect is not None)


def test_observed_message_is_kept_whole() -> None:
    text = "Hey Mel! Good to see you! I adopted a guinea pig named Oscar last May. He is so sweet."
    (kept,) = words(text, observed=True, speaker="Caroline")
    assert kept.endswith("I adopted a guinea pig named Oscar last May. He is so sweet.")


def test_message_without_passes_forms_ledger_entries_only() -> None:
    found = quoted("I still owe Karim 5 euros for the cinema!", passes=0)
    assert (found.memories, [each.category for each in found.reminders]) == ((), [LedgerCategory.DEBT])


@given(st.text(max_size=200))
def test_notes_are_verbatim_spans(text: str) -> None:
    for memory in quoted(text).memories:
        assert memory.statement is None
        assert cleaned(text[memory.start : memory.end])
