"""Make the model of languages: logistic regression over hashed runs of characters of messages in eleven languages.

    python scripts/make_language.py --data DATA

Rows are those of `scripts/data/safety.jsonl` and `personal.jsonl`, which name their language, and as English small talk
`DATA/boundaries/tiage_train.jsonl`. A fifth, by a hash of the text, is only reported.
"""

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from graphmem.text.language import LANGUAGE_FILE, SURE_LANGUAGE, language_features

FURTHER = Path(__file__).with_name("data")
ENGLISH = 600
"""English messages that are taken of each file."""
STRENGTH = 300.0
LEAST_ROWS = 20
"""Rows a language needs."""


def is_test(text: str) -> bool:
    return hashlib.sha256(text.encode()).digest()[0] % 5 == 0


def read_rows(data: Path) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for name in ("safety", "personal"):
        rows = [json.loads(line) for line in (FURTHER / f"{name}.jsonl").read_text("utf-8").splitlines()]
        english = [row for row in rows if row["language"] == "en"][:ENGLISH]
        found |= {row["text"]: row["language"] for row in (*english, *(r for r in rows if r["language"] != "en"))}
    talks = map(json.loads, (data / "boundaries" / "tiage_train.jsonl").read_text("utf-8").splitlines())
    found |= dict.fromkeys([turn["text"] for talk in talks for turn in talk["turns"]][:ENGLISH], "en")
    counts = {code: list(found.values()).count(code) for code in set(found.values())}
    return [(text, code) for text, code in found.items() if counts[code] >= LEAST_ROWS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    rows = read_rows(parser.parse_args().data)
    x = np.stack([language_features(text) for text, _ in rows])
    y, test = np.array([code for _, code in rows]), np.array([is_test(text) for text, _ in rows])
    model = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=500).fit(x[~test], y[~test])
    chances = model.predict_proba(x[test])
    told, sure = model.classes_[chances.argmax(1)], chances.max(1) >= SURE_LANGUAGE
    figures = {
        "rows": len(rows),
        "rows_test": int(test.sum()),
        "right": round(float(np.mean(told == y[test])), 4),
        "told": round(float(sure.mean()), 4),
        "right_where_told": round(float(np.mean(told[sure] == y[test][sure])), 4),
        **{
            f"right_where_told_{code}": round(float(np.mean(told[sure & (y[test] == code)] == code)), 4)
            for code in model.classes_
        },
    }
    LANGUAGE_FILE.parent.mkdir(exist_ok=True)
    np.savez_compressed(
        LANGUAGE_FILE,
        codes=model.classes_.astype(str),
        weights=model.coef_.astype(np.float16),
        bias=model.intercept_.astype(np.float32),
    )
    LANGUAGE_FILE.with_suffix(".json").write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
