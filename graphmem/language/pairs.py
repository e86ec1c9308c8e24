"""Reads two texts together, in one network: does the newer say the same, refine, end, contradict, answer? (spec 7, 12).

The network has layers of its own above the words of the shipped embedder. `python -m scripts.train pairs` makes it; its
figures lie beside the weights.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from graphmem.language.heads import PAIR, HeadScores
from graphmem.model import Matrix, Vector
from graphmem.text.embedder import ShippedNetwork, open_network, shipped_network, shipped_words
from graphmem.text.trained import opened_weights

PAIRS_FOLDER = Path(__file__).with_name("weights") / "pairs"
PAIR_MARKS = 12
"""Marks of the letters of two texts that the heads see beside the layers."""
PRODUCT_SCALE = 10.0
"""What the products of two means are multiplied by, beside the other numbers that the heads see."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_DENIES = re.compile(
    r"\b(?:no|not|never|nobody|nothing|none|without|hardly|\w+n['’]?t|cannot|cant|isnt|wont|dont|didnt|doesnt|arent)\b",
    re.IGNORECASE,
)


class PairsNetwork:
    """The layers and heads; may be used by several threads at once.

    Raises
    ------
    SetupError      a file is missing or damaged
    """

    def __init__(self, shipped: ShippedNetwork, threads: int, folder: Path = PAIRS_FOLDER) -> None:
        self._shipped, self._words = shipped, shipped_words()
        self._session: Any = open_network(folder, threads)
        with opened_weights(folder / "heads.npz") as file:
            self._weight, self._bias = file["pair"], file["pair_bias"]

    def read(self, new: str, old: str, message: str = "") -> HeadScores:
        """Read two texts of which together the first 256 tokens count.

        Parameters
        ----------
        new : the newer statement; or a question; or what was really said
        old : the older statement; or what may answer; or what was predicted
        message : the whole message that the newer one stands in, where there is more of it

        Returns
        -------
        HeadScores of the heads of `PAIR`

        Examples
        --------
        >>> told = pairs_network().read("We moved to Leeds.", "I live in Hamburg.")
        >>> told.chance("ends") > pairs_network().read("My cat had kittens.", "I live in Hamburg.").chance("ends")
        True
        """
        ids, second = self._shipped.pair_ids(beside(new, message), old)
        (words,) = self._words.run(None, {"input_ids": ids})
        middle, upper = self._session.run(None, {"words": words, "second": second})
        seen = pooled(middle[0], upper[0], second[0] > 0)
        return HeadScores(self._weight @ np.concatenate([seen, pair_marks(new, old)]) + self._bias, PAIR)

    def read_all(self, new: str, olds: Sequence[str], message: str = "") -> list[HeadScores]:
        """Read one text with each of several."""
        return [self.read(new, old, message) for old in olds]


@lru_cache(maxsize=2)
def pairs_network(threads: int = 1) -> PairsNetwork:
    """Return the network that ships, loaded once a process.

    Raises
    ------
    SetupError      a file is missing or damaged
    """
    return PairsNetwork(shipped_network(threads), threads)


def beside(clause: str, message: str) -> str:
    """Return a clause with the message that it stands in, as the network reads them.

    Examples
    --------
    >>> beside("not to milk", "not to milk, only eggs"), beside("ok", "ok")
    ('not to milk (not to milk, only eggs)', 'ok')
    """
    return f"{clause} ({message})" if message and message.strip() != clause.strip() else clause


def pooled(middle: Matrix, upper: Matrix, second: np.ndarray[Any, np.dtype[np.bool_]]) -> Vector:
    """Return what the heads see of the tokens of two texts.

    Parameters
    ----------
    middle, upper : what the middle and the last layer see, (tokens, 384)
    second : (tokens,), which tokens are of the second text
    """
    one, other = upper[~second].mean(0), upper[second].mean(0)
    parts = (middle.mean(0), upper.mean(0), upper.max(0), np.abs(one - other), PRODUCT_SCALE * one * other)
    return np.concatenate(parts, dtype=np.float32)


def pair_marks(new: str, old: str) -> Vector:
    """Return marks of two texts: words, numbers and denials that they share or not, shape (PAIR_MARKS,).

    Examples
    --------
    >>> pair_marks("I have 3 cats", "I have 2 cats")[[2, 3, 4]].tolist()
    [1.0, 0.0, 1.0]
    """
    words = [{word.lower() for word in _WORD.findall(text)} for text in (new, old)]
    numbers = [set(_NUMBER.findall(text)) for text in (new, old)]
    denies = [len(_DENIES.findall(text)) for text in (new, old)]
    common = len(words[0] & words[1])
    return np.array(
        [
            common / max(1, len(words[0])),
            common / max(1, len(words[1])),
            bool(numbers[0]) and bool(numbers[1]),
            bool(numbers[0]) and numbers[0] == numbers[1],
            bool(numbers[0]) and bool(numbers[1]) and numbers[0].isdisjoint(numbers[1]),
            bool(numbers[0] & numbers[1]),
            bool(numbers[0]) != bool(numbers[1]),
            denies[0] > 0,
            denies[1] > 0,
            denies[0] % 2 != denies[1] % 2,
            min(len(words[0]), 40) / 20,
            min(len(words[1]), 40) / 20,
        ],
        dtype=np.float32,
    )
