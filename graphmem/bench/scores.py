"""Scores of guesses: of scores and classes, of rates that are compared, and of the segmentation of conversations.

A segmentation of n turns is a 0/1 sequence of length n: 1 where a new episode begins with that turn. A boundary lies
between two turns, so the first value is not looked at.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, chi2_contingency
from sklearn.metrics import f1_score, roc_auc_score

from graphmem.bench import Figures
from graphmem.errors import InvalidInput
from graphmem.model import Matrix

Boundaries = Sequence[int] | NDArray[np.int64] | NDArray[np.bool_]


Signal = NDArray[np.float64]
"""One number a turn, of shape (n,); larger where a boundary is likelier, 0 for the first turn."""


RESAMPLES = 2_000


TILING_BLOCK = 2
"""Turns on either side that TextTiling compares."""


NARROWEST = 2
"""With a window of one turn Pk and WindowDiff would forgive nothing, and be the plain error rate."""


def shares(counts: Mapping[str, int], table: Mapping[str, tuple[str, str]]) -> Figures:
    """Compute shares by name, each of a part and its whole; 0 of nothing.

    Examples
    --------
    >>> shares({"right": 1, "asked": 4}, {"answered": ("right", "asked"), "noticed": ("seen", "changes")})
    {'answered': 0.25, 'noticed': 0.0}
    """
    return {name: counts.get(part, 0) / max(1, counts.get(whole, 0)) for name, (part, whole) in table.items()}


def auroc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Compute the chance that a true row has a higher score than a false one, ties half.

    Examples
    --------
    >>> auroc([0.9, 0.8, 0.3, 0.3], [True, False, True, False])
    0.625
    """
    return float(roc_auc_score(labels, scores))


def macro_f1(pairs: Sequence[tuple[object, object]], classes: Sequence[object] = ()) -> float:
    """Compute the mean of F1 over classes, without any over the true ones, of pairs (truth, guess).

    Examples
    --------
    >>> round(macro_f1([("a", "a"), ("a", "b"), ("b", "b")]), 4)
    0.6667
    """
    if not pairs:
        return 0.0
    truth, guesses = ([str(each) for each in side] for side in zip(*pairs, strict=True))
    labels = [str(each) for each in classes] or sorted(set(truth))
    return float(f1_score(truth, guesses, labels=labels, average="macro", zero_division=0.0))


