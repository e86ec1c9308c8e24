"""Files of weights that the scripts train: linear heads, and networks with layers of their own above known words.

The words of a network with layers of its own are the shipped embedder's, or lie in the folder of the layers;
`scripts/train/networks.py` trains and builds the layers.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from graphmem.errors import SetupError
from graphmem.maths.chances import softmax
from graphmem.model import Vector
from graphmem.text.embedder import EMBEDDER_FOLDER, WORDS_FILE, open_network, open_tokenizer, seen_part, shipped_words


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


class OwnLayers:
    """The layers that lie in a folder; may be used by several threads at once.

    Raises
    ------
    SetupError      a file is missing or damaged
    """

    def __init__(self, folder: Path) -> None:
        own = (folder / WORDS_FILE).exists()
        self._tokenizer = open_tokenizer(folder if own else EMBEDDER_FOLDER)
        self._words: Any = open_network(folder, 1, WORDS_FILE) if own else shipped_words()
        self._layers: Any = open_network(folder, 1)

    def answers(self, first: str, second: str | None = None) -> Vector:
        """The numbers that the network answers to a text, or to two, of which the first 256 tokens count."""
        read = self._tokenizer.encode(seen_part(first), None if second is None else seen_part(second))
        (words,) = self._words.run(None, {"input_ids": np.array([read.ids], dtype=np.int64)})
        of_second = np.array([read.type_ids], dtype=np.float32)
        answers: Vector = self._layers.run(None, {"words": words, "second": of_second})[0][0]
        return answers


class PairNetwork:
    """What two texts have to do with each other, one number a pair; may be used by several threads at once.

    Raises
    ------
    SetupError      a file is missing or damaged
    """

    def __init__(self, folder: Path) -> None:
        self._layers = OwnLayers(folder)

    def logit(self, first: str, second: str) -> float:
        """The log odds that what the network has learned to tell holds of two texts."""
        return float(self._layers.answers(first, second)[0])

    def logits(self, first: str, seconds: Sequence[str]) -> list[float]:
        """The same of one text with each of several, on all cores: somebody waits for it."""
        return list(_readers().map(partial(self.logit, first), seconds))


@cache
def _readers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), "pairs")


@cache
def load_pair_network(folder: Path) -> PairNetwork:
    """The network of a folder, opened once a process.

    Raises
    ------
    SetupError      a file is missing or damaged
    """
    return PairNetwork(folder)
