"""Make the sense of episodes: logistic regression on the train part of TIAGE, checked by cross-validation within it.

    python scripts/make_boundaries.py --data tiage_train.jsonl

Lines of the file: `{"dialogue_id", "turns": [{"speaker", "text", "shift": 0 or 1}]}`. Strengths and thresholds are
chosen by cross-validation, whole dialogues held out. The sample that ships is no part of it.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.progress import track
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from graphmem.bench.boundaries import Shifting, read_segmented_talks
from graphmem.bench.scores import exact, pk
from graphmem.model import Matrix
from graphmem.text.doc import Doc
from graphmem.text.embedder import ShippedNetwork
from graphmem.text.topic_boundaries import (
    BOUNDARY_BUCKETS,
    BOUNDARY_FILE,
    BOUNDARY_FORMS,
    boundary_buckets,
    boundary_word_weight,
    numbers,
    places,
    spoken_out,
    standardised,
)

STRENGTH = 0.5
# How strongly a feature may speak beside a hashed word: the penalty trusts what is large.
NUMBERS_SCALE, VECTOR_SCALE = 0.3, 1.0
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


def part(talks: Sequence[Shifting], vectors: Sequence[Matrix], *, ahead: bool, full: bool) -> Part:
    rows = [(k, i) for k, talk in enumerate(talks) for i in range(1, len(talk.texts) - ahead)]
    counted = [
        numbers(
            [spoken_out(Doc(text)) for text in talk.texts],
            own if full else None,
            range(1, len(talk.texts) - ahead),
            ahead=ahead,
        )
        for talk, own in zip(talks, vectors, strict=True)
    ]
    meant = [vectors[k][i] if full else np.zeros(0) for k, i in rows]
    return Part(
        np.concatenate([each for each in counted if len(each)]),
        words(talks, rows, ahead=ahead),
        np.array(meant, dtype=np.float64),
        np.array([talks[k].shifts[i] for k, i in rows]),
        np.array([k for k, _ in rows]),
    )


def words(talks: Sequence[Shifting], rows: Sequence[tuple[int, int]], *, ahead: bool) -> sparse.csr_matrix:
    """The hashed words of each place side by side, as `Form.words` has them in rows."""
    hashed = [[boundary_buckets(spoken_out(Doc(text))) for text in talk.texts] for talk in talks]
    width = len(places(0, ahead=ahead)) * BOUNDARY_BUCKETS
    found = [[(place, hashed[k][turn]) for place, turn in enumerate(places(i, ahead=ahead))] for k, i in rows]
    columns = [np.concatenate([place * BOUNDARY_BUCKETS + buckets for place, buckets in each]) for each in found]
    values = [np.concatenate([np.full(len(b), boundary_word_weight(b)) for _, b in each]) for each in found]
    ends = np.cumsum([0, *map(len, columns)])
    return sparse.csr_matrix((np.concatenate(values), np.concatenate(columns), ends), shape=(len(rows), width))


def fitted(given: Part, rows: NDArray[np.bool_]) -> dict[str, Array]:
    """Weights from some rows, under the names of the fields of `Form`; `cut` is bias and, later, threshold."""
    mean = np.nanmean(given.numbers[rows], axis=0)
    scale = np.nanstd(given.numbers[rows], axis=0)
    scale[scale == 0] = 1.0
    seen = standardised(given.numbers, mean, scale) * NUMBERS_SCALE
    x = sparse.csr_matrix(sparse.hstack([np.hstack([seen, given.vectors * VECTOR_SCALE]), given.words]))
    model = LogisticRegression(C=STRENGTH, max_iter=5000).fit(x[rows], given.shifts[rows])
    counted, meant = seen.shape[1], seen.shape[1] + given.vectors.shape[1]
    weights = model.coef_[0]
    return {
        "mean": mean,
        "scale": scale,
        "numbers": weights[:counted] * NUMBERS_SCALE,
        "vector": weights[counted:meant] * VECTOR_SCALE,
        "words": weights[meant:].reshape(-1, BOUNDARY_BUCKETS),
        "cut": model.intercept_,
    }


def probabilities(weights: dict[str, Array], given: Part) -> Array:
    logits = weights["cut"][0] + given.words @ weights["words"].ravel() + given.vectors @ weights["vector"]
    logits += standardised(given.numbers, weights["mean"], weights["scale"]) @ weights["numbers"]
    return np.asarray(1 / (1 + np.exp(-logits)))


def held_out(given: Part) -> Iterator[Array]:
    """Probabilities of every row by a model that has seen nothing of its talk, several times over."""
    talks = given.talk.max() + 1
    for seed in range(REPEATS):
        fold = (np.random.default_rng(seed).permutation(talks) % FOLDS)[given.talk]
        guessed = np.zeros(len(fold))
        for k in range(FOLDS):
            guessed[fold == k] = probabilities(fitted(given, fold != k), given)[fold == k]
        yield guessed


def best_threshold(given: Part) -> tuple[float, float, float]:
    """The threshold of the best F1 on talks held out, and F1 and Pk there."""
    talks = range(int(given.talk.max()) + 1)
    gold = [np.array([0, *given.shifts[given.talk == k]]) for k in talks]
    repeats = [[np.array([0.0, *guessed[given.talk == k]]) for k in talks] for guessed in held_out(given)]
    f1 = np.array([np.mean([exact(gold, [g >= t for g in guessed])[2] for guessed in repeats]) for t in THRESHOLDS])
    best = int(np.flatnonzero(f1 >= f1.max() - EQUAL)[-1])
    threshold = float(THRESHOLDS[best])
    errors = np.mean([pk(g, f >= threshold) for guessed in repeats for g, f in zip(gold, guessed, strict=True)])
    return threshold, float(f1[best]), float(errors)


def make(talks: Sequence[Shifting], vectors: Sequence[Matrix]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for form in BOUNDARY_FORMS:
        given = part(talks, vectors, ahead=form.startswith("ahead"), full=form.endswith("full"))
        threshold, f1, errors = best_threshold(given)
        weights = fitted(given, np.ones(len(given.talk), dtype=bool))
        weights["cut"] = np.array([weights["cut"][0], threshold])
        made |= {f"{form}_{name}": values.astype(np.float32) for name, values in weights.items()}
        print(f"{form}: cross-validated at threshold {threshold:.2f}: F1 {f1:.3f}, Pk {errors:.3f}")
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the train part of TIAGE as JSON lines")
    parser.add_argument("--out", type=Path, default=BOUNDARY_FILE, help="file to write")
    args = parser.parse_args()

    talks = read_segmented_talks(args.data)
    encode = ShippedNetwork(1).encode
    vectors = [np.concatenate([encode([text]) for text in talk.texts]) for talk in track(talks, "Embedding")]
    made = make(talks, vectors)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(args.out, **made)


if __name__ == "__main__":
    main()
