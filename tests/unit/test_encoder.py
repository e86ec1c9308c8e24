"""The encoder: what it tells of texts that nobody could mistake, and how spans are cut."""

from pathlib import Path

import numpy as np
import pytest

from graphmem.errors import SetupError, Unavailable
from graphmem.language.encoder import (
    Encoder,
    EncoderNetwork,
    encoder_network,
    named_spans,
    statement_tokens,
    token_marks,
)
from graphmem.language.heads import BORDERS, MESSAGE, NAMES
from graphmem.model import Matrix
from graphmem.text.embedder import shipped_network

Spans = list[tuple[int, int]]


def one_hot(labels: list[int], width: int) -> Matrix:
    return np.eye(width, dtype=np.float32)[labels] * 9


TEXT = "hi, mia's cat"
TOKENS: Spans = [(0, 0), (0, 2), (2, 3), (4, 7), (7, 8), (8, 9), (10, 13), (0, 0)]


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        ([0, 1, 0, 1, 2, 2, 2, 0], ["hi", "mia's cat"]),
        ([0, 2, 2, 2, 2, 2, 2, 0], ["hi, mia's cat"]),
        ([0, 1, 2, 2, 1, 2, 2, 0], ["hi, mia's cat"]),
        ([0, 0, 0, 0, 0, 0, 1, 0], ["cat"]),
        ([0, 0, 2, 0, 0, 0, 0, 0], []),
    ],
    ids=["two", "no begin", "begin inside a word", "rest outside", "mark alone"],
)
def test_statement_tokens(labels: list[int], wanted: list[str]) -> None:
    found = statement_tokens(TEXT, TOKENS, one_hot(labels, len(BORDERS)))
    assert [TEXT[TOKENS[first][0] : TOKENS[last][1]] for first, last in found] == wanted


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        ([0, 0, 0, 1, 0, 0, 0, 0], [("mia", "person")]),
        ([0, 0, 0, 1, 1, 1, 4, 0], [("mia", "person"), ("cat", "pet")]),
        ([0] * 8, []),
    ],
    ids=["one", "two kinds", "none"],
)
def test_named_spans(labels: list[int], wanted: list[tuple[str, str]]) -> None:
    found = named_spans(TEXT, TOKENS, one_hot(labels, len(NAMES)))
    assert [(TEXT[each.start : each.end], each.kind) for each in found] == wanted


def test_token_marks_of_capitals_and_lines() -> None:
    text = "Ok\nMIA"
    marks = token_marks(text, [(0, 0), (0, 2), (3, 6), (0, 0)])
    assert marks[0].tolist() == [0, 0, 0, 0, 0]
    assert marks[1].tolist() == [1, 0, 1, 1, 0]
    assert marks[2].tolist() == [1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("text", "head", "wanted"),
    [
        ("lol ok", "act", "reaction"),
        ("12 - 4 = 8 so she has 8 left", "kind", "concept"),
        ("I still owe my cousin ten euros", "ledger", "debt"),
        ("what did I tell you about my dog?", "asks", "memory"),
        ("ok", "weight", "nothing"),
        ("hello", "act", "greeting"),
    ],
)
def test_encoder_tells(text: str, head: str, wanted: str) -> None:
    assert encoder_network().analyse(text).scores.likely(head) == wanted


def test_encoder_scores_each_statement_by_itself() -> None:
    text = "my cat Biscuit ran away last night. I moved to Leeds and I'm allergic to peanuts"
    found = encoder_network().analyse(text)
    assert all(0 <= each.start < each.end <= len(text) for each in found.statements)
    assert len(found.statements) >= 2
    assert [each.start for each in found.statements] == sorted(each.start for each in found.statements)
    for each in found.statements:
        assert each.scores.chances("act").sum() == pytest.approx(1, abs=1e-4)
    assert found.statements[0].snr != found.statements[1].snr


@pytest.mark.parametrize("text", ["", "   ", "?!", "\ud83d", "x" * 9000, "你好"])
def test_encoder_reads_any_text(text: str) -> None:
    found = encoder_network().analyse(text)
    assert found.vector.shape == (384,)
    assert found.scores.logits.shape == (MESSAGE.width,)
    assert np.isfinite(found.scores.logits).all()
    assert text.strip(" ?!\ud83d") or (found.snr == 0 and not found.statements)


def test_encoder_weighs_what_is_disclosed() -> None:
    texts = ["ok thanks", "i like comics", "my grandpa passed away on sunday"]
    weights = [encoder_network().analyse(text).scores.expected("weight") for text in texts]
    assert weights == sorted(weights)
    assert weights[0] < 0.5
    assert weights[2] > 1.5


async def test_encoder_alone_or_beside_others_reads_the_same() -> None:
    encoder = Encoder()
    texts = ["i moved to Leeds", "my cat ran away", "i moved to Leeds"]
    one, other, again = await encoder.read(texts)
    assert np.array_equal(one.scores.logits, again.scores.logits)
    assert not np.array_equal(one.scores.logits, other.scores.logits)
    await encoder.aclose()
    with pytest.raises(Unavailable):
        await encoder.read(texts)


def test_encoder_keeps_the_vector() -> None:
    wanted = shipped_network(1).encode(["half of 8"])[0]
    assert np.array_equal(encoder_network().analyse("half of 8").vector, wanted)


def test_missing_weights_are_a_setup_error(tmp_path: Path) -> None:
    with pytest.raises(SetupError):
        EncoderNetwork(shipped_network(1), 1, tmp_path)
