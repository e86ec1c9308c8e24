"""Make the model of ended statements: a logistic regression on labelled pairs of statements of one student.

    python scripts/make_ending.py --data pairs.jsonl

Lines of the file: `{"old", "new", "old_at", "new_at", "retire_old", "subject"}`, grouped by `old`. One group in five is
held out (`is_held_out`) and only reported. Beside the pairs the model sees each new statement with two near ones of
other subjects, which it does not end. The figures lie in `ending.json` beside the weights.
"""

import argparse
import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GroupKFold

from graphmem.bench.held_out import is_held_out
from graphmem.text.affect import load_affect
from graphmem.text.doc import Doc
from graphmem.text.embedder import ShippedNetwork
from graphmem.text.ending import ENDING_FILE, ENDING_FOLDER, EndingModel, load_ending
from graphmem.text.retelling import retold
from graphmem.text.revision import VECTOR_LENGTH, Effect, Revisable, effect, revision_features
from graphmem.text.slots import slot_of

STRENGTH, PART_WEIGHT, PRODUCT_WEIGHT = 1.0, 0.3, 8.0
"""Inverse strength of the penalty; weight of what parts two statements, and of the product of their vectors."""
ENDED_FROM = 0.5
"""Chance from which a pair counts as ended in the figures."""
STRAY_WEIGHT, NEAR, MUCH_ALIKE = 0.5, 12, 0.55
FOLDS = 5
NAME = "Mo"

Array = NDArray[np.float64]
Pair = tuple[Revisable, Revisable]


class Reader:
    """Statements as they are compared, each read once."""

    def __init__(self) -> None:
        self.encode, self.affect = ShippedNetwork(1).encode, load_affect()
        self.known: dict[tuple[str, str], Revisable] = {}

    def __call__(self, text: str, day: str) -> Revisable:
        if (text, day) not in self.known:
            at = datetime.fromisoformat(day).replace(tzinfo=UTC)
            content = retold(text, NAME, at) or text
            (vector,) = self.encode([content])
            valence = self.affect.valence(Doc(content), vector)
            self.known[text, day] = Revisable(content, text, at, None, slot_of(Doc(text)), valence, vector)
        return self.known[text, day]


def strays(rows: list[dict[str, Any]], pairs: list[Pair]) -> list[tuple[int, int]]:
    """Places of old and new statements of different subjects that are near each other: none ends the other."""
    chosen = random.Random(0)
    olds = np.stack([old.compared.vector for _, old in pairs])
    found = []
    for i, (new, _) in enumerate(pairs):
        cosines = olds @ new.compared.vector
        others = [j for j in np.argsort(-cosines) if rows[j]["subject"] != rows[i]["subject"]]
        others = [j for j in others if rows[j]["old"] != rows[i]["old"]][:NEAR]
        found += [(int(j), i) for j in {others[0], chosen.choice(others[1:])} if cosines[j] < MUCH_ALIKE]
    return found


def weighted(rows: Array) -> tuple[Array, Array]:
    """Mean and scale of features: parts are standardised, vectors keep their size."""
    mean, scale = rows.mean(0), PART_WEIGHT / (rows.std(0) + 1e-6)
    mean[-3 * VECTOR_LENGTH :] = 0.0
    scale[-3 * VECTOR_LENGTH :] = 1.0
    scale[-VECTOR_LENGTH:] = PRODUCT_WEIGHT
    return mean, scale


def fitted(x: Array, y: Array, weight: Array) -> EndingModel:
    mean, scale = weighted(x)
    model = LogisticRegression(C=STRENGTH, max_iter=3000).fit((x - mean) * scale, y, weight)
    return EndingModel(model.coef_[0], mean, scale, float(model.intercept_[0]))


def figures(chances: Array, ended: NDArray[np.bool_], stray: Array, by_rule: NDArray[np.bool_]) -> dict[str, float]:
    taken = chances >= ENDED_FROM
    return {
        "pairs": float(len(ended)),
        "average precision": float(average_precision_score(ended, chances)),
        "precision": float((taken & ended).sum() / max(1, taken.sum())),
        "recall": float((taken & ended).sum() / ended.sum()),
        "strays ended": float((stray >= ENDED_FROM).mean()),
        "whole decision: precision": float((by_rule & ended).sum() / max(1, by_rule.sum())),
        "whole decision: recall": float((by_rule & ended).sum() / ended.sum()),
    }


def decided(pairs: list[Pair]) -> NDArray[np.bool_]:
    found = [effect(new, old, float(new.compared.vector @ old.compared.vector)) for new, old in pairs]
    return np.array([each in (Effect.ENDS, Effect.CORRECTS) for each in found])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="pairs of statements")
    args = parser.parse_args()

    read = Reader()
    every = [json.loads(line) for line in args.data.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in every if not is_held_out(row["old"])]
    test = [row for row in every if is_held_out(row["old"])]
    pairs, kept = ([(read(r["new"], r["new_at"]), read(r["old"], r["old_at"])) for r in part] for part in (rows, test))
    near, far = strays(rows, pairs), strays(test, kept)
    x = np.stack([revision_features(*pair) for pair in pairs])
    stray = np.stack([revision_features(pairs[i][0], pairs[j][1]) for j, i in near])
    ended = np.array([row["retire_old"] for row in rows])
    groups = np.array([row["old"] for row in rows])
    chances, of_strays = np.zeros(len(rows)), np.zeros(len(near))
    stray_groups = groups[[i for _, i in near]]

    def trained(train: NDArray[np.intp], others: NDArray[np.intp]) -> EndingModel:
        weight = np.r_[np.ones(len(train)), np.full(len(others), STRAY_WEIGHT)]
        return fitted(np.vstack([x[train], stray[others]]), np.r_[ended[train], np.zeros(len(others))], weight)

    for train, held in GroupKFold(FOLDS).split(x, groups=groups):
        out = np.isin(stray_groups, groups[held])
        model = trained(train, np.flatnonzero(~out))
        chances[held] = [model.chance(row) for row in x[held]]
        of_strays[out] = [model.chance(row) for row in stray[out]]
    model = trained(np.arange(len(rows)), np.arange(len(near)))
    ENDING_FOLDER.mkdir(exist_ok=True)
    arrays = {name: getattr(model, name).astype(np.float32) for name in ("weights", "mean", "scale")}
    np.savez_compressed(ENDING_FILE, **arrays, bias=np.array(model.bias))
    load_ending.cache_clear()
    shipped = load_ending()
    untouched = np.array([shipped.chance(revision_features(*pair)) for pair in kept])
    beside = np.array([shipped.chance(revision_features(kept[i][0], kept[j][1])) for j, i in far])
    measured = {
        "cross-validated": figures(chances, ended, of_strays, chances >= ENDED_FROM),
        "held out": figures(untouched, np.array([row["retire_old"] for row in test]), beside, decided(kept)),
    }
    for name in ("whole decision: precision", "whole decision: recall"):
        del measured["cross-validated"][name]
    text = json.dumps({k: {n: round(v, 4) for n, v in each.items()} for k, each in measured.items()}, indent=2)
    (ENDING_FOLDER / "ending.json").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
