"""Arithmetic in a message: checked exactly, or left alone."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.text.quantities import equations


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("12 - 3 = 9", True),
        ("12-3=9.", True),
        ("So 12 − 3 = 8?", False),
        ("3 - 5 = -2", True),
        ("9 = 12 - 3", True),
        ("5--3 = 8", True),
        ("2 + 3 x 4 = 14", True),
        ("2 + 3 x 4 = 20", False),
        ("8 ÷ 2 · 4 = 16", True),
        ("$20.25 + $6.75 = $27", True),
        ("0.1 + 0.2 = 0.3", True),
        ("1/2 + 1/4 = 3/4", True),
        ("7 / 2 = 3.5 apples", True),
        ("1,500 - 180 = 1320", True),
        ("0.01 x 5 = $0.01", False),
    ],
)
def test_what_can_be_reckoned_is(text: str, holds: bool) -> None:
    (equation,) = equations(text)
    assert equation.holds is holds


@pytest.mark.parametrize(
    "text",
    [
        "x + 5 = 9",
        "x + 5 + 3 = 9",
        "2x = 4",
        "2 + 2 = 4x",
        "2 x (3 + 4) = 14",
        "(4 + 5) x 2 + 1 = 19",
        "2^3 + 1 = 9",
        "5! + 1 = 121",
        "3 x 8 = 4!",
        "10 / 3 = 3",
        "100 / 3 = 33.33",
        "1 + 2 = 3 + 4 = 7",
        "20% of 50 = 10",
        "5 + 5 = 10%",
        "1,5 + 1,5 = 3",
        "1,500 - 180 = 1300",
        "1 1/2 x 2 = 3",
        "in binary 1 + 1 = 10",
        "9 + 5 = 2 mod 12",
        "7 / 2 = 3 remainder 1",
        "5 / 0 = 0",
        "3 + 4 = 7 thousand",
        "12 = 12",
        "about 3 + 4 = 8",
    ],
)
def test_what_leaves_room_for_doubt_is_left_alone(text: str) -> None:
    assert equations(text) == []


@given(st.integers(0, 9999), st.integers(0, 9999), st.integers(-3, 3), st.sampled_from("+-x"))
def test_a_sum_holds_exactly_when_it_is_right(a: int, b: int, error: int, operator: str) -> None:
    value = {"+": a + b, "-": a - b, "x": a * b}[operator]
    (equation,) = equations(f"I did {a} {operator} {b} = {value + error}, see?")
    assert equation.holds is (error == 0)


@given(st.integers(1, 999), st.integers(1, 999), st.integers(1, 99))
def test_a_true_quotient_is_never_called_wrong(a: int, b: int, digits: int) -> None:
    rounded = round(float(Fraction(a, b)), digits % 5)
    assert all(equation.holds for equation in equations(f"{a} / {b} = {rounded}"))


@given(st.text(alphabet="0123456789+-*/x=.,$%() a", max_size=200))
def test_any_mixture_of_signs_is_survived(text: str) -> None:
    for equation in equations(text):
        assert "=" in equation.text


@pytest.mark.parametrize("text", ["1+" * 16_000, "1 - " * 8_000, "=" * 32_000, "1 + 1 = 2 " * 3_200, "-1" * 16_000])
def test_long_messages_end(text: str) -> None:
    assert len(equations(text)) <= 1_000
