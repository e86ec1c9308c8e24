"""Scores as probabilities."""

from typing import Any, TypeVar, overload

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


@overload
def logistic(scores: float) -> float: ...


@overload
def logistic(scores: NDArray[Real]) -> NDArray[Real]: ...


def logistic(scores: Any) -> Any:
    """Chances whose log-odds are the scores, whatever their size.

    Parameters
    ----------
    scores : float, or float array of any shape

    Examples
    --------
    >>> logistic(0.0), round(logistic(2.0), 2), logistic(np.array([-1000.0, 0.0])).tolist()
    (0.5, 0.88, [0.0, 0.5])
    """
    # Unlike 1 / (1 + exp(-x)) this does not overflow.
    chances = np.exp(-np.logaddexp(0.0, -scores))
    return float(chances) if np.ndim(chances) == 0 else chances
