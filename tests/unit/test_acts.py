"""Dialogue acts: turns that were not learned from."""

import json
from pathlib import Path

import pytest

from graphmem.language.encoder import read_now

WRITTEN = Path(__file__).parents[2] / "scripts" / "data" / "talk_acts.jsonl"
PLAIN = (
    ("my dog ran away", "own"),
    ("he eats carrots all day", "story"),
    ("it rained the whole time", "story"),
    ("messi is better than ronaldo", "opinion"),
    ("your welcome", "reaction"),
    ("that's not funny", "reaction"),
    ("how are you", "companion"),
    ("whats ur favourite colour", "companion"),
    ("what can you do?", "ability"),
    ("who made you", "ability"),
    ("tell me a joke", "request"),
    ("quiz me on capitals", "request"),
    ("who is Maria?", "question"),
    ("what's the capital of France?", "question"),
    ("3/4 + 1/2 = 4/6", "work"),
    ("I multiplied by 3", "work"),
    ("hello my tutor!!", "greeting"),
    ("bye, see you on tuesday", "goodbye"),
    ("thank you for all your help today", "thanks"),
)


@pytest.mark.parametrize(("text", "act"), PLAIN)
def test_act_of_plain_turns(text: str, act: str) -> None:
    (reading,) = read_now([text])
    assert reading.scores.likely("act") == act


def test_none_of_them_was_learned_from() -> None:
    rows = map(json.loads, WRITTEN.read_text("utf-8").splitlines())
    assert not {row["text"] for row in rows} & {text for text, _ in PLAIN}
