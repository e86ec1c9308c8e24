"""Kinds of talk: the weights, the figures beside them, and turns that were not learned from."""

import json
from pathlib import Path

import pytest

from graphmem.bench.talks import is_held_out
from graphmem.text.doc import Doc
from graphmem.text.reader import read_now
from graphmem.text.talk import TALK_FILE, TALK_SURE, TalkKind, load_talk, talk_of

WRITTEN = Path(__file__).parents[2] / "scripts" / "data" / "talk_acts.jsonl"
PLAIN = (
    ("my dog ran away", TalkKind.OWN),
    ("he eats carrots all day", TalkKind.STORY),
    ("it rained the whole time", TalkKind.STORY),
    ("messi is better than ronaldo", TalkKind.OPINION),
    ("your welcome", TalkKind.REACTION),
    ("that's not funny", TalkKind.REACTION),
    ("how are you", TalkKind.COMPANION),
    ("whats ur favourite colour", TalkKind.COMPANION),
    ("what can you do?", TalkKind.ABILITY),
    ("who made you", TalkKind.ABILITY),
    ("tell me a joke", TalkKind.REQUEST),
    ("quiz me on capitals", TalkKind.REQUEST),
    ("who is Maria?", TalkKind.QUESTION),
    ("what's the capital of France?", TalkKind.QUESTION),
    ("3/4 + 1/2 = 4/6", TalkKind.WORK),
    ("I multiplied by 3", TalkKind.WORK),
    ("hello my tutor!!", TalkKind.GREETING),
    ("bye, see you on tuesday", TalkKind.GOODBYE),
    ("thank you for all your help today", TalkKind.THANKS),
)


def rows() -> list[tuple[str, str]]:
    """Written turns and their kinds."""
    return [(each["text"], each["talk"]) for each in map(json.loads, WRITTEN.read_text("utf-8").splitlines())]


@pytest.mark.parametrize(("text", "kind"), PLAIN)
def test_plain_turns_are_told(text: str, kind: TalkKind) -> None:
    (reading,) = read_now([text])
    told, chance = talk_of(Doc(text), reading)
    assert told is kind
    assert 1 / len(TalkKind) < chance <= 1


def test_none_of_them_was_learned_from() -> None:
    assert not {text for text, _ in rows()} & {text for text, _ in PLAIN}


def test_the_model_tells_every_kind() -> None:
    assert set(load_talk().labels) == {kind.value for kind in TalkKind} == {kind for _, kind in rows()}


def test_the_figures_are_those_of_the_weights() -> None:
    figures = json.loads(TALK_FILE.with_suffix(".json").read_text("utf-8"))
    assert figures["sure_from"] == TALK_SURE
    held = [row for row in rows() if is_held_out(row[0])]
    told = [
        talk_of(Doc(text), reading)[0].value
        for (text, _), reading in zip(held, read_now([t for t, _ in held]), strict=True)
    ]
    right = sum(kind == wanted for kind, (_, wanted) in zip(told, held, strict=True)) / len(held)
    # A few written turns are left out of the figures: students said the same in talk that was learned from.
    assert right == pytest.approx(figures["held_out"]["written"]["right"], abs=0.01)
