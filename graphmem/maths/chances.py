"""Scores told as chances."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Real = TypeVar("Real", np.float32, np.float64)


def softmax(scores: NDArray[Real]) -> NDArray[Real]:
    """Chances that sum to 1 along the last axis.

    Parameters
    ----------
    scores : float array of shape (..., classes), each the logarithm of a weight

    Examples
    --------
    >>> softmax(np.log(np.array([[1.0, 3.0], [5.0, 5.0]]))).round(2).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    chances: NDArray[Real] = powers / powers.sum(axis=-1, keepdims=True)
    return chances


def logistic(score: float) -> float:
    """Chance whose log-odds are the score.

    Examples
    --------
    >>> logistic(0.0), round(logistic(2.0), 2)
    (0.5, 0.88)
    """
    return float(1 / (1 + np.exp(-score)))
