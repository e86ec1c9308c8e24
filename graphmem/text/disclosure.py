"""How grave what a message tells of its writer is, by a linear model on its embedding (spec 5).

Made by `scripts/make_surprise.py` from labelled talk of students; figures in `disclosure.json` beside the weights.
"""

from dataclasses import dataclass, field
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from graphmem.errors import SetupError
from graphmem.model import Vector

SURPRISE_FOLDER = Path(__file__).with_name("weights") / "surprise"
DISCLOSURE_FILE = SURPRISE_FOLDER / "disclosure.npz"


@dataclass(frozen=True)
class DisclosureModel:
    """A weight for each part of an embedding by the shipped model; `load_disclosure` gives one."""

    weights: Vector = field(repr=False)
    bias: float

    def told(self, vector: Vector) -> float:
        """How grave what a message tells is.

        Parameters
        ----------
        vector : float32 array of shape (384,), by the shipped embedder

        Returns
        -------
        float, the log odds of a life event, a need or a danger against ordinary talk; of use beside that of other
        messages only

        Source: spec 5.

        Examples
        --------
        >>> from graphmem.text.embedder import EMBEDDER_FOLDER, onnx_encoder
        >>> encode, disclosure = onnx_encoder(EMBEDDER_FOLDER, threads=1), load_disclosure()
        >>> grave, plain = encode(["My grandma died yesterday.", "So it is 12 + 5 = 17 apples."])
        >>> disclosure.told(grave) > disclosure.told(plain)
        True
        """
        return float(self.weights @ vector) + self.bias


def load_disclosure(path: Path = DISCLOSURE_FILE) -> DisclosureModel:
    """Load the shipped model, or one made by `scripts/make_surprise.py`.

    Raises
    ------
    SetupError      the file is missing or damaged
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            return DisclosureModel(file["weights"], float(file["bias"]))
    except (OSError, KeyError, ValueError, BadZipFile) as error:
        raise SetupError(f"{path} cannot be loaded ({error}): install graphmem again.") from error
