"""Language of a message, from its letters: a linear model over hashed runs of one to three characters.

Made by `scripts/make_language.py`; its figures stand beside the weights.
"""

import re
from functools import lru_cache
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from graphmem.text.trained import LinearHead, opened_weights

LANGUAGE_FILE = Path(__file__).with_name("weights") / "language" / "language.npz"
LANGUAGE_CHARACTERS = 400
"""Characters of a message that are looked at."""
RUNS = 4096
"""Places that runs of characters are hashed to."""
SURE_LANGUAGE = 0.7
"""Chance that the language needs to be told."""

_LETTERS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def language_features(text: str) -> NDArray[np.float32]:
    """Hashed counts of the runs of characters of a text, of length 1; all zero where it has no letters."""
    counts = np.zeros(RUNS, dtype=np.float32)
    for word in _LETTERS.findall(text[:LANGUAGE_CHARACTERS].lower().replace("’", "'")):
        spaced = f" {word} "
        for size in (1, 2, 3):
            for start in range(len(spaced) - size + 1):
                counts[crc32(spaced[start : start + size].encode("utf-8", "replace")) % RUNS] += 1
    length = float(np.linalg.norm(counts))
    return counts / length if length else counts


def language_of(text: str) -> str:
    """ISO 639-1 code of the language of a text; empty where it cannot be told.

    Examples
    --------
    >>> language_of("Ich möchte nicht mehr leben."), language_of("My dad hits me when he is drunk.")
    ('de', 'en')
    >>> language_of("12 + 30 = 42")
    ''
    """
    seen = language_features(text)
    if not seen.any():
        return ""
    model = load_languages()
    chances = model.chances(seen)
    best = int(chances.argmax())
    return model.labels[best] if chances[best] >= SURE_LANGUAGE else ""


@lru_cache(maxsize=1)
def load_languages(path: Path = LANGUAGE_FILE) -> LinearHead:
    """Read the weights, once a process.

    Raises
    ------
    SetupError      the file is missing or damaged
    """
    with opened_weights(path) as file:
        return LinearHead(tuple(map(str, file["codes"])), file["weights"].astype(np.float32), file["bias"])
