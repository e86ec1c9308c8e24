"""Significance tests of the difference of two rates: chi-squared, McNemar, cluster bootstrap."""

from collections.abc import Sequence
from math import erfc, sqrt
from typing import NamedTuple

import numpy as np

from graphmem.errors import InvalidInput


class ChiSquared(NamedTuple):
    """A test statistic with one degree of freedom, and the chance of one at least as large where nothing differs."""

    statistic: float
    p: float


class Counted(NamedTuple):
    """Successes among trials in both arms, of things that belong together, e.g. the turns of one conversation."""

    hits_a: int
    trials_a: int
    hits_b: int
    trials_b: int


def chi_squared(hits_a: int, trials_a: int, hits_b: int, trials_b: int) -> ChiSquared:
    """Pearson's chi-squared test of two rates, one degree of freedom, without Yates' correction.

    Parameters
    ----------
    hits_a, hits_b : int >= 0       successes of each arm
    trials_a, trials_b : int >= 0   trials of each arm, at least as many

    Returns
    -------
    ChiSquared                      statistic >= 0 and p in [0, 1]; 0 and 1 where a margin of the table is empty, since
        then nothing can differ

    Raises
    ------
    InvalidInput                    more successes than trials, or fewer than none

    Notes
    -----
    It takes every trial for independent. Paired trials are better judged by `mcnemar`, and trials that belong together
    by `bootstrap_difference`.

    Source: spec 4; Pearson 1900. The tail of chi-squared with one degree of freedom is erfc(sqrt(x / 2)).

    Examples
    --------
    >>> found = chi_squared(60, 100, 45, 100)
    >>> round(found.statistic, 3), round(found.p, 4)
    (4.511, 0.0337)
    """
    if not (0 <= hits_a <= trials_a and 0 <= hits_b <= trials_b):
        raise InvalidInput(f"{hits_a} of {trials_a} and {hits_b} of {trials_b} are no shares: count hits among trials.")
    hits, trials = hits_a + hits_b, trials_a + trials_b
    margins = trials_a * trials_b * hits * (trials - hits)
    if margins == 0:
        return ChiSquared(0.0, 1.0)
    crossed = hits_a * (trials_b - hits_b) - hits_b * (trials_a - hits_a)
    statistic = trials * crossed**2 / margins
    return ChiSquared(statistic, erfc(sqrt(statistic / 2)))


def mcnemar(only_a: int, only_b: int) -> float:
    """McNemar's exact test of paired trials: the two-sided p of those that succeeded in one arm alone.

    Parameters
    ----------
    only_a, only_b : int >= 0       pairs that succeeded in the first, in the second arm alone

    Returns
    -------
    float in (0, 1]; 1 where no pair differs

    Raises
    ------
    InvalidInput                    a negative count

    Source: McNemar 1947; exact form: binomial test against one half.

    Examples
    --------
    >>> round(mcnemar(12, 3), 4), mcnemar(0, 0)
    (0.0352, 1.0)
    """
    if only_a < 0 or only_b < 0:
        raise InvalidInput("Pairs cannot be fewer than none: count those that succeeded in one arm alone.")
    differ = only_a + only_b
    ways = tail = 1
    for k in range(min(only_a, only_b)):
        ways = ways * (differ - k) // (k + 1)
        tail += ways
    return float(min(1.0, 2 * tail / 2**differ))


def bootstrap_difference(
    groups: Sequence[Counted], seed: int, *, resamples: int = 10_000, level: float = 0.95
) -> tuple[float, float]:
    """A confidence interval of rate a - rate b, by drawing whole groups again and again.

    Parameters
    ----------
    groups : at least one, with at least one trial in each arm altogether
    seed : int >= 0
    resamples : int >= 1, how often as many groups are drawn with replacement
    level : float in (0, 1), share of the resampled differences inside

    Returns
    -------
    (low, high), floats in [-1, 1]

    Raises
    ------
    InvalidInput                    there are no groups, or no trials in an arm

    Notes
    -----
    Both arms of a group are drawn together, so pairing counts, and so does what the trials of a group have in
    common. Percentile interval; the rare resample without any trial in an arm is left out.

    Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapters 8 and 13.

    Examples
    --------
    >>> low, high = bootstrap_difference([Counted(3, 4, 1, 4), Counted(2, 4, 2, 4), Counted(4, 4, 2, 4)], seed=7)
    >>> (low, high)
    (0.0, 0.5)
    """
    counts = np.array(groups, dtype=float).reshape(len(groups), 4)
    if not len(counts) or not counts[:, 1].sum() or not counts[:, 3].sum():
        raise InvalidInput("There is nothing to compare: at least one group with trials in both arms is needed.")
    draws = np.random.default_rng(seed).multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=resamples)
    hits_a, trials_a, hits_b, trials_b = (draws @ counts).T
    usable = (trials_a > 0) & (trials_b > 0)
    differences = hits_a[usable] / trials_a[usable] - hits_b[usable] / trials_b[usable]
    low, high = np.quantile(differences, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
