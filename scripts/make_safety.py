"""Train the detector of danger (`graphmem/text/safety.py`): weights, threshold, figures, and the sample that ships.

    python scripts/make_safety.py --data DATA

DATA holds `safety/safety.jsonl`, `tutoring/*.jsonl` and `understanding/utterances.jsonl`. Rows are split by the hash of
their group (row or dialogue): a fifth is the test part, read once at the end; everything is chosen on the rest by
cross-validation. Needs scikit-learn.
"""

import argparse
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression

from graphmem.bench.held_out import is_held_out, save_trained
from graphmem.model import Author, ConcernKind
from graphmem.samples import SAMPLES
from graphmem.samples.dialogues import load_dialogues
from graphmem.text.embedder import EMBEDDER_FOLDER, onnx_encoder
from graphmem.text.normalize import straightened
from graphmem.text.safety import DANGER_BUCKETS, DANGER_FILE, DANGER_HEADS, danger_features, sign_anywhere

FOLDS = 4
FALSE_ALARMS = 0.15
"""Share of the look-alikes of the training part that may raise a concern, in cross-validation: missing costs more."""
VECTOR, HASHED = 3.0, 6.0
"""How much the vector and the hashed features count beside the surface."""


@dataclass(frozen=True)
class Row:
    """A labelled message; `group` is what it is split by."""

    text: str
    concern: str
    urgency: int
    who: str
    source: str
    group: str

    @property
    def tested(self) -> bool:
        return is_held_out(self.group)

    @property
    def fold(self) -> int:
        return int(hashlib.sha256(f"f{self.group}".encode()).hexdigest(), 16) % FOLDS


def read_all(data: Path) -> list[Row]:
    """Messages of danger and look-alikes, then ordinary talk, each text once."""
    rows: dict[str, Row] = {}
    for each in map(json.loads, (data / "safety" / "safety.jsonl").read_text("utf-8").splitlines()):
        rows[each["text"]] = Row(each["text"], each["concern"], each["urgency"], each["who"], "safety", each["id"])
    for name in ("mathdial", "cima", "bridge"):
        for dialogue in load_dialogues(data / "tutoring" / f"{name}.jsonl"):
            for message in dialogue.messages:
                if message.author is Author.STUDENT:
                    rows.setdefault(message.text, Row(message.text, "none", 0, "none", f"talk:{name}", dialogue.id))
    for each in map(json.loads, (data / "understanding" / "utterances.jsonl").read_text("utf-8").splitlines()):
        if each["source"] == "written" and each["ledger"] != "threat":
            rows.setdefault(each["text"], Row(each["text"], "none", 0, "none", "written", each["id"]))
    return list(rows.values())


def matrix(rows: list[Row]) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """The features with the vectors, and without."""
    features = [danger_features(row.text) for row in rows]
    hashed = [_sparse([f[0] for f in features]) * HASHED, _sparse([f[1] for f in features]) * HASHED]
    marks = sparse.csr_matrix(np.stack([f[2] for f in features]))
    vectors = onnx_encoder(EMBEDDER_FOLDER, 1)([row.text for row in rows])
    plain = sparse.hstack([*hashed, marks]).tocsr()
    return sparse.hstack([sparse.csr_matrix(vectors * VECTOR), plain]).tocsr(), plain


def _sparse(rows: list[NDArray[np.int64]]) -> sparse.csr_matrix:
    places = np.concatenate([np.full(len(row), i) for i, row in enumerate(rows)])
    values = np.concatenate([np.full(len(row), 1 / np.sqrt(max(1, len(row)))) for row in rows])
    return sparse.csr_matrix((values, (places, np.concatenate(rows))), shape=(len(rows), DANGER_BUCKETS))


def fitted(features: sparse.csr_matrix, labels: NDArray[np.bool_], weight: float) -> LogisticRegression:
    return LogisticRegression(C=1.0, max_iter=1000, class_weight={False: 1.0, True: weight}).fit(features, labels)


def out_of_fold(
    features: sparse.csr_matrix,
    labels: NDArray[np.bool_],
    folds: NDArray[np.int64],
    used: NDArray[np.bool_],
    weight: float,
) -> NDArray[np.float64]:
    scores = np.zeros(len(labels))
    for fold in range(FOLDS):
        model = fitted(features[used & (folds != fold)], labels[used & (folds != fold)], weight)
        scores[folds == fold] = model.decision_function(features[folds == fold])
    return scores


def figures(found: NDArray[np.bool_], rows: list[Row], part: NDArray[np.bool_]) -> dict[str, float]:
    """Shares of a part of the rows that raise a concern."""

    def share(wanted: Callable[[Row], bool]) -> float:
        chosen = part & np.array([wanted(row) for row in rows])
        return round(float(found[chosen].mean()), 4)

    return {
        "recall": share(lambda row: row.urgency > 0),
        "recall_serious": share(lambda row: row.urgency > 1),
        "recall_acute": share(lambda row: row.urgency > 2),
        "false_alarms": share(lambda row: row.source == "safety" and row.urgency == 0),
        "false_alarms_talk": share(lambda row: row.source.startswith("talk")),
    }


