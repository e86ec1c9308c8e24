"""Significance: values of the literature, bounds, symmetry, what the interval covers."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.bench.scores import chi_squared, mcnemar
from graphmem.errors import InvalidInput

ARM = st.integers(0, 500).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials)))


def test_chi_squared_against_expected_counts() -> None:
    """The same table, cell by cell: (observed - expected) ** 2 / expected."""
    observed = np.array([[43, 9], [44, 4]])
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / observed.sum()
    statistic, p = chi_squared(43, 52, 44, 48)
    assert statistic == pytest.approx(((observed - expected) ** 2 / expected).sum())
    # A table of critical values: 3.841 at 5 %, 6.635 at 1 %.
    assert p == pytest.approx(0.182, abs=0.001)


@pytest.mark.parametrize(("critical", "p"), [(3.841, 0.05), (6.635, 0.01), (10.828, 0.001)])
def test_the_tail_is_that_of_the_printed_tables(critical: float, p: float) -> None:
    # Of two arms of n with n/2 + d and n/2 - d hits the statistic is 8 d ** 2 / n.
    n = 10_000_000
    d = round((critical * n / 8) ** 0.5)
    assert chi_squared(n // 2 + d, n, n // 2 - d, n)[1] == pytest.approx(p, rel=0.01)


@given(ARM, ARM)
def test_chi_squared_is_bounded_and_the_same_either_way(a: tuple[int, int], b: tuple[int, int]) -> None:
    statistic, p = chi_squared(*a, *b)
    assert (statistic, p) == pytest.approx(chi_squared(*b, *a))
    assert statistic >= 0
    assert 0 <= p <= 1


@pytest.mark.parametrize("table", [(0, 10, 0, 20), (10, 10, 20, 20), (0, 0, 3, 5)])
def test_where_nothing_can_differ_nothing_does(table: tuple[int, int, int, int]) -> None:
    assert chi_squared(*table) == (0.0, 1.0)


@pytest.mark.parametrize("table", [(5, 4, 1, 2), (-1, 4, 1, 2), (1, 4, 3, 2)])
def test_more_hits_than_trials_are_refused(table: tuple[int, int, int, int]) -> None:
    with pytest.raises(InvalidInput, match="no shares"):
        chi_squared(*table)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_twice_the_binomial_tail(a: int, b: int) -> None:
    p = mcnemar(a, b)
    assert p == mcnemar(b, a)
    assert 0 < p <= 1
    assert p == pytest.approx(min(1.0, 2 * sum(comb(a + b, k) for k in range(min(a, b) + 1)) / 2 ** (a + b)))


def test_mcnemar_of_few_and_of_very_many_pairs() -> None:
    assert mcnemar(5, 0) == pytest.approx(2 / 32)
    assert mcnemar(3_000, 3_000) == 1.0
    assert 0 < mcnemar(3_000, 2_500) < 1e-9
    with pytest.raises(InvalidInput):
        mcnemar(-1, 0)
