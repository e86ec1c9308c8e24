"""Formation by quoting: what of a message is kept, in whose words, and what it leans on."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import Aspect, Extraction, Heard, LedgerCategory
from graphmem.offline.formation import extract
from graphmem.text.normalize import cleaned

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)


def quoted(text: str, **more: object) -> Extraction:
    return extract(Heard(text, AT, **more))  # type: ignore[arg-type]


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
    assert [memory.content for memory in quoted(text).memories] == kept


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
    assert (memory.content, memory.slot, memory.aspect) == (text, None, None)


@pytest.mark.parametrize(
    ("text", "more", "aspect"),
    [
        ("1/9 is bigger than 1/5 because 9 is bigger than 5", {}, Aspect.MISCONCEPTION),
        ("so 12 x 4 = 46 apples are left", {"task": "How many apples are left?"}, Aspect.MISCONCEPTION),
        ("i just added the denominators", {"task": "1/2 + 1/3?", "reply": "Not quite."}, Aspect.MISCONCEPTION),
        ("12", {"task": "How many apples are left?"}, None),
        ("my cat is called Minka", {}, None),
    ],
)  # fmt: skip
def test_work_is_quoted_with_its_aspect(text: str, more: dict[str, str], aspect: Aspect | None) -> None:
    found = quoted(text, **more)
    assert [memory.aspect for memory in found.memories if memory.aspect is not None] == ([aspect] if aspect else [])
    assert all(memory.content == text for memory in found.memories)
    assert all(memory.context == more.get("task", "") for memory in found.memories if memory.aspect is not None)


def test_observed_message_is_kept_whole() -> None:
    text = "Hey Mel! Good to see you! I adopted a guinea pig named Oscar last May. He is so sweet."
    (memory,) = quoted(text, observed=True, speaker="Caroline").memories
    assert memory.content.endswith("I adopted a guinea pig named Oscar last May. He is so sweet.")


def test_message_without_passes_forms_ledger_entries_only() -> None:
    found = quoted("I still owe Karim 5 euros for the cinema!", passes=0)
    assert (found.memories, [each.category for each in found.reminders]) == ((), [LedgerCategory.DEBT])


@given(st.text(max_size=200))
def test_content_is_a_verbatim_span(text: str) -> None:
    for memory in quoted(text).memories:
        assert memory.content == text[memory.start : memory.end]
        assert cleaned(memory.content)
