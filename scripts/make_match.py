"""Make the model of match: a forest over what parts two messages, calibrated by cross-validation.

    python scripts/make_match.py --data match.jsonl

Lines of the file: `{"id", "source", "before", "predicted", "actual", "same": 0, 1 or 2}`; rows of `source` "written"
are grouped by `before`, others by `source`. One group in five is held out (`is_held_out`) and only reported.
A half-true row (1) counts half as came true, half as not. Beside the rows the forest sees each turned round, each
actual message as its own prediction (came true) and beside a message of another group (did not).

The figures lie in `match.json`, the hashes of the rows trained on in `trained.npy`, both beside the weights.
"""

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.progress import track
from scipy.optimize import minimize
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import GroupKFold

from graphmem.bench.match import PredictedPair, match_figures, read_pairs
from graphmem.bench.talks import is_held_out, save_trained
from graphmem.text.affect import load_affect
from graphmem.text.doc import Doc
from graphmem.text.embedder import ShippedNetwork
from graphmem.text.match_model import MATCH_FILE, MATCH_FOLDER, MatchModel, load_match
from graphmem.text.pairs import Compared, pair_feature_names, pair_features

TREES, SMALLEST_LEAF, FEATURES = 200, 3, 0.3
TURNED, COPIED, STRAY = 0.5, 0.15, 0.15
"""Weight of a row turned round, of a message as its own prediction, of a message of another group."""
FOLDS = 5

Array = NDArray[np.float64]


class Rows(NamedTuple):
    """Features of the pairs as they are, turned round, as copies and beside stray messages; how true each is."""

    given: Array
    turned: Array
    copied: Array
    stray: Array
    same: Array
    group: NDArray[np.str_]


class Reader:
    """Texts as they are compared, each read once."""

    def __init__(self) -> None:
        self.encode = ShippedNetwork(1).encode
        self.affect = load_affect()
        self.known: dict[str, Compared] = {}

    def __call__(self, text: str) -> Compared:
        if text not in self.known:
            doc, vector = Doc(text), self.encode([text])[0]
            self.known[text] = Compared(doc, vector, self.affect.valence(doc, vector))
        return self.known[text]

    def rows(self, triples: list[tuple[str, str, str]]) -> Array:
        return np.array([pair_features(*map(self, triple)) for triple in track(triples, "Comparing")])


def read(pairs: list[PredictedPair], read_text: Reader) -> Rows:
    """The features of pairs; a stray message is that of the next pair of the same kind of source, other group."""
    strays = [stray(pairs, i) for i in range(len(pairs))]
    return Rows(
        read_text.rows([(p.before, p.predicted, p.actual) for p in pairs]),
        read_text.rows([(p.before, p.actual, p.predicted) for p in pairs]),
        read_text.rows([(p.before, p.actual, p.actual) for p in pairs]),
        read_text.rows([(p.before, other.actual, p.actual) for p, other in zip(pairs, strays, strict=True)]),
        np.array([p.same / 2 for p in pairs]),
        np.array([p.group for p in pairs]),
    )


def stray(pairs: list[PredictedPair], i: int) -> PredictedPair:
    kind = pairs[i].source[:4]
    order = (*range(i + 1, len(pairs)), *range(i))
    held = is_held_out(pairs[i].group)
    fits = (p for j in order if (p := pairs[j]).source[:4] == kind and p.group != pairs[i].group)
    return next((p for p in fits if is_held_out(p.group) == held), pairs[i - 1])


def fitted(rows: Rows, chosen: NDArray[np.bool_]) -> ExtraTreesClassifier:
    parts: list[tuple[Array, Array, Array]] = []
    same, count = rows.same[chosen], int(chosen.sum())
    for features, factor in ((rows.given, 1.0), (rows.turned, TURNED)):
        parts.append((features[chosen], np.ones(count), factor * same))
        parts.append((features[chosen], np.zeros(count), factor * (1 - same)))
    parts.append((rows.copied[chosen], np.ones(count), np.full(count, COPIED)))
    parts.append((rows.stray[chosen], np.zeros(count), np.full(count, STRAY)))
    x, y, weight = (np.concatenate([part[i] for part in parts]) for i in range(3))
    used = weight > 0
    forest = ExtraTreesClassifier(TREES, min_samples_leaf=SMALLEST_LEAF, max_features=FEATURES, random_state=0)
    return forest.fit(x[used], y[used], weight[used])


