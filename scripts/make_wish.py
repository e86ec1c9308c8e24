"""Make the model of a student's wishes about style and pace: a logistic regression on vectors of written sentences.

    python scripts/make_wish.py

Rows are those of `scripts/data/wishes.jsonl` (`text`, `wish`). One in five is held out (`is_held_out`), only reported;
the figures lie in `wish.json` beside the weights.
"""

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from graphmem.bench.held_out import is_held_out
from graphmem.text.embedder import ShippedNetwork
from graphmem.text.wishes import WISH_FILE, WISH_FOLDER, WISH_FROM, load_wishes

DATA = Path(__file__).parent / "data" / "wishes.jsonl"
STRENGTH = 10.0
"""Inverse strength of the penalty."""


def figures(chances: NDArray[np.float64], wish: NDArray[np.bool_]) -> dict[str, float]:
    """How well wishes are told from orders."""
    taken = chances >= WISH_FROM
    return {
        "rows": float(len(wish)),
        "auroc": float(roc_auc_score(wish, chances)),
        "accuracy": float((taken == wish).mean()),
        "orders taken for wishes": float(taken[~wish].mean()),
        "wishes taken for orders": float((~taken[wish]).mean()),
    }


def main() -> None:
    """Train, write the weights and their figures."""
    rows = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    vectors = ShippedNetwork(1).encode([row["text"] for row in rows]).astype(np.float64)
    wish = np.array([row["wish"] for row in rows])
    test = np.array([is_held_out(row["text"]) for row in rows])
    model = LogisticRegression(C=STRENGTH, max_iter=3000)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    crossed = cross_val_predict(model, vectors[~test], wish[~test], cv=folds, method="predict_proba")[:, 1]
    model.fit(vectors[~test], wish[~test])
    WISH_FOLDER.mkdir(exist_ok=True)
    weights = model.coef_[0].astype(np.float32)
    np.savez_compressed(WISH_FILE, weights=weights, bias=np.array(float(model.intercept_[0])))
    load_wishes.cache_clear()
    shipped = load_wishes()
    kept = np.array([shipped.chance(vector) for vector in vectors[test]])
    measured = {"cross-validated": figures(crossed, wish[~test]), "held out": figures(kept, wish[test])}
    text = json.dumps({k: {n: round(v, 4) for n, v in each.items()} for k, each in measured.items()}, indent=2)
    (WISH_FOLDER / "wish.json").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
