"""Networks with layers of their own above the words of the shipped embedder: they read a text, or two together.

`scripts/pair_network.py` trains and builds them for those who ask: `graphmem.text.pair_network`,
`graphmem.text.danger_network`.
"""

from pathlib import Path
from typing import Any

import numpy as np

from graphmem.model import Vector
from graphmem.text.embedder import open_network, shipped_network, shipped_words


class OwnLayers:
    """The layers that lie in a folder; may be used by several threads at once.

    Raises
    ------
    SetupError      a file is missing or damaged
    """

    def __init__(self, folder: Path) -> None:
        self._tokens = shipped_network(1)
        self._words: Any = shipped_words()
        self._layers: Any = open_network(folder, 1)

    def answers(self, first: str, second: str | None = None) -> Vector:
        """The numbers that the network answers to a text, or to two, of which the first 256 tokens count."""
        if second is None:
            ids = self._tokens.ids(first)["input_ids"]
            of_second = np.zeros(ids.shape, dtype=np.float32)
        else:
            ids, of_second = self._tokens.pair_ids(first, second)
        (words,) = self._words.run(None, {"input_ids": ids})
        answers: Vector = self._layers.run(None, {"words": words, "second": of_second})[0][0]
        return answers