def calibrated(shares: Array, same: Array) -> tuple[float, float]:
    """Scale and shift of the logit that make shares into chances."""
    logits = np.log(np.clip(shares, 1e-3, 1 - 1e-3) / (1 - np.clip(shares, 1e-3, 1 - 1e-3)))

    def loss(given: Array) -> float:
        chance: Array = 1 / (1 + np.exp(-(given[0] * logits + given[1])))
        return -float(np.mean(same * np.log(chance + 1e-12) + (1 - same) * np.log(1 - chance + 1e-12)))

    scale, shift = minimize(loss, np.array([1.0, 0.0]), method="Nelder-Mead").x
    return float(scale), float(shift)


def out_of_fold(rows: Rows, chosen: NDArray[np.bool_]) -> Array:
    shares = np.zeros(len(rows.same))
    places = np.flatnonzero(chosen)
    for train, test in GroupKFold(FOLDS, shuffle=True, random_state=0).split(places, groups=rows.group[places]):
        part = np.zeros(len(rows.same), dtype=np.bool_)
        part[places[train]] = True
        shares[places[test]] = fitted(rows, part).predict_proba(rows.given[places[test]])[:, 1]
    return shares[places]


def arrays(forest: ExtraTreesClassifier) -> dict[str, NDArray[Any]]:
    """The trees side by side, as `MatchModel` holds them."""
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in ("feature", "cut", "left", "right", "share")}
    roots, start = [], 0
    for tree in (estimator.tree_ for estimator in forest.estimators_):
        inner = tree.children_left >= 0
        parts["feature"].append(np.where(inner, tree.feature, -1).astype(np.int16))
        parts["cut"].append(tree.threshold.astype(np.float32))
        parts["left"].append(np.where(inner, tree.children_left + start, 0).astype(np.int32))
        parts["right"].append(np.where(inner, tree.children_right + start, 0).astype(np.int32))
        parts["share"].append((tree.value[:, 0, 1] / tree.value[:, 0].sum(axis=1)).astype(np.float16))
        roots.append(start)
        start += tree.node_count
    return {"roots": np.array(roots, dtype=np.int32)} | {name: np.concatenate(each) for name, each in parts.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="pairs of predicted and actual messages")
    args = parser.parse_args()

    pairs = read_pairs(args.data)
    rows = read(pairs, Reader())
    held = np.array([is_held_out(p.group) for p in pairs])
    shares = out_of_fold(rows, ~held)
    scale, shift = calibrated(shares, rows.same[~held])
    MATCH_FOLDER.mkdir(exist_ok=True)
    made: dict[str, Any] = {
        "features": np.array(json.dumps(pair_feature_names())),
        "calibration": np.array([scale, shift]),
    }
    np.savez_compressed(MATCH_FILE, **(made | arrays(fitted(rows, ~held))))
    save_trained(MATCH_FOLDER / "trained.npy", [p.texts for p, out in zip(pairs, held, strict=True) if not out])
    model: MatchModel = load_match()
    logits = np.log(np.clip(shares, 1e-3, 1 - 1e-3) / (1 - np.clip(shares, 1e-3, 1 - 1e-3)))
    chances = 1 / (1 + np.exp(-(scale * logits + shift)))
    known = [p for p, out in zip(pairs, held, strict=True) if not out]
    untouched = [p for p, out in zip(pairs, held, strict=True) if out]
    figures = {
        "cross-validated": match_figures(known, chances.tolist()),
        "held out": match_figures(untouched, model.chances(rows.given[held])),
    }
    text = json.dumps({k: {n: round(v, 4) for n, v in each.items()} for k, each in figures.items()}, indent=2)
    (MATCH_FOLDER / "match.json").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
