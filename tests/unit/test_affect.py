"""The sense of affect: direction, bounds, odd texts, wrong vectors, damaged files."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import InvalidInput, SetupError
from graphmem.text.affect import AFFECT_BUCKETS, AffectModel, affect_buckets, load_affect, surface
from graphmem.text.doc import Doc
from graphmem.text.embedder import Encode, ShippedNetwork


@pytest.fixture(scope="module")
def affect() -> AffectModel:
    return load_affect()


@pytest.fixture(scope="module")
def encode() -> Encode:
    return ShippedNetwork(1).encode


@pytest.mark.parametrize(
    ("pleasant", "unpleasant"),
    [
        ("I love fractions, they are so much fun!", "I hate fractions, they make me feel stupid."),
        ("I passed the test, I'm so happy!", "I failed the test again and I want to cry."),
        ("My grandmother baked us a lovely cake.", "My grandmother died last night."),
        ("Thank you, now I understand it.", "This is horrible, I don't understand a thing."),
    ],
)
def test_valence_direction(affect: AffectModel, encode: Encode, pleasant: str, unpleasant: str) -> None:
    high, low = (affect.valence(Doc(text), encode([text])[0]) for text in (pleasant, unpleasant))
    assert high > low + 0.1
    assert high > 0 > low


def test_arousal_direction(affect: AffectModel, encode: Encode) -> None:
    texts = ["Oh my God, run, the house is on fire!!!", "The committee will meet on the second Tuesday of the month."]
    excited, calm = (affect.arousal(Doc(text), encode([text])[0]) for text in texts)
    assert excited > calm + 0.05


def test_vector_adds_what_the_words_do_not_say(affect: AffectModel, encode: Encode) -> None:
    # Words that the ratings never held: only their meaning can tell.
    texts = ["Kindergartners giggled ecstatically.", "Hemorrhaging casualties asphyxiated."]
    good, bad = (affect.valence(Doc(text), encode([text])[0]) for text in texts)
    assert good > bad + 0.2


@given(st.text(), st.integers(0, 2**32 - 1))
def test_bounds_for_any_text_and_vector(affect: AffectModel, text: str, seed: int) -> None:
    vector = np.random.default_rng(seed).normal(size=384).astype(np.float32) * 100
    for given_vector in (vector, None):
        assert -1 <= affect.valence(Doc(text), given_vector) <= 1
        assert 0 <= affect.arousal(Doc(text), given_vector) <= 1


def test_extremes_reach_the_bounds(affect: AffectModel) -> None:
    vector = affect.valence_full.vector * 1000
    assert affect.valence(Doc(""), vector) == 1
    assert affect.valence(Doc(""), -vector) == -1


def test_same_text_same_affect(affect: AffectModel) -> None:
    assert affect.valence(Doc("What a day!"), None) == load_affect().valence(Doc("What a day!"), None)


@pytest.mark.parametrize("shape", [(383,), (768,), (1, 384), (0,)])
def test_vector_of_another_model(affect: AffectModel, shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match="pass None"):
        affect.valence(Doc("text"), np.zeros(shape, dtype=np.float32))
    with pytest.raises(InvalidInput, match="pass None"):
        affect.arousal(Doc("text"), np.zeros(shape, dtype=np.float32))


def test_words_after_a_negation_are_others() -> None:
    plain, negated = set(affect_buckets(Doc("good"))), set(affect_buckets(Doc("not good")))
    assert not plain & negated
    assert set(affect_buckets(Doc("don't ever be so good"))) >= plain
    assert set(affect_buckets(Doc("don’t like"))) == set(affect_buckets(Doc("don't like")))


@given(st.text())
def test_features_of_any_text(text: str) -> None:
    buckets = affect_buckets(Doc(text))
    assert len(set(buckets)) == len(buckets)
    assert all(0 <= bucket < AFFECT_BUCKETS for bucket in buckets)
    assert np.isfinite(surface(text)).all()


def test_load_affect_damaged_or_missing(tmp_path: Path) -> None:
    damaged = tmp_path / "affect.npz"
    damaged.write_bytes(b"PK\x03\x04 not really")
    for path in (damaged, tmp_path / "missing.npz"):
        with pytest.raises(SetupError, match="install graphmem again"):
            load_affect(path)
    np.savez(damaged, other=np.zeros(3))
    with pytest.raises(SetupError, match="install graphmem again"):
        load_affect(damaged)
