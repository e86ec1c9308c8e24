"""Salience: bounds, order, what it does without a conversation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.maths.importance import reconsidered, salience
from graphmem.text.doc import information

SNR = st.integers(0, 1000)
FINAL = st.floats(0, 2)
ASKED = st.none() | st.floats(0, 1)


@given(st.none() | FINAL, SNR, ASKED)
def test_bounds(final: float | None, snr: int, asked: float | None) -> None:
    assert 0 <= salience(final, snr, asked) <= 1


@given(FINAL, FINAL, SNR, st.floats(0, 1))
def test_judged_anew_it_is_what_it_would_have_been(before: float, final: float, snr: int, asked: float) -> None:
    assert reconsidered(salience(before, snr, asked), before, final) == pytest.approx(salience(final, snr, asked))


@given(st.text())
def test_information_is_a_chance(text: str) -> None:
    assert 0 < information(text) < 1


def test_names_numbers_and_dates_tell_more_and_questions_less() -> None:
    plain = information("I went to the big museum")
    assert plain < information("I went to the big museum with Ottilie")
    assert plain < information("I went to the big museum at 7")
    assert plain < information("I went to the big museum yesterday")
    assert information("Did you go to the big museum?") < plain


@given(FINAL, FINAL, SNR, SNR)
def test_never_falls(a: float, b: float, c: int, d: int) -> None:
    assert salience(min(a, b), min(c, d)) <= salience(max(a, b), max(c, d))
    assert salience(None, min(c, d)) <= salience(None, max(c, d))


@given(SNR, SNR)
def test_information_decides_where_it_differs_much(a: int, b: int) -> None:
    low, high = sorted((a, b))
    if high - low > 250:
        assert salience(2.0, low) < salience(0.0, high)


def test_importance_decides_between_equals_and_is_capped() -> None:
    assert salience(0.2, 300) < salience(0.8, 300) < salience(1.0, 300) == salience(2.0, 300)


@pytest.mark.parametrize(("snr", "expected"), [(0, 0.0), (250, 0.5), (1000, 1.0)])
def test_without_a_conversation_information_alone(snr: int, expected: float) -> None:
    assert salience(None, snr) == pytest.approx(expected)


def test_extremes() -> None:
    assert salience(0.0, 0) == 0
    assert salience(1.0, 1000) == 1
