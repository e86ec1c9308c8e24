"""Make the heads of the standing profile: logistic regression on the vectors of the shipped model.

    python scripts/make_profile.py --understanding utterances.jsonl

Rows written for it lie in `scripts/data/profile.jsonl` (CC0), statements of memories with their part in
`profile_told.jsonl`, questions for memories in `recollections.jsonl`, and messages of which is known whether they ask
for memories in `sloppy.jsonl`: whether those ask for all or for last time is told by a head that the other rows make;
lasting facts and ordinary talk come from labelled utterances (`{"text", "source", "kind", "lasting", "ledger",
"about_self"}`). A fifth of the rows, by a hash of their group, is only reported; strength is chosen by
cross-validation on the rest.
"""

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold, cross_val_predict

from graphmem.text.embedder import ShippedNetwork
from graphmem.text.profile import PROFILE_FILE

WRITTEN = Path(__file__).parent / "data" / "profile.jsonl"
ASKED = WRITTEN.with_name("sloppy.jsonl")
RECOLLECTIONS = WRITTEN.with_name("recollections.jsonl")
TOLD = WRITTEN.with_name("profile_told.jsonl")
OTHER, OWN = "other", "own"
WHOLE, SURE = ("overview", "last_time"), 0.7
"""Parts that a message asks for where that is likely enough; else it asks for one thing."""
STRENGTHS = (1.0, 3.0, 10.0, 30.0)
LASTING = 2


@dataclass(frozen=True)
class Row:
    """A labelled text, and the group it must not be parted from."""

    text: str
    label: str
    group: str


def is_test(group: str) -> bool:
    """True for the fifth of the groups that nothing is fitted to."""
    return group == "test" or hashlib.sha256(group.encode()).digest()[0] % 5 == 0


def written(about: str) -> list[Row]:
    rows = [json.loads(line) for line in WRITTEN.read_text("utf-8").splitlines()]
    return [Row(row["text"], row["label"], row["text"]) for row in rows if row["about"] == about]


def told() -> list[Row]:
    """Statements as memories hold them."""
    rows = [json.loads(line) for line in TOLD.read_text("utf-8").splitlines()]
    return [Row(row["text"], row["label"], "test" if row["split"] == "test" else row["text"]) for row in rows]


def asked(known: Sequence[Row], encode: Any) -> list[Row]:
    """Messages that ask for memories, with the part that a head made of the known rows takes them for, and others."""
    rows = [json.loads(line) for line in ASKED.read_text("utf-8").splitlines()]
    for student in map(json.loads, RECOLLECTIONS.read_text("utf-8").splitlines()):
        rows += [{"means": each["q"], "asks": "memory", "split": student["split"]} for each in student["questions"]]
    x = np.concatenate([encode([row.text]) for row in known])
    head = LogisticRegression(C=10.0, class_weight="balanced", max_iter=2000).fit(x, [row.label for row in known])
    found = []
    for row in rows:
        chances = head.predict_proba(encode([row["means"]]))[0]
        likely = str(head.classes_[chances.argmax()])
        part = likely if likely in WHOLE and chances.max() >= SURE else OWN
        group = "test" if row["split"] == "test" else row["means"]
        found.append(Row(row["means"], part if row["asks"] == "memory" else OTHER, group))
    return found


def from_talk(path: Path) -> tuple[list[Row], list[Row]]:
    """Statements and questions among the labelled utterances."""
    statements, questions = [], []
    for row in map(json.loads, path.read_text("utf-8").splitlines()):
        group = row["text"] if row["source"] == "written" else row["source"].split("#")[0]
        if row["text"].rstrip().endswith("?"):
            questions.append(Row(row["text"], "other", group))
        elif not row["lasting"]:
            statements.append(Row(row["text"], "none", group))
        elif row["kind"] == "trait" and row["ledger"] == "fact" and row["lasting"] > LASTING:
            statements.append(Row(row["text"], "need", group))
    return statements, questions


def fitted(name: str, rows: Sequence[Row], encode: Any) -> tuple[dict[str, Any], dict[str, float]]:
    """Weights and figures of one head."""
    x = np.concatenate([encode([row.text]) for row in track(rows, name)])
    y, groups = np.array([row.label for row in rows]), np.array([row.group for row in rows])
    test = np.array([is_test(row.group) for row in rows])

    labels, counts = np.unique(y[~test], return_counts=True)
    # Rare labels count more, but not as much as all of a common one: what is picked has to be right.
    weights_of = dict(zip(labels, np.sqrt(counts.mean() / counts), strict=True))

    def model(strength: float) -> LogisticRegression:
        return LogisticRegression(C=strength, class_weight=weights_of, max_iter=2000)

    def score(strength: float) -> float:
        guessed = cross_val_predict(model(strength), x[~test], y[~test], groups=groups[~test], cv=GroupKFold(5))
        return float(f1_score(y[~test], guessed, average="macro"))

    scores = {strength: score(strength) for strength in STRENGTHS}
    best = max(scores, key=lambda strength: scores[strength])
    made = model(best).fit(x[~test], y[~test])
    guessed = made.predict(x[test])
    figures = {
        "strength": best,
        "macro_f1_cross_validated": round(scores[best], 3),
        "macro_f1_test": round(float(f1_score(y[test], guessed, average="macro")), 3),
        "accuracy_test": round(float(np.mean(guessed == y[test])), 3),
        "rows": len(rows),
        "rows_test": int(test.sum()),
    }
    for row, guess in zip(np.array([row.text for row in rows])[test], guessed, strict=True):
        wanted = next(each.label for each in rows if each.text == row)
        if wanted != guess:
            print(f"  {wanted} read as {guess}: {row[:90]}")
    weights = {
        f"{name}_labels": made.classes_.astype(str),
        f"{name}_weights": made.coef_.astype(np.float32),
        f"{name}_bias": made.intercept_.astype(np.float32),
    }
    return weights, figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--understanding", type=Path, required=True, help="labelled utterances as JSON lines")
    parser.add_argument("--out", type=Path, default=PROFILE_FILE, help="file to write")
    args = parser.parse_args()

    encode = ShippedNetwork(1).encode
    talk = dict(zip(("statement", "question"), from_talk(args.understanding), strict=True))
    made: dict[str, Any] = {}
    figures = {}
    for name, rows in talk.items():
        known = [*written(name), *rows]
        known += asked(known, encode) if name == "question" else told()
        weights, figures[name] = fitted(name, known, encode)
        made |= weights
        print(name, figures[name])
    args.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(args.out, **made)
    args.out.with_name("figures.json").write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
