"""Make the sense of affect: ridge regression on EmoBank's train split, checked on its dev split.

    python scripts/make_affect.py --data emobank.jsonl

Lines of the file: `{"text", "V": 1 to 5, "A": 1 to 5, "split": "train" or "dev"}`. The strengths below were chosen by
five-fold cross-validation within the train split; the dev split is only reported.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.progress import track
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_predict

from graphmem.text.affect import (
    AFFECT_BUCKETS,
    AFFECT_FILE,
    affect_buckets,
    affect_word_weight,
    surface,
)
from graphmem.text.doc import SCOPED_CHARACTERS, Doc
from graphmem.text.embedder import ShippedNetwork

PENALTY = 1.5
# How strongly a feature may speak beside the vector (weight 1): ridge trusts what is large.
SURFACE_SCALE, WORD_SCALE = 0.3, 0.8

Array = NDArray[np.float64]


def features(texts: list[str], vectors: Array) -> sparse.csr_matrix:
    """Rows of vector, surface and hashed words; `vectors` may have no columns."""
    seen = [text[:SCOPED_CHARACTERS] for text in texts]
    buckets = [affect_buckets(Doc(text)) for text in seen]
    values = np.concatenate([np.full(len(b), affect_word_weight(b) * WORD_SCALE) for b in buckets])
    ends = np.cumsum([0, *map(len, buckets)])
    words = sparse.csr_matrix((values, np.concatenate(buckets), ends), shape=(len(texts), AFFECT_BUCKETS))
    marks = np.array([surface(text) for text in seen]) * SURFACE_SCALE
    return sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(np.hstack([marks, vectors])), words]))


def weights(model: Ridge) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Dense weights (bias, surface, vector) and word weights, as `affect.npz` holds them."""
    marks = len(surface(""))
    dense, words = model.coef_[:-AFFECT_BUCKETS].copy(), model.coef_[-AFFECT_BUCKETS:] * WORD_SCALE
    dense[:marks] *= SURFACE_SCALE
    return np.array([model.intercept_, *dense], dtype=np.float32), words.astype(np.float32)


def pearson(a: Array, b: Array) -> float:
    return float(np.corrcoef(a, b)[0, 1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="EmoBank as JSON lines")
    parser.add_argument("--out", type=Path, default=AFFECT_FILE, help="file to write")
    args = parser.parse_args()

    rows = [json.loads(line) for line in args.data.read_text(encoding="utf-8").splitlines()]
    texts = [row["text"] for row in rows]
    train = np.array([row["split"] == "train" for row in rows])
    dev = np.array([row["split"] == "dev" for row in rows])
    encode = ShippedNetwork(1).encode
    vectors = np.concatenate([encode([text]) for text in track(texts, "Embedding")]).astype(np.float64)
    ratings = {
        "valence": np.array([(row["V"] - 3) / 2 for row in rows]),
        "arousal": np.array([(row["A"] - 1) / 4 for row in rows]),
    }
    made: dict[str, Any] = {}
    for form, given in (("full", vectors), ("words", vectors[:, :0])):
        x = features(texts, given)
        for quality, y in ratings.items():
            guessed = cross_val_predict(Ridge(PENALTY), x[train], y[train], cv=KFold(5, shuffle=True, random_state=0))
            model = Ridge(PENALTY).fit(x[train], y[train])
            made[f"{quality}_{form}_dense"], made[f"{quality}_{form}_words"] = weights(model)
            check = (
                f"cross-validated {pearson(guessed, y[train]):.3f}, dev {pearson(model.predict(x[dev]), y[dev]):.3f}"
            )
            print(f"{quality}, {form}: Pearson {check}")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(args.out, **made)


if __name__ == "__main__":
    main()
