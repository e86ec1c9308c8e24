"""Small networks that read two texts together, on from the lower layers of the shipped embedder.

Made by `scripts/pair_network.py` for those who ask: `graphmem.text.answering`, `graphmem.text.ending`.
"""

from functools import cache
from pathlib import Path
from typing import Any

from graphmem.text.embedder import open_network, shipped_network


class PairNetwork:
    """What two texts have to do with each other, one number a pair; may be used by several threads at once.

    Raises
    ------
    SetupError      a file is missing or damaged
    """

    def __init__(self, folder: Path) -> None:
        self._network = shipped_network(1)
        self._session: Any = open_network(folder, 1)

    def logit(self, first: str, second: str) -> float:
        """The log odds that what the network has learned to tell holds of two texts."""
        hidden, _ = self._network.seen_pair(first, second)
        return float(self._session.run(None, {"hidden": hidden})[0][0, 0])


@cache
def load_pair_network(folder: Path) -> PairNetwork:
    """The network of a folder, opened once a process.

    Raises
    ------
    SetupError      a file is missing or damaged
    """
    return PairNetwork(folder)
