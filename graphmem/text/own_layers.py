"""Networks with layers of their own above known words: they read a text, or two together.

The words are the shipped embedder's, or lie in the folder of the layers. `scripts/train/networks.py` trains and builds
the layers for those who ask: `graphmem.text.pair_network`, `graphmem.text.danger_network`.
"""

from pathlib import Path
from typing import Any

import numpy as np

from graphmem.model import Vector
from graphmem.text.embedder import EMBEDDER_FOLDER, WORDS_FILE, open_network, open_tokenizer, seen_part, shipped_words


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
