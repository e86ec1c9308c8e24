"""Small networks that read two texts together, from their words on (`words.onnx` of the shipped embedder).

Made by `scripts/pair_network.py` for those who ask: `graphmem.text.answering`, `graphmem.text.ending`.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

from graphmem.text.embedder import open_network, shipped_network, shipped_words


class PairNetwork:
    """What two texts have to do with each other, one number a pair; may be used by several threads at once.

    Raises
    ------
    SetupError      a file is missing or damaged
    """

    def __init__(self, folder: Path) -> None:
        self._tokens = shipped_network(1)
        self._words: Any = shipped_words()
        self._layers: Any = open_network(folder, 1)

    def logit(self, first: str, second: str) -> float:
        """The log odds that what the network has learned to tell holds of two texts."""
        ids, of_second = self._tokens.pair_ids(first, second)
        (words,) = self._words.run(None, {"input_ids": ids})
        return float(self._layers.run(None, {"words": words, "second": of_second})[0][0, 0])

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
