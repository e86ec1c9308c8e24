"""Signs of danger: the reply and the ledger go by the same ones, and by nothing that only sounds like them."""

import json
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import pytest

from graphmem.model import Author, Heard, LedgerCategory, Message, Remembered
from graphmem.offline.replies import WORDINGS, chosen_move, worded
from graphmem.text.dialogue_acts import Act, act_of
from graphmem.text.doc import Doc
from graphmem.text.ledger_cues import reminders
from graphmem.text.safety import is_danger

AT = datetime(2026, 1, 1, tzinfo=UTC)
ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "safety_labelled.jsonl").read_text("utf-8").splitlines()
]


def reply(text: str) -> str:
    said = [Message(Author.STUDENT, text, AT)]
    return worded(chosen_move(said), said, Remembered())


def threats(text: str) -> list[str]:
    return [each.content for each in reminders(Heard(text, AT)) if each.category is LedgerCategory.THREAT]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["text"])
def test_reply_and_ledger_agree_on_each_labelled_row(row: dict[str, str | bool]) -> None:
    text = str(row["text"])
    assert is_danger(Doc(text)) is row["danger"]
    assert bool(threats(text)) is row["danger"]
    assert (act_of(Doc(text)) is Act.DISTRESS) is row["danger"]
    assert (reply(text) in WORDINGS["distress"]) is row["danger"]


def test_danger_at_the_end_of_a_long_message_counts() -> None:
    text = "and then we went home. " * 500 + "I want to end it all."
    assert act_of(Doc(text)) is Act.DISTRESS
    assert threats(text) == ["I want to end it all."]


@pytest.mark.parametrize("word", ["I ", "me ", "he said ", "wants ", "took a ", "my "])
def test_the_longest_message_is_read_in_time(word: str) -> None:
    text = (word * 32_000)[:32_000]
    start = perf_counter()
    is_danger(Doc(text))
    assert perf_counter() - start < 2.0
