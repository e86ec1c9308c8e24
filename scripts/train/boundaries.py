"""Topic boundaries: logistic regression on the train part of TIAGE, checked by cross-validation within it.

Strengths and thresholds are chosen with whole dialogues held out. The sample that ships is no part of it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from graphmem.bench.scores import exact, pk
from graphmem.bench.surprise import SegmentedTalk, read_segmented_talks
from graphmem.model import Matrix
from graphmem.text.doc import Doc
from graphmem.text.topic_boundaries import (
    BOUNDARY_BUCKETS,
    BOUNDARY_FORMS,
    boundary_buckets,
    boundary_word_weight,
    numbers,
    places,
    spoken_out,
    standardised,
)

from .options import Figures, Options, embedded

STRENGTH = 0.5
NUMBERS_SCALE = 0.3
"""How strongly a number may speak beside the vector and a hashed word: the penalty trusts what is large."""
FOLDS, REPEATS = 5, 4
THRESHOLDS = np.arange(0.1, 0.7, 0.01)
EQUAL = 0.005
"""F1 that is no difference: of thresholds as good the highest is taken, which fires least."""

Array = NDArray[np.float64]


class Part(NamedTuple):
    """What one form sees of every turn it judges: rows alike in each, and the talk a row is of."""

    numbers: Array
    words: sparse.csr_matrix
    vectors: Array
    shifts: NDArray[np.int64]
    talk: NDArray[np.int64]


def make(given: Options) -> Figures:
    """Write `boundaries.npz`: of each form its weights and threshold."""
    talks = read_segmented_talks(given.data / "boundaries" / "tiage_train.jsonl")
    every = embedded([each.text for talk, _ in talks for each in talk])
    vectors = np.split(every, np.cumsum([len(talk) for talk, _ in talks])[:-1])
    made, figures = dict[str, Any](), Figures()
    for form in BOUNDARY_FORMS:
        seen = part(talks, vectors, ahead=form.startswith("ahead"), full=form.endswith("full"))
        threshold, figures[form] = best_threshold(seen)
        weights = fitted(seen, np.ones(len(seen.talk), dtype=bool))
        weights["cut"] = np.array([weights["cut"][0], threshold])
        made |= {f"{form}_{name}": values.astype(np.float32) for name, values in weights.items()}
    np.savez_compressed(given.folder / "boundaries.npz", **made)
    return figures


def part(talks: Sequence[SegmentedTalk], vectors: Sequence[Matrix], *, ahead: bool, full: bool) -> Part:
    """Return what a form sees of talks."""
    rows = [(k, i) for k, (talk, _) in enumerate(talks) for i in range(1, len(talk) - ahead)]
    docs = [[spoken_out(Doc(each.text)) for each in talk] for talk, _ in talks]
    counted = [
        numbers(own, seen if full else None, range(1, len(own) - ahead), ahead=ahead)
        for own, seen in zip(docs, vectors, strict=True)
    ]
    meant = [vectors[k][i] if full else np.zeros(0) for k, i in rows]
    return Part(
        np.concatenate([each for each in counted if len(each)]),
        words(docs, rows, ahead=ahead),
        np.array(meant, dtype=np.float64),
        np.array([talks[k][1][i] for k, i in rows]),
        np.array([k for k, _ in rows]),
    )


def words(docs: Sequence[Sequence[Doc]], rows: Sequence[tuple[int, int]], *, ahead: bool) -> sparse.csr_matrix:
    """Return the hashed words of each place side by side, as `Form.words` has them in rows."""
    hashed = [[boundary_buckets(doc) for doc in talk] for talk in docs]
    width = len(places(0, ahead=ahead)) * BOUNDARY_BUCKETS
    found = [[(place, hashed[k][turn]) for place, turn in enumerate(places(i, ahead=ahead))] for k, i in rows]
    columns = [np.concatenate([place * BOUNDARY_BUCKETS + buckets for place, buckets in each]) for each in found]
    values = [np.concatenate([np.full(len(b), boundary_word_weight(b)) for _, b in each]) for each in found]
    ends = np.cumsum([0, *map(len, columns)])
    return sparse.csr_matrix((np.concatenate(values), np.concatenate(columns), ends), shape=(len(rows), width))


def fitted(given: Part, rows: NDArray[np.bool_]) -> dict[str, Array]:
    """Return weights from some rows, under the names of the fields of `Form`; `cut` is bias and, later, threshold."""
    mean, scale = np.nanmean(given.numbers[rows], axis=0), np.nanstd(given.numbers[rows], axis=0)
    scale[scale == 0] = 1.0
    seen = standardised(given.numbers, mean, scale) * NUMBERS_SCALE
    x = sparse.csr_matrix(sparse.hstack([np.hstack([seen, given.vectors]), given.words]))
    model = LogisticRegression(C=STRENGTH, max_iter=5000).fit(x[rows], given.shifts[rows])
    counted, meant, hashed = np.split(model.coef_[0], np.cumsum([seen.shape[1], given.vectors.shape[1]]))
    scales = {"mean": mean, "scale": scale, "numbers": counted * NUMBERS_SCALE}
    return scales | {"vector": meant, "words": hashed.reshape(-1, BOUNDARY_BUCKETS), "cut": model.intercept_}


def probabilities(weights: dict[str, Array], given: Part) -> Array:
    """Return the chance of a boundary of each row."""
    logits = weights["cut"][0] + given.words @ weights["words"].ravel() + given.vectors @ weights["vector"]
    logits += standardised(given.numbers, weights["mean"], weights["scale"]) @ weights["numbers"]
    return np.asarray(1 / (1 + np.exp(-logits)))


def held_out(given: Part) -> Iterator[Array]:
    """Yield chances of every row by a model that has seen nothing of its talk, several times over."""
    talks = given.talk.max() + 1
    for seed in range(REPEATS):
        fold = (np.random.default_rng(seed).permutation(talks) % FOLDS)[given.talk]
        guessed = np.zeros(len(fold))
        for k in range(FOLDS):
            guessed[fold == k] = probabilities(fitted(given, fold != k), given)[fold == k]
        yield guessed


def best_threshold(given: Part) -> tuple[float, Figures]:
    """Return the threshold of the best F1 on talks held out, and F1 and Pk there."""
    talks = range(int(given.talk.max()) + 1)
    gold = [np.array([0, *given.shifts[given.talk == k]]) for k in talks]
    repeats = [[np.array([0.0, *guessed[given.talk == k]]) for k in talks] for guessed in held_out(given)]
    f1 = np.array([np.mean([exact(gold, [g >= t for g in guessed])[2] for guessed in repeats]) for t in THRESHOLDS])
    best = int(np.flatnonzero(f1 >= f1.max() - EQUAL)[-1])
    threshold = float(THRESHOLDS[best])
    errors = np.mean([pk(g, f >= threshold) for guessed in repeats for g, f in zip(gold, guessed, strict=True)])
    figures = {"threshold": threshold, "f1 cross-validated": f1[best], "pk cross-validated": errors}
    return threshold, {name: round(float(value), 3) for name, value in figures.items()}
