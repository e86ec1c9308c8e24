"""Numbers by their value, and what parts two texts (spec 4, 7)."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.text.doc import Doc
from graphmem.text.embedder import ShippedNetwork
from graphmem.text.pairs import Compared, are_alike, pair_feature_names, pair_features
from graphmem.text.quantities import equal_values, quantities


@pytest.fixture(scope="module")
def compared():  # type: ignore[no-untyped-def]
    encode = ShippedNetwork(1).encode
    return lambda text: Compared(Doc(text), encode([text])[0])


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("one and a half", [Fraction(3, 2)]),
        ("two and three quarters", [Fraction(11, 4)]),
        ("two thirds of twenty five", [Fraction(2, 3), Fraction(25)]),
        ("twelve hundred and five", [Fraction(1205)]),
        ("one hundred and twenty-five thousand", [Fraction(125_000)]),
        ("the First World War began in nineteen fourteen", [Fraction(1914)]),
        ("one two three", [Fraction(1), Fraction(2), Fraction(3)]),
        ("2 1/2 cups, ½ a cup and .5", [Fraction(5, 2), Fraction(1, 2), Fraction(1, 2)]),
        ("x = -4, but 3 - 2 is 1", [Fraction(-4), Fraction(3), Fraction(2), Fraction(1)]),
        ("1/0 and no number", []),
    ],
)
def test_numbers_are_read_however_they_are_written(text: str, values: list[Fraction]) -> None:
    assert [number.value for number in quantities(text)] == values


def test_the_last_of_an_equation_is_its_result() -> None:
    assert [str(q.value) for q in quantities("5 x 3 = 15 + 2 = 17, so 17 in all") if q.result] == ["17"]


def test_a_percentage_is_also_its_share() -> None:
    (percent,), (share,), (plain,) = quantities("50 percent"), quantities("a half"), quantities("50")
    assert equal_values(percent, share)
    assert equal_values(percent, plain)
    assert not equal_values(share, plain)


@given(st.text(max_size=200))
def test_any_text_has_numbers_or_none(text: str) -> None:
    assert all(0 <= number.start < max(1, len(text.lower())) for number in quantities(text))


@given(st.text(max_size=120), st.text(max_size=120), st.text(max_size=120))
def test_features_are_finite_for_any_texts(before: str, one: str, other: str) -> None:
    vector = np.full(4, 0.5, dtype=np.float32)
    row = pair_features(*(Compared(Doc(text), vector) for text in (before, one, other)))
    assert row.shape == (len(pair_feature_names()),)
    assert np.isfinite(row).all()


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Tobi is allergic to peanuts.", "Tobi is allergic to peanuts", True),
        ("Ada has a maths test on 12 March.", "Ada has a maths test on the 12th of March.", True),
        ("Mei hates decimals.", "Mei does not hate decimals any more.", False),
        ("The rope is 1/2 a metre long.", "The rope is 0.5 metres long.", True),
        ("$99 + $5 = $104", "$99 - $5 = $94", False),
        ("Ada lives in Rome with her aunt and a cat.", "Ada lives in Paris with her aunt and a cat.", False),
        ("Ada lives in Rome.", "Mo plays football on Sundays.", False),
    ],
)
def test_two_statements(compared, one: str, other: str, expected: bool) -> None:  # type: ignore[no-untyped-def]
    assert are_alike(compared(one), compared(other)) is expected
    assert are_alike(compared(other), compared(one)) is expected