def calibrated(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and offset that make out-of-fold scores the log odds of danger among all rows of the training part."""
    platt = LogisticRegression(C=1e6).fit(scores[:, None], labels)
    return float(platt.coef_[0, 0]), float(platt.intercept_[0])


def heads(
    rows: list[Row], features: sparse.csr_matrix, used: NDArray[np.bool_]
) -> dict[str, tuple[NDArray[np.float64], float]]:
    """What a concern is about, learned from the messages of danger alone."""
    danger = used & np.array([row.urgency > 0 for row in rows])
    chosen = np.flatnonzero(danger)
    labels = {kind.value: np.array([rows[i].concern == kind.value for i in chosen]) for kind in ConcernKind}
    labels["serious"] = np.array([rows[i].urgency > 1 for i in chosen])
    labels["acute"] = np.array([rows[i].urgency > 2 for i in chosen])
    labels["other"] = np.array([rows[i].who == "other" for i in chosen])
    weights = {"serious": 1.0, "acute": 2.5, "other": 2.0}
    models = {name: fitted(features[chosen], label, weights.get(name, 3.0)) for name, label in labels.items()}
    return {name: (model.coef_[0], float(model.intercept_[0])) for name, model in models.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    rows = read_all(data)
    features, plain = matrix(rows)
    tested, folds = np.array([row.tested for row in rows]), np.array([row.fold for row in rows])
    labels, used = np.array([row.urgency > 0 for row in rows]), ~tested
    signs = np.array([sign_anywhere(straightened(row.text)) is not None for row in rows])
    lookalikes = used & ~labels & np.array([row.source == "safety" for row in rows])
    arrays: dict[str, Any] = {}
    printed: dict[str, dict[str, float]] = {}
    told = heads(rows, features, used)
    size = features.shape[1] - plain.shape[1]
    for prefix, matrix_ in (("", features), ("plain_", plain)):
        scores = out_of_fold(matrix_, labels, folds, used, 2.0)
        model = fitted(matrix_[used], labels[used], 2.0)
        slope, offset = calibrated(scores[used], labels[used])
        threshold = threshold_of(scores, signs, lookalikes)
        arrays[f"{prefix}threshold"] = np.array(slope * threshold + offset, dtype=np.float32)
        rows_ = [(model.coef_[0] * slope, float(model.intercept_[0]) * slope + offset)]
        if not prefix:
            rows_ += [told[name] for name in DANGER_HEADS[1:]]
        coefficients = np.stack([row[0] for row in rows_])
        start = 0 if prefix else size
        if not prefix:
            arrays["vector"] = (coefficients[:, :size] * VECTOR).astype(np.float32)
        for name, begin in (("words", start), ("letters", start + DANGER_BUCKETS)):
            part = coefficients[:, begin : begin + DANGER_BUCKETS]
            arrays[f"{prefix}{name}"] = (part * HASHED).astype(np.float16)
        arrays[f"{prefix}surface"] = coefficients[:, -11:].astype(np.float32)
        arrays[f"{prefix}bias"] = np.array([row[1] for row in rows_], dtype=np.float32)
        name = "without a vector" if prefix else "model and signs"
        printed[f"{name}, cross-validated"] = figures((scores >= threshold) | signs, rows, used)
        printed[f"{name}, test"] = figures((model.decision_function(matrix_) >= threshold) | signs, rows, tested)
    printed["signs alone, test"] = figures(signs, rows, tested)
    DANGER_FILE.parent.mkdir(exist_ok=True)
    np.savez_compressed(DANGER_FILE, **arrays)
    DANGER_FILE.with_name("figures.json").write_text(json.dumps(printed, indent=1) + "\n", "utf-8")
    save_trained(DANGER_FILE.with_name("trained.npy"), [(row.text,) for row in rows if not row.tested])
    write_sample(rows)
    print(json.dumps(printed, indent=1))


def threshold_of(scores: NDArray[np.float64], signs: NDArray[np.bool_], lookalikes: NDArray[np.bool_]) -> float:
    """The lowest score from which on, with the signs, no more look-alikes raise a concern than may."""
    spare = FALSE_ALARMS * lookalikes.sum() - (signs & lookalikes).sum()
    ordered = np.sort(scores[lookalikes & ~signs])[::-1]
    return float(ordered[int(spare)] + 1e-6)


def write_sample(rows: list[Row]) -> None:
    """The test part, as it ships."""
    folder = SAMPLES / "safety"
    folder.mkdir(exist_ok=True)
    for name, wanted in (("messages", "safety"), ("talk", "talk")):
        lines = [
            json.dumps(
                {"id": r.group, "text": r.text, "concern": r.concern, "urgency": r.urgency, "who": r.who},
                ensure_ascii=False,
            )
            for r in rows
            if r.tested and r.source.startswith(wanted)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
