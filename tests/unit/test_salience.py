"""Salience: bounds, order, what it does without a conversation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.maths.salience import salience

SNR = st.integers(0, 1000)
FINAL = st.floats(0, 2)


@given(st.none() | FINAL, SNR)
def test_bounds(final: float | None, snr: int) -> None:
    assert 0 <= salience(final, snr) <= 1


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
