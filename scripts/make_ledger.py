"""Make what tells which clauses may belong into the ledger: logistic regression over what the reader makes of them.

    python scripts/make_ledger.py --data DATA

DATA holds `understanding/utterances.jsonl`, `tutoring/*.jsonl` and `boundaries/tiage_train.jsonl`. Written rows lie in
`scripts/data`: `utterances.jsonl`, `told.jsonl`, and `ledger.jsonl`, which has what only sounds like a promise, a debt
or a secret beside real ones. `ledger_talk.jsonl` labels clauses of the real talk which the reader took for something,
by their hash (their texts keep their own licences); most are nothing. Of the other clauses of real talk one in three is
learned from as nothing. `make_ledger_judge.py` learns from the same rows.

One group in five of the utterances and of the tutoring talk is held out (`is_held_out`), and one in five of those rows
of `ledger.jsonl` that were written or picked as clauses of ordinary talk (`from`: talk): figures on them stand in
`ledger.json`. Strength and weights were chosen on `tests/data/ledger_labelled.jsonl` (split "dev").
"""

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from graphmem.bench.talks import is_held_out, text_hash
from graphmem.bench.understanding import read_utterances
from graphmem.text.chunks import is_small_talk
from graphmem.text.clauses import statement_spans
from graphmem.text.doc import Doc
from graphmem.text.ledger_model import JUDGED, LEDGER_FILE, LedgerModel, load_ledger_model
from graphmem.text.reader import MessageReading, read_now

FURTHER = Path(__file__).with_name("data")
STRENGTH, EVERY = 1.5, 3
WEIGHTS = {"entry": 2.0, "nothing": 1.0, "talk": 0.5}
"""Weight of a row that belongs into the ledger, of one that does not, and of ordinary talk that nobody looked at."""
NOTHING = (JUDGED.index("none"),)
LOOKED_AT = 0.35
"""Chance of an entry by the reader from which clauses of talk were read and labelled."""
_SPACED = re.compile(r" ([.,!?;:])")
_SHORT = re.compile(r" ' ?(s|m|re|ve|ll|d|t)\b")


class Row(NamedTuple):
    """A text, the places in `JUDGED` of what it may be (an instruction is a wish or an order), how much it counts."""

    text: str
    labels: tuple[int, ...]
    weight: float
    held_out: bool = False

    @property
    def belongs(self) -> bool:
        return self.labels != NOTHING


def lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def row(text: str, category: str | None, *, held_out: bool = False) -> Row:
    names = ("wish", "order") if category == "instruction" else (category or "none",)
    labels = tuple(map(JUDGED.index, names))
    return Row(text, labels, WEIGHTS["nothing" if labels == NOTHING else "entry"], held_out)


def written(path: Path) -> Iterator[Row]:
    for each in lines(path):
        yield row(each["text"], each["ledger"], held_out="from" in each and is_held_out(each["text"]))


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
            found.append(Row(clause, NOTHING, WEIGHTS["talk"]))
    print(f"{sum(r.weight != WEIGHTS['talk'] for r in found)} of {len(labels)} labels of real talk found")
    return found


def features(read: Sequence[MessageReading]) -> np.ndarray:
    return np.stack([each.features for each in read])


def read_rows(data: Path) -> list[Row]:
    """All rows: of the utterances, written ones and clauses of real talk."""
    utterances = read_utterances(data / "understanding" / "utterances.jsonl")
    rows = [row(u.text, u.ledger, held_out=is_held_out(u.group)) for u in utterances]
    rows += [each for name in ("utterances", "told", "ledger") for each in written(FURTHER / f"{name}.jsonl")]
    return rows + talk(data)


def figures(model: LedgerModel, rows: Sequence[Row]) -> dict[str, float]:
    """Share of what belongs into the ledger that the network is shown, and of what does not."""
    shown = np.array([model.may_belong(each) for each in read_now([r.text for r in rows])])
    belongs = np.array([r.belongs for r in rows])
    return {
        "rows": len(rows),
        "entries": int(belongs.sum()),
        "entries shown": round(float(shown[belongs].mean()), 3),
        "others shown": round(float(shown[~belongs].mean()), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of understanding, tutoring and boundaries")
    args = parser.parse_args()
    rows = read_rows(args.data)
    learned, apart = [r for r in rows if not r.held_out], [r for r in rows if r.held_out]
    made = LogisticRegression(C=STRENGTH, max_iter=3000)
    made.fit(
        features(read_now([r.text for r in learned])),
        [r.belongs for r in learned],
        sample_weight=[r.weight for r in learned],
    )
    LEDGER_FILE.parent.mkdir(parents=True, exist_ok=True)
    bias = np.array(float(made.intercept_[0]))
    np.savez_compressed(LEDGER_FILE, weights=made.coef_[0].astype(np.float32), bias=bias)
    load_ledger_model.cache_clear()
    found = {"learned_from": len(learned), "held_out": figures(load_ledger_model(), apart)}
    LEDGER_FILE.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
