"""Affect: ridge regression on EmoBank's train split, checked on its dev split.

The strengths were chosen by five-fold cross-validation within the train split; the dev split is only reported.
"""

from statistics import correlation
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_predict

from graphmem.text.affect import AFFECT_BUCKETS, affect_buckets, affect_word_weight, surface
from graphmem.text.doc import SCOPED_CHARACTERS, Doc

from .options import Figures, Options, embedded, lines

PENALTY = 1.5
SURFACE_SCALE, WORD_SCALE = 0.3, 0.8
"""How strongly a feature may speak beside the vector (weight 1): ridge trusts what is large."""
RATINGS = {"valence": ("V", 3, 2), "arousal": ("A", 1, 4)}
"""By quality the rating, and what is taken from it and divides it."""

Array = NDArray[np.float64]


def make(given: Options) -> Figures:
    """Write `affect.npz`: for each quality weights with the vector and of words alone."""
    rows = list(lines(given.data / "valence" / "emobank_dev.jsonl"))
    train, dev = (np.array([row["split"] == split for row in rows]) for split in ("train", "dev"))
    texts = [row["text"] for row in rows]
    vectors = embedded(texts).astype(np.float64)
    made, figures = dict[str, Any](), Figures()
    for form, own in (("full", vectors), ("words", vectors[:, :0])):
        x = features(texts, own)
        for quality, (rating, least, most) in RATINGS.items():
            y = np.array([(row[rating] - least) / most for row in rows])
            guessed = cross_val_predict(Ridge(PENALTY), x[train], y[train], cv=KFold(5, shuffle=True, random_state=0))
            model = Ridge(PENALTY).fit(x[train], y[train])
            made[f"{quality}_{form}_dense"], made[f"{quality}_{form}_words"] = weights(model)
            figures[f"{quality}, {form}"] = {
                "cross-validated": round(correlation(guessed, y[train]), 3),
                "dev": round(correlation(model.predict(x[dev]), y[dev]), 3),
            }
    np.savez_compressed(given.folder / "affect.npz", **made)
    return figures


def features(texts: list[str], vectors: Array) -> sparse.csr_matrix:
    """Return rows of vector, surface and hashed words; `vectors` may have no columns."""
    seen = [text[:SCOPED_CHARACTERS] for text in texts]
    buckets = [affect_buckets(Doc(text)) for text in seen]
    values = np.concatenate([np.full(len(b), affect_word_weight(b) * WORD_SCALE) for b in buckets])
    ends = np.cumsum([0, *map(len, buckets)])
    words = sparse.csr_matrix((values, np.concatenate(buckets), ends), shape=(len(texts), AFFECT_BUCKETS))
    marks = np.array([surface(text) for text in seen]) * SURFACE_SCALE
    return sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(np.hstack([marks, vectors])), words]))


def weights(model: Ridge) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return dense weights (bias, surface, vector) and word weights, as `affect.npz` holds them."""
    marks = len(surface(""))
    dense, words = model.coef_[:-AFFECT_BUCKETS].copy(), model.coef_[-AFFECT_BUCKETS:] * WORD_SCALE
    dense[:marks] *= SURFACE_SCALE
    return np.array([model.intercept_, *dense], dtype=np.float32), words.astype(np.float32)
