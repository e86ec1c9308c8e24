"""Make what tells which clauses belong into the ledger: logistic regression over what the reader makes of them.

    python scripts/make_ledger.py --data DATA

DATA holds `understanding/utterances.jsonl`, `tutoring/*.jsonl` and `boundaries/tiage_train.jsonl`. Written rows lie in
`scripts/data`: `utterances.jsonl`, `told.jsonl`, and `ledger.jsonl`, which has what only sounds like a promise, a debt
or a secret beside real ones. `ledger_talk.jsonl` labels clauses of the real talk which the reader took for something,
by their hash (their texts keep their own licences); most are nothing. Of the other clauses of real talk one in three is
learned from as nothing.

One group in five of the utterances and of the tutoring talk is held out (`is_held_out`): figures on the utterances
among them stand in `ledger.json`. Strength, weights and the bounds in `ledger_model.py` were chosen on
`tests/data/ledger_labelled.jsonl` (split "dev") and on TIAGE's dev part.
"""

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from graphmem.bench.held_out import is_held_out, text_hash
from graphmem.bench.understanding import read_utterances
from graphmem.text.chunks import is_small_talk
from graphmem.text.clauses import statement_spans
from graphmem.text.doc import Doc
from graphmem.text.ledger_model import LEDGER_FILE, LedgerModel, load_ledger_model
from graphmem.text.reader import LEDGER_CATEGORIES, MessageReading, read_now

FURTHER = Path(__file__).with_name("data")
STRENGTH, EVERY = 1.5, 3
WEIGHTS = {"entry": 2.0, "nothing": 1.0, "talk": 0.5}
"""Weight of a row that belongs into the ledger, of one that does not, and of ordinary talk that nobody looked at."""
LOOKED_AT = 0.35
"""Chance of an entry by the reader from which clauses of talk were read and labelled."""
_SPACED = re.compile(r" ([.,!?;:])")
_SHORT = re.compile(r" ' ?(s|m|re|ve|ll|d|t)\b")


class Row(NamedTuple):
    """A text, the place of its category, and how much it counts."""

    text: str
    label: int
    weight: float


def lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def place(category: str | None) -> int:
    return [None if each is None else each.value for each in LEDGER_CATEGORIES].index(category)


def row(text: str, category: str | None) -> Row:
    label = place(None if category == "none" else category)
    return Row(text, label, WEIGHTS["entry" if label else "nothing"])


def written(path: Path) -> Iterator[Row]:
    return (row(each["text"], each["ledger"]) for each in lines(path))


def clauses_of_talk(data: Path) -> list[str]:
    """Clauses of small talk, as one writes it, and of the students of tutoring talk that is not held out."""
    texts = [
        turn["text"]
        for name in ("mathdial", "bridge", "cima")
        for dialogue in lines(data / "tutoring" / f"{name}.jsonl")
        if not is_held_out(f"{name}:{dialogue['dialogue_id']}")
        for turn in dialogue["turns"]
        if turn["speaker"] == "student"
    ]
    return list(dict.fromkeys([*talk_clauses(data / "boundaries" / "tiage_train.jsonl"), *telling_clauses(texts)]))


def talk_clauses(path: Path) -> list[str]:
    """Clauses of a file of TIAGE's small talk, as one writes it."""
    return telling_clauses(turns_of_talk(path))


def turns_of_talk(path: Path) -> list[str]:
    """Turns of a file of TIAGE's small talk, as one writes it."""
    turns = (turn["text"] for dialogue in lines(path) for turn in dialogue["turns"])
    return [_SHORT.sub(r"'\1", _SPACED.sub(r"\1", text)) for text in turns]


def telling_clauses(texts: Iterable[str]) -> list[str]:
    """Clauses of messages, without phrases of small talk, each once."""
    found = (text[slice(*span)] for text in texts for span in statement_spans(Doc(text)))
    return list(dict.fromkeys(clause for clause in found if not is_small_talk(Doc(clause))))


def talk(data: Path) -> list[Row]:
    labels = {each["hash"]: each["ledger"] for each in lines(FURTHER / "ledger_talk.jsonl")}
    clauses = clauses_of_talk(data)
    found = []
    for clause, reading in zip(clauses, read_now(clauses), strict=True):
        known = text_hash(clause)
        if known in labels:
            found.append(row(clause, labels[known]))
        elif 1 - reading.ledger[0] <= LOOKED_AT and known % EVERY == 0:
            found.append(Row(clause, 0, WEIGHTS["talk"]))
    print(f"{sum(r.weight != WEIGHTS['talk'] for r in found)} of {len(labels)} labels of real talk found")
    return found


def features(read: Sequence[MessageReading]) -> np.ndarray:
    return np.stack([each.features for each in read])


def figures(model: LedgerModel, data: Path) -> dict[str, float]:
    """Precision and recall over the categories on utterances that are held out; danger is told by its own detector."""
    rows = [u for u in read_utterances(data / "understanding" / "utterances.jsonl") if is_held_out(u.group)]
    rows = [u for u in rows if u.ledger != "threat"]
    told = [model.category(each) for each in read_now([u.text for u in rows])]
    right = sum(t is not None and t.value == u.ledger for t, u in zip(told, rows, strict=True))
    wanted = sum(u.ledger not in (None, "none") for u in rows)
    kept = sum(t is not None for t in told)
    return {
        "precision": round(right / kept, 3),
        "recall": round(right / wanted, 3),
        "rows": len(rows),
        "entries": wanted,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of understanding, tutoring and boundaries")
    args = parser.parse_args()
    utterances = read_utterances(args.data / "understanding" / "utterances.jsonl")
    rows = [row(u.text, u.ledger) for u in utterances if not is_held_out(u.group)]
    rows += [each for name in ("utterances", "told", "ledger") for each in written(FURTHER / f"{name}.jsonl")]
    rows += talk(args.data)
    made = LogisticRegression(C=STRENGTH, max_iter=3000)
    made.fit(
        features(read_now([r.text for r in rows])), [r.label for r in rows], sample_weight=[r.weight for r in rows]
    )
    LEDGER_FILE.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(LEDGER_FILE, weights=made.coef_.astype(np.float32), bias=made.intercept_.astype(np.float32))
    found = {"learned_from": len(rows), "held_out": figures(load_ledger_model(), args.data)}
    LEDGER_FILE.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
