"""Match: a forest over what parts two messages, calibrated by cross-validation.

Lines of `match/match.jsonl`: `{"id", "source", "before", "predicted", "actual", "same": 0, 1 or 2}`; rows of `source`
"written" are grouped by `before`, others by `source`. One group in five is held out and only reported. A half-true row
(1) counts half as came true, half as not. Beside the rows the forest sees each turned round, each actual message as its
own prediction (came true) and beside a message of another group (did not).
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import GroupKFold

from graphmem.bench.talks import is_held_out, save_trained
from graphmem.bench.understanding import PredictedPair, match_figures, read_pairs, text_comparer
from graphmem.progress import tracked
from graphmem.text.matching import MATCH_FILE, load_match
from graphmem.text.pairs import pair_feature_names, pair_features

from .options import Figures, Options, rounded

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


def make(given: Options) -> Figures:
    """Write `match.npz`, and the hashes of the rows trained on."""
    pairs = read_pairs(given.data / "match" / "match.jsonl")
    rows, held = read(pairs), np.array([is_held_out(p.group) for p in pairs])
    shares = logit(np.clip(out_of_fold(rows, ~held), 1e-3, 1 - 1e-3))
    scale, shift = calibrated(shares, rows.same[~held])
    made: dict[str, Any] = {"features": np.array(json.dumps(pair_feature_names()))}
    made |= {"calibration": np.array([scale, shift])} | arrays(fitted(rows, ~held))
    np.savez_compressed(given.folder / MATCH_FILE.name, **made)
    known, untouched = ([p for p, out in zip(pairs, held, strict=True) if out == side] for side in (False, True))
    save_trained(given.folder / "trained.npy", [p.texts for p in known])
    model = load_match(given.folder / MATCH_FILE.name)
    return rounded(
        {
            "cross-validated": match_figures(known, expit(scale * shares + shift).tolist()),
            "held out": match_figures(untouched, model.chances(rows.given[held])),
        }
    )


def read(pairs: Sequence[PredictedPair]) -> Rows:
    """Return the features of pairs."""
    compared = text_comparer()

    def features(triples: list[tuple[str, str, str]]) -> Array:
        return np.array([pair_features(*map(compared, triple)) for triple in tracked(triples, "Comparing")])

    return Rows(
        features([p.texts for p in pairs]),
        features([(p.before, p.actual, p.predicted) for p in pairs]),
        features([(p.before, p.actual, p.actual) for p in pairs]),
        features([(p.before, stray(pairs, i).actual, p.actual) for i, p in enumerate(pairs)]),
        np.array([p.same / 2 for p in pairs]),
        np.array([p.group for p in pairs]),
    )


def stray(pairs: Sequence[PredictedPair], i: int) -> PredictedPair:
    """Return the next pair of the same kind of source and another group, on the same side of what is held out."""
    kind, held = pairs[i].source[:4], is_held_out(pairs[i].group)
    order = (*range(i + 1, len(pairs)), *range(i))
    fits = (p for j in order if (p := pairs[j]).source[:4] == kind and p.group != pairs[i].group)
    return next((p for p in fits if is_held_out(p.group) == held), pairs[i - 1])


def fitted(rows: Rows, chosen: NDArray[np.bool_]) -> ExtraTreesClassifier:
    """Return a forest of some rows."""
    same = rows.same[chosen]
    sure = np.ones(len(same))
    parts = (
        (rows.given, sure, same), (rows.given, 0 * sure, 1 - same),
        (rows.turned, sure, TURNED * same), (rows.turned, 0 * sure, TURNED * (1 - same)),
        (rows.copied, sure, COPIED * sure), (rows.stray, 0 * sure, STRAY * sure),
    )  # fmt: skip
    x = np.concatenate([features[chosen] for features, _, _ in parts])
    y, weight = (np.concatenate([part[i] for part in parts]) for i in (1, 2))
    used = weight > 0
    forest = ExtraTreesClassifier(TREES, min_samples_leaf=SMALLEST_LEAF, max_features=FEATURES, random_state=0)
    return forest.fit(x[used], y[used], weight[used])


def calibrated(shares: Array, same: Array) -> tuple[float, float]:
    """Return scale and shift of the logit that make shares into chances."""

    def loss(given: Array) -> float:
        chance: Array = expit(given[0] * shares + given[1])
        return -float(np.mean(same * np.log(chance + 1e-12) + (1 - same) * np.log(1 - chance + 1e-12)))

    scale, shift = minimize(loss, np.array([1.0, 0.0]), method="Nelder-Mead").x
    return float(scale), float(shift)


def out_of_fold(rows: Rows, chosen: NDArray[np.bool_]) -> Array:
    """Return the share of trees for each chosen row, by forests that have not seen its group."""
    shares, places = np.zeros(len(rows.same)), np.flatnonzero(chosen)
    for train, test in GroupKFold(FOLDS, shuffle=True, random_state=0).split(places, groups=rows.group[places]):
        part = np.zeros(len(rows.same), dtype=np.bool_)
        part[places[train]] = True
        shares[places[test]] = fitted(rows, part).predict_proba(rows.given[places[test]])[:, 1]
    return shares[places]


def arrays(forest: ExtraTreesClassifier) -> dict[str, NDArray[Any]]:
    """Return the trees side by side, as `MatchModel` holds them."""
    trees = [estimator.tree_ for estimator in forest.estimators_]
    starts = np.cumsum([0, *(tree.node_count for tree in trees)])
    offset = np.repeat(starts[:-1], np.diff(starts))

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(tree, name) for tree in trees])

    inner, value = joined("children_left") >= 0, joined("value")[:, 0]
    return {
        "roots": starts[:-1].astype(np.int32),
        "feature": np.where(inner, joined("feature"), -1).astype(np.int16),
        "cut": joined("threshold").astype(np.float32),
        "left": np.where(inner, joined("children_left") + offset, 0).astype(np.int32),
        "right": np.where(inner, joined("children_right") + offset, 0).astype(np.int32),
        "share": (value[:, 1] / value.sum(axis=1)).astype(np.float16),
    }
