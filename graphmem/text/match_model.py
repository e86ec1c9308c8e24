"""The chance that a prediction came true in substance, by a small forest over what parts two messages (spec 4).

Made by `scripts/train/match.py` from pairs of a predicted and a real student message; its figures stand beside it.
"""

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import SetupError
from graphmem.text.pairs import Compared, pair_feature_names, pair_features
from graphmem.text.trained import opened_weights

MATCH_FOLDER = Path(__file__).with_name("weights") / "match"
MATCH_FILE = MATCH_FOLDER / "match.npz"


@dataclass(frozen=True)
class MatchModel:
    """Decision trees side by side, each node at one place of flat arrays; `load_match` gives one.

    roots : place of each tree's first node
    feature : which feature a node looks at; -1 in a leaf
    cut : the right branch is taken above it
    left, right : places of the branches
    share : in a leaf, the share of pairs that came true
    scale, shift : logistic calibration of the mean share
    """

    roots: NDArray[np.int32] = field(repr=False)
    feature: NDArray[np.int16] = field(repr=False)
    cut: NDArray[np.float32] = field(repr=False)
    left: NDArray[np.int32] = field(repr=False)
    right: NDArray[np.int32] = field(repr=False)
    share: NDArray[np.float32] = field(repr=False)
    scale: float
    shift: float

    def chance(self, before: Compared, predicted: Compared, actual: Compared) -> float:
        """The chance that a prediction came true in substance: same act, same answer, same understanding.

        Parameters
        ----------
        before : Compared, the message that was answered; that of an empty text where there was none
        predicted, actual : Compared

        Returns
        -------
        float in [0, 1], calibrated on pairs that people would meet; a turn counts as matched from 0.6

        Source: spec 4.

        Examples
        --------
        >>> from graphmem.text.doc import Doc
        >>> from graphmem.text.embedder import EMBEDDER_FOLDER, ShippedNetwork
        >>> encode = ShippedNetwork(1).encode
        >>> def chance(*texts):
        ...     return load_match().chance(*(Compared(Doc(text), encode([text])[0]) for text in texts))
        >>> chance("How much is it?", "It would cost $99 + $5 = $104", "99 - 5 = 94 dollars") < 0.4
        True
        >>> chance("How much is it?", "It would cost $99 + $5 = $104", "104 dollars") > 0.6
        True
        """
        return self.chances(pair_features(before, predicted, actual)[np.newaxis])[0]

    def chances(self, rows: NDArray[np.float64]) -> list[float]:
        """Chances of pairs by their features.

        Parameters
        ----------
        rows : float array of shape (n, features)

        Returns
        -------
        n floats in [0, 1]
        """
        shares = self._shares(rows)
        logits = np.log(np.clip(shares, 1e-3, 1 - 1e-3) / (1 - np.clip(shares, 1e-3, 1 - 1e-3)))
        chances: list[float] = (1 / (1 + np.exp(-(self.scale * logits + self.shift)))).tolist()
        return chances

    def _shares(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean share of the leaves that each row comes to, all trees and rows one level at a time."""
        places = np.tile(self.roots, len(rows))
        row_of = np.repeat(np.arange(len(rows)), len(self.roots))
        # Most trees come to a leaf soon: only those still under way are looked at.
        moving = np.flatnonzero(self.feature[places] >= 0)
        while moving.size:
            at = places[moving]
            right = rows[row_of[moving], self.feature[at]] > self.cut[at]
            places[moving] = at = np.where(right, self.right[at], self.left[at])
            moving = moving[self.feature[at] >= 0]
        shares: NDArray[np.float64] = self.share[places].reshape(len(rows), -1).mean(axis=1, dtype=np.float64)
        return shares

    @cached_property
    def trees(self) -> int:
        """Number of trees."""
        return len(self.roots)


def load_match(path: Path = MATCH_FILE) -> MatchModel:
    """Load the shipped model, or one made by `scripts/train/match.py`.

    Raises
    ------
    SetupError      the file is missing or damaged, or was made for other features
    """
    with opened_weights(path) as file:
        names = tuple(json.loads(str(file["features"])))
        arrays = {name: file[name] for name in ("roots", "feature", "cut", "left", "right", "share")}
        scale, shift = map(float, file["calibration"])
    if names != pair_feature_names():
        raise SetupError(f"{path} was made for other features: run scripts/train/match.py.")
    return MatchModel(**arrays, scale=scale, shift=shift)
