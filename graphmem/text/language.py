"""Language of a message, from its letters: a linear model over hashed runs of one to three characters.

Made by `scripts/make_language.py`; its figures stand beside the weights.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from graphmem.maths.chances import softmax
from graphmem.text.trained import opened_weights

LANGUAGE_FILE = Path(__file__).with_name("weights") / "language" / "language.npz"
LANGUAGE_CHARACTERS = 400
"""Characters of a message that are looked at."""
RUNS = 4096
"""Places that runs of characters are hashed to."""
SURE_LANGUAGE = 0.7
"""Chance that the language needs to be told."""

_LETTERS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True)
class LanguageModel:
    """Weights of shape (languages, 4096) and a bias of each language; `load_languages` gives them."""

    codes: tuple[str, ...]
    weights: NDArray[np.float32] = field(repr=False)
    bias: NDArray[np.float32] = field(repr=False)


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
    chances = softmax(model.weights @ seen + model.bias)
    best = int(chances.argmax())
    return model.codes[best] if chances[best] >= SURE_LANGUAGE else ""


@lru_cache(maxsize=1)
def load_languages(path: Path = LANGUAGE_FILE) -> LanguageModel:
    """Read the weights, once a process.

    Raises
    ------
    SetupError      the file is missing or damaged
    """
    with opened_weights(path) as file:
        codes = tuple(map(str, file["codes"]))
        return LanguageModel(codes, file["weights"].astype(np.float32), file["bias"].astype(np.float32))
