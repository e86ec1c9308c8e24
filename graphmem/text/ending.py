"""The chance that of two statements of one person the older holds no longer, learned from labelled pairs (spec 12).

Made by `scripts/make_ending.py`; its figures stand beside it.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphmem.maths.chances import logistic
from graphmem.text.trained import opened_weights

ENDING_FOLDER = Path(__file__).with_name("weights") / "ending"
ENDING_FILE = ENDING_FOLDER / "ending.npz"


@dataclass(frozen=True)
class EndingModel:
    """Logistic regression on what parts two statements and on their vectors; `load_ending` gives one.

    weights, mean, scale : of shape (n,)
    """

    weights: NDArray[np.float64] = field(repr=False)
    mean: NDArray[np.float64] = field(repr=False)
    scale: NDArray[np.float64] = field(repr=False)
    bias: float

    def chance(self, features: NDArray[np.float64]) -> float:
        """The chance that the older statement holds no longer.

        Parameters
        ----------
        features : float array of shape (n,), as `graphmem.text.revision.revision_features` makes them

        Returns
        -------
        float in [0, 1]
        """
        return logistic(float(self.weights @ ((features - self.mean) * self.scale)) + self.bias)


@lru_cache(maxsize=1)
def load_ending(path: Path = ENDING_FILE) -> EndingModel:
    """Read the weights, once a process.

    Raises
    ------
    SetupError      the file is missing or damaged
    """
    with opened_weights(path) as file:
        arrays = {name: file[name].astype(np.float64) for name in ("weights", "mean", "scale")}
        return EndingModel(**arrays, bias=float(file["bias"]))
