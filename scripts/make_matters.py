"""Make the model of the matter that a task practises: a multinomial logistic regression on labelled tasks.

    python scripts/make_matters.py

Rows are those of `scripts/data/tasks.jsonl` (`task`, `matters`, the likelier one first). One in five is held out
(`is_held_out`), only reported; the strength is chosen by cross-validation on the others. The figures lie beside
the weights.
"""

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from graphmem.bench.talks import is_held_out
from graphmem.text.embedder import ShippedNetwork
from graphmem.text.matters import MATTER_FROM, MATTERS_FILE, MATTERS_FOLDER, NO_MATTER, Matters, task_terms
from graphmem.text.trained import LinearHead

DATA = Path(__file__).parent / "data" / "tasks.jsonl"
STRENGTHS = (3.0, 10.0, 30.0)
FOLDS = 5
SECOND = 0.5
"""Weight of a task's second matter beside the first."""
FEWEST = 4
"""Rows of a matter below which it is no class of its own."""
OFTEN = 2
"""Tasks that have a term from which on it is counted."""
Array = NDArray[np.float32]


class Row(NamedTuple):
    """A task with its matters and its vector."""

    task: str
    matters: tuple[str, ...]
    source: str
    vector: Array


def read_rows() -> list[Row]:
    rows = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    counts = Counter(matter for row in rows for matter in row["matters"])
    vectors = ShippedNetwork(1).encode([row["task"] for row in rows])
    return [
        Row(r["task"], tuple(m if counts[m] >= FEWEST else NO_MATTER for m in r["matters"]), r["source"], vector)
        for r, vector in zip(rows, vectors, strict=True)
    ]


def fitted(rows: list[Row], strength: float) -> Matters:
    """Each task is met once for each of its matters."""
    counts = Counter(term for row in rows for term in set(task_terms(row.task)))
    known = sorted(term for term, count in counts.items() if count >= OFTEN)
    rarity = np.array([1 + np.log((1 + len(rows)) / (1 + counts[term])) for term in known], dtype=np.float32)
    empty = LinearHead((), np.zeros((0, 0), dtype=np.float32), np.zeros(0, dtype=np.float32))
    unfitted = Matters(empty, {term: place for place, term in enumerate(known)}, rarity)
    met = [(row, matter, SECOND if k else 1.0) for row in rows for k, matter in enumerate(row.matters)]
    model = LogisticRegression(C=strength, max_iter=3000)
    model.fit(
        np.stack([unfitted.features(row.task, row.vector) for row, _, _ in met]),
        [matter for _, matter, _ in met],
        sample_weight=[weight for _, _, weight in met],
    )
    weights, bias = (part.astype(np.float32) for part in (model.coef_, model.intercept_))
    return Matters(LinearHead(tuple(map(str, model.classes_)), weights, bias), unfitted.terms, rarity)


def judged(matters: Matters, rows: list[Row]) -> list[tuple[bool, bool]]:
    """Of each task whether its likeliest matter is one of its own, and whether it would be told."""
    found = []
    for row in rows:
        chances = matters.head.chances(matters.features(row.task, row.vector))
        label = matters.head.labels[int(chances.argmax())]
        found.append((label in row.matters, bool(chances.max() >= MATTER_FROM) and label != NO_MATTER))
    return found


def figures(matters: Matters, rows: list[Row]) -> dict[str, float]:
    right, told = np.array(judged(matters, rows)).T
    found = {"rows": len(rows), "right": right.mean(), "told": told.mean(), "right where told": right[told].mean()}
    return {name: round(float(value), 3) for name, value in found.items()}


def crossed(rows: list[Row], strength: float) -> float:
    right = []
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(np.zeros(len(rows))):
        matters = fitted([rows[i] for i in train], strength)
        right += [each for each, _ in judged(matters, [rows[i] for i in test])]
    return round(float(np.mean(right)), 3)


def main() -> None:
    rows = read_rows()
    learned = [row for row in rows if not is_held_out(row.task)]
    by_strength = {strength: crossed(learned, strength) for strength in STRENGTHS}
    strength = max(by_strength, key=lambda s: by_strength[s])
    matters = fitted(learned, strength)
    found = {"cross-validated": {"rows": len(learned), "strength": strength, "right": by_strength[strength]}}
    for source in dict.fromkeys(row.source for row in rows):
        apart = [row for row in rows if is_held_out(row.task) and row.source == source]
        found[f"held out, {source}"] = figures(matters, apart)
    MATTERS_FOLDER.mkdir(exist_ok=True)
    head = matters.head
    np.savez_compressed(
        MATTERS_FILE,
        terms=np.array(list(matters.terms)),
        rarity=matters.rarity,
        matter_labels=np.array(head.labels),
        matter_weights=head.weights.astype(np.float16),
        matter_bias=head.bias,
    )
    (MATTERS_FOLDER / "matters.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
