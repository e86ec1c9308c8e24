"""Wishes about style and pace, told from orders that a student may not give, learned from written rows (spec 8).

Made by `scripts/make_wish.py`; its figures stand beside the weights.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphmem.maths.chances import logistic
from graphmem.model import Vector
from graphmem.text.trained import opened_weights

WISH_FOLDER = Path(__file__).with_name("weights") / "wish"
WISH_FILE = WISH_FOLDER / "wish.npz"
WISH_FROM = 0.55
"""Chance from which an instruction of a student is a wish about style and pace."""


@dataclass(frozen=True)
class WishModel:
    """Logistic regression on the vector of a sentence by the shipped model; `load_wishes` gives one.

    weights : of shape (384,)
    """

    weights: NDArray[np.float64] = field(repr=False)
    bias: float

    def chance(self, vector: Vector) -> float:
        """The chance that an instruction is about style and pace: how to explain, how to talk, what to call somebody.

        Others change duties, marks, what others said or the service's own rules.

        Parameters
        ----------
        vector : float array of shape (384,), of length 1

        Returns
        -------
        float in [0, 1]
        """
        return logistic(float(self.weights @ vector) + self.bias)


@lru_cache(maxsize=1)
def load_wishes(path: Path = WISH_FILE) -> WishModel:
    """Read the weights, once a process.

    Raises
    ------
    SetupError      the file is missing or damaged
    """
    with opened_weights(path) as file:
        return WishModel(file["weights"].astype(np.float64), float(file["bias"]))
