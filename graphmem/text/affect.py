"""Valence and arousal of a text: a linear model on its embedding, its words and its punctuation.

Made by `scripts/train/affect.py` from EmoBank (Buechel and Hahn 2017), whose readers rated sentences from 1 to 5.
Pearson with the raters on EmoBank's dev split, which nothing was fitted to: valence 0.66, arousal 0.52; from words
and punctuation alone 0.51 and 0.47.
"""

import math
import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import InvalidInput
from graphmem.model import Vector
from graphmem.text.doc import SCOPED_CHARACTERS, Doc
from graphmem.text.networks import opened_weights

AFFECT_FILE = Path(__file__).with_name("weights") / "affect" / "affect.npz"
AFFECT_BUCKETS = 1 << 15
_SHOUTED = re.compile(r"\b[A-Z]{2,}\b")


@dataclass(frozen=True)
class Reader:
    """Weights that read one quality: a number for each part of the vector, the surface and the hashed words."""

    vector: NDArray[np.float32] = field(repr=False)
    surface: NDArray[np.float32] = field(repr=False)
    words: NDArray[np.float32] = field(repr=False)
    bias: float

    def read(self, doc: Doc, vector: Vector | None) -> float:
        text = doc.text[:SCOPED_CHARACTERS]
        buckets = affect_buckets(doc)
        score = (
            self.bias
            + float(self.surface @ surface(text))
            + float(self.words[buckets].sum()) * affect_word_weight(buckets)
        )
        return score if vector is None else score + float(self.vector @ vector)


@dataclass(frozen=True)
class AffectModel:
    """The sense of affect; `load_affect` gives one.

    Readers shy away from extremes and so does a model of them: in EmoBank two thirds of all sentences have a
    valence within 0.15 of neutral and an arousal within 0.05 of the middle. Compare with that, not with 1.
    """

    valence_full: Reader
    valence_words: Reader
    arousal_full: Reader
    arousal_words: Reader

    def valence(self, doc: Doc, vector: Vector | None) -> float:
        """Valence of a text.

        Parameters
        ----------
        doc : Doc
        vector : array of shape (384,), its embedding by the shipped model `onnx:all-MiniLM-L6-v2`;
            None where another model embeds: then words and punctuation alone decide, which is weaker

        Returns
        -------
        float in [-1, 1]                -1 unpleasant, 0 neutral, 1 pleasant

        Raises
        ------
        InvalidInput                    the vector is of another model

        Source: spec 12; Buechel and Hahn 2017, EmoBank.

        Examples
        --------
        >>> affect = load_affect()
        >>> affect.valence(Doc("What a wonderful day!"), None) > 0 > affect.valence(Doc("What a terrible war."), None)
        True
        """
        return min(1.0, max(-1.0, _chosen(self.valence_full, self.valence_words, vector).read(doc, vector)))

    def arousal(self, doc: Doc, vector: Vector | None) -> float:
        """Arousal of a text; parameters and errors as for `valence`.

        Returns
        -------
        float in [0, 1]                 0 calm, 1 excited

        Source: spec 12; Buechel and Hahn 2017, EmoBank.

        Examples
        --------
        >>> affect = load_affect()
        >>> affect.arousal(Doc("Watch out!! It explodes!"), None) > affect.arousal(Doc("The table is brown."), None)
        True
        """
        return min(1.0, max(0.0, _chosen(self.arousal_full, self.arousal_words, vector).read(doc, vector)))


def load_affect(path: Path = AFFECT_FILE) -> AffectModel:
    """Read the weights, once a process.

    Raises
    ------
    SetupError                          the file is missing or damaged
    """
    with opened_weights(path) as file:
        return AffectModel(
            **{name: _reader(file[f"{name}_dense"], file[f"{name}_words"]) for name in AffectModel.__dataclass_fields__}
        )


def surface(text: str) -> NDArray[np.float32]:
    """Surface features of a text, whatever its words: 7 numbers, about 0 to 1 each."""
    letters = max(1, len(text))
    return np.array(
        [
            "!" in text,
            "?" in text,
            '"' in text,
            "..." in text,
            math.log1p(len(text)) / 5,
            sum(map(str.isupper, text)) / letters,
            _SHOUTED.search(text) is not None,
        ],
        dtype=np.float32,
    )


def affect_buckets(doc: Doc) -> NDArray[np.int64]:
    """The hashed words of a text, each once; a word soon after a negation counts as another word.

    Examples
    --------
    >>> [len(affect_buckets(Doc(text))) for text in ("good good", "good, not good", "")]
    [1, 3, 0]
    """
    words = doc.negation_scoped_words
    return np.array(sorted({zlib.crc32(word.encode()) % AFFECT_BUCKETS for word in words}), dtype=np.int64)


def affect_word_weight(buckets: NDArray[np.int64]) -> float:
    """Weight of one of these words, normalised by length: long texts do not count more."""
    return 1 / math.sqrt(max(1, len(buckets)))


def _chosen(full: Reader, words: Reader, vector: Vector | None) -> Reader:
    if vector is None:
        return words
    if vector.shape != full.vector.shape:
        raise InvalidInput(
            f"Affect is read from vectors of shape {full.vector.shape}, as the shipped model makes them, not "
            f"{vector.shape}: pass None to read it from the words."
        )
    return full


def _reader(dense: NDArray[np.float32], words: NDArray[np.float32]) -> Reader:
    # One row: bias, surface, and the vector where there is one.
    marks = 1 + len(surface(""))
    return Reader(vector=dense[marks:], surface=dense[1:marks], words=words, bias=float(dense[0]))
