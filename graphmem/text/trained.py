"""Files of weights that the scripts train, and the linear model that several of them hold."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from graphmem.errors import SetupError
from graphmem.maths.chances import softmax


@contextmanager
def opened_weights(path: Path) -> Iterator[NpzFile]:
    """Arrays of a file of weights, by name, to be read inside the `with` block.

    Raises
    ------
    SetupError      the file is missing or damaged, or lacks an array that the block asks for
    """
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            yield file
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise SetupError(f"The weights in {path} cannot be loaded ({error}): install graphmem again.") from error


@dataclass(frozen=True)
class LinearHead:
    """Multinomial logistic regression: weights of shape (classes, features) and a bias of each class.

    Examples
    --------
    >>> head = LinearHead(("no", "yes"), np.array([[0.0], [2.0]], dtype=np.float32), np.zeros(2, dtype=np.float32))
    >>> [round(float(chance), 2) for chance in head.chances(np.ones(1, dtype=np.float32))]
    [0.12, 0.88]
    """

    labels: tuple[str, ...]
    weights: NDArray[np.float32] = field(repr=False)
    bias: NDArray[np.float32] = field(repr=False)

    def chances(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Chances of the labels, which sum to 1 along the last axis.

        Parameters
        ----------
        features : float array of shape (..., features)
        """
        return softmax(features @ self.weights.T + self.bias)


def read_head(file: NpzFile, name: str) -> LinearHead:
    """The head of this name in an open file of weights."""
    labels, weights, bias = (file[f"{name}_{part}"] for part in ("labels", "weights", "bias"))
    return LinearHead(tuple(map(str, labels)), weights.astype(np.float32), bias.astype(np.float32))
