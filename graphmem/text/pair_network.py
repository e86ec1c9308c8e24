"""Small networks that read two texts together: `graphmem.text.answering` and `graphmem.text.ending` ask them."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path

from graphmem.text.own_layers import OwnLayers


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