def interval(name: str, values: NDArray[np.float64]) -> Figures:
    """Compute the 95 % interval of a mean, by resampling.

    Parameters
    ----------
    name : str, of the figures `NAME_low` and `NAME_high`
    values : float array of shape (n,)
    """
    chance = np.random.default_rng(0)
    means = values[chance.integers(0, len(values), (RESAMPLES, len(values)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return {f"{name}_low": float(low), f"{name}_high": float(high)}


def chi_squared(hits_a: int, trials_a: int, hits_b: int, trials_b: int) -> tuple[float, float]:
    """Compute Pearson's chi-squared test of two rates, one degree of freedom, without Yates' correction.

    Returns
    -------
    statistic >= 0 and p in [0, 1]; 0 and 1 where a margin of the table is empty, since then nothing can differ

    Raises
    ------
    InvalidInput                    more successes than trials, or fewer than none

    Source: spec 4; Pearson 1900.

    Examples
    --------
    >>> statistic, p = chi_squared(60, 100, 45, 100)
    >>> round(statistic, 3), round(p, 4)
    (4.511, 0.0337)
    """
    if not (0 <= hits_a <= trials_a and 0 <= hits_b <= trials_b):
        raise InvalidInput(f"{hits_a} of {trials_a} and {hits_b} of {trials_b} are no shares: count hits among trials.")
    table = np.array([[hits_a, trials_a - hits_a], [hits_b, trials_b - hits_b]])
    if not (table.sum(axis=0).all() and table.sum(axis=1).all()):
        return 0.0, 1.0
    found = chi2_contingency(table, correction=False)
    return float(found.statistic), float(found.pvalue)


def mcnemar(only_a: int, only_b: int) -> float:
    """Compute the exact two-sided p of paired trials that succeeded in one arm alone; 1 where no pair differs.

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
    return float(binomtest(min(only_a, only_b), only_a + only_b).pvalue) if only_a + only_b else 1.0


def exact(gold: Sequence[Boundaries], found: Sequence[Boundaries]) -> tuple[float, float, float]:
    """Compute precision, recall and F1 of boundaries over several talks, counted together.

    Raises
    ------
    InvalidInput                        lengths differ

    Source: spec 5, Measured by.

    Examples
    --------
    >>> exact([[0, 0, 1, 0, 1]], [[0, 0, 1, 1, 0]])
    (0.5, 0.5, 0.5)
    """
    if len(gold) != len(found):
        raise InvalidInput(f"{len(gold)} talks cannot be compared with {len(found)}: give one guess a talk.")
    pairs = [_as_arrays(g, f) for g, f in zip(gold, found, strict=True)]
    right = sum(int((g & f).sum()) for g, f in pairs)
    if right == 0:
        return 0.0, 0.0, 0.0
    wanted, guessed = (sum(int(pair[side].sum()) for pair in pairs) for side in (0, 1))
    return right / guessed, right / wanted, 2 * right / (wanted + guessed)


def metric_window(gold: Boundaries) -> int:
    """Return the turns that Pk and WindowDiff look across: half the mean length of the gold segments, at least 2.

    Examples
    --------
    >>> metric_window([0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]), metric_window([0, 1, 1])
    (3, 2)
    """
    segments = 1 + int(np.sum(np.asarray(gold[1:], dtype=bool)))
    return max(NARROWEST, round(len(gold) / (2 * segments)))


def pk(gold: Boundaries, found: Boundaries) -> float:
    """Compute the share of pairs of turns a window apart of which a guess wrongly says whether a boundary parts them.

    Returns
    -------
    float in [0, 1]; 0 is perfect, also for talks too short to hold a pair

    Source: Beeferman, Berger and Lafferty 1999, Statistical models for text segmentation.

    Examples
    --------
    >>> pk([0, 0, 0, 1, 0, 0], [0, 0, 0, 1, 0, 0]), pk([0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0])
    (0.0, 0.5)
    """
    return _windowed(gold, found, lambda a, b: (a > 0) != (b > 0))


def windowdiff(gold: Boundaries, found: Boundaries) -> float:
    """Compute the share of windows in which a guess has another number of boundaries; never below `pk`.

    Source: Pevzner and Hearst 2002, A critique and improvement of an evaluation metric for text segmentation.

    Examples
    --------
    >>> two, one = [0, 0, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    >>> pk(two, one), windowdiff(two, one)
    (0.125, 0.25)
    """
    return _windowed(gold, found, lambda a, b: a != b)


def depths(vectors: Matrix) -> Signal:
    """Compute TextTiling's depth scores between blocks of two turns; they see the whole talk.

    Parameters
    ----------
    vectors : float32 array of shape (n, d)

    Returns
    -------
    float array of shape (n,), each >= 0: how far likeness falls there from the peaks left and right of it

    Source: Hearst 1997, TextTiling: segmenting text into multi-paragraph subtopic passages.

    Examples
    --------
    >>> depths(np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32)).round(2).tolist()
    [0.0, 0.0, 1.41, 0.0]
    """
    turns = len(vectors)
    alike = [
        _block_cosine(vectors[max(0, i - TILING_BLOCK) : i], vectors[i : i + TILING_BLOCK]) for i in range(1, turns)
    ]
    values = [_peak(alike[i::-1]) + _peak(alike[i:]) - 2 * alike[i] for i in range(len(alike))]
    return np.array([0.0, *values][:turns])


def above_mean(signal: Signal, deviations: float = 2.0) -> NDArray[np.bool_]:
    """Find boundaries where a signal exceeds its own mean in this talk by so many standard deviations.

    Examples
    --------
    >>> above_mean(np.array([0.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.9])).tolist()
    [False, False, False, False, False, False, True]
    """
    found = np.zeros(len(signal), dtype=bool)
    if len(signal) > 1:
        rest = np.asarray(signal[1:], dtype=np.float64)
        found[1:] = rest > rest.mean() + deviations * rest.std()
    return found


def _as_arrays(gold: Boundaries, found: Boundaries) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    if len(gold) != len(found):
        raise InvalidInput(f"A talk of {len(gold)} turns cannot be compared with a guess about {len(found)}.")
    return np.asarray(gold[1:], dtype=bool), np.asarray(found[1:], dtype=bool)


def _windowed(
    gold: Boundaries, found: Boundaries, differ: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]
) -> float:
    """Return the share of windows in which the two numbers of boundaries differ, in one sense or another."""
    size = metric_window(gold)
    counts = [np.cumsum([0, *each]) for each in _as_arrays(gold, found)]
    if len(counts[0]) <= size:
        return 0.0
    between = [count[size:] - count[:-size] for count in counts]
    return float(np.mean(differ(between[0], between[1])))


def _block_cosine(left: Matrix, right: Matrix) -> float:
    a, b = left.sum(axis=0), right.sum(axis=0)
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 0.0


def _peak(values: Sequence[float]) -> float:
    """Return the first value, or the highest that is reached from it without going down."""
    highest = values[0]
    for value in values[1:]:
        if value < highest:
            break
        highest = value
    return highest
