"""Make what tells which part of a student's life a clause belongs to: logistic regression over what the reader tells.

    python scripts/make_domain.py --data DATA

DATA holds `understanding/utterances.jsonl` and `boundaries/tiage_*.jsonl`. `reader_domains.json` labels written
messages by their id, `scripts/data/domain_talk.jsonl` clauses of TIAGE's small talk by their hash (their texts keep
their own licence), `scripts/data/talk.jsonl` holds clauses written as friends say them; students' messages of tutoring
talk belong to school. One group in five of the messages and TIAGE's dev part are held out: figures on them stand in
`domain.json`. The strength was chosen by cross-validation on the others. Needs scikit-learn.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from make_ledger import lines, talk_clauses
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_score

from graphmem.bench.talks import is_held_out, text_hash
from graphmem.bench.understanding import read_utterances
from graphmem.text.domains import DOMAIN_FILE
from graphmem.text.reader import DOMAINS, read_now

FURTHER = Path(__file__).with_name("data")
STRENGTHS = (0.3, 1.0, 3.0, 10.0)
TUTORING, TUTORING_ROWS, DOMAIN_SEED = ("mathdial", "cima", "bridge"), 120, 1
Rows = list[tuple[str, str]]
"""Texts and their domains."""


def messages(data: Path) -> tuple[Rows, Rows]:
    """Labelled messages to learn from, and those held out."""
    labels = json.loads(Path(__file__).with_name("reader_domains.json").read_text("utf-8"))
    paths = (FURTHER / "utterances.jsonl", data / "understanding" / "utterances.jsonl", FURTHER / "told.jsonl")
    found = [u for path in paths for u in read_utterances(path)]
    tutoring = [u for u in found if u.origin in TUTORING]
    labels |= {u.id: "school" for u in random.Random(DOMAIN_SEED).sample(tutoring, TUTORING_ROWS)}
    learned: Rows = [(u.text, labels[u.id]) for u in found if u.id in labels and not is_held_out(u.group)]
    learned += [(each["text"], each["domain"]) for each in lines(FURTHER / "talk.jsonl")]
    held: Rows = [(u.text, labels[u.id]) for u in found if u.id in labels and is_held_out(u.group)]
    return learned, held


def small_talk(data: Path, part: str) -> Rows:
    """Labelled clauses of a part of TIAGE."""
    labels = {each["hash"]: each["domain"] for each in lines(FURTHER / "domain_talk.jsonl") if each["part"] == part}
    texts = talk_clauses(data / "boundaries" / f"tiage_{part}.jsonl")
    found = [(text, labels[text_hash(text)]) for text in texts if text_hash(text) in labels]
    print(f"{len(found)} of {len(labels)} labels of TIAGE's {part} part found")
    return found


def features(rows: Rows) -> NDArray[np.float32]:
    return np.stack([each.features for each in read_now([text for text, _ in rows])])


def figures(made: LogisticRegression, rows: Rows) -> dict[str, Any]:
    """Share that is told right, macro F1, and beside them the reader's own guess."""
    wanted, told = [label for _, label in rows], made.predict(features(rows))
    guessed = [DOMAINS[int(each.domain.argmax())].value for each in read_now([text for text, _ in rows])]
    return {
        "rows": len(rows),
        "of_each": dict(Counter(wanted).most_common()),
        "right": share(told, wanted),
        "macro_f1": round(float(f1_score(wanted, told, average="macro")), 3),
        "right_by_the_reader_alone": share(guessed, wanted),
    }


def share(told: Sequence[str], wanted: Sequence[str]) -> float:
    return round(float(np.mean(np.array(told) == np.array(wanted))), 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of understanding and boundaries")
    data = parser.parse_args().data
    learned, held = messages(data)
    learned += small_talk(data, "train")
    x, y = features(learned), [label for _, label in learned]

    def model(strength: float) -> LogisticRegression:
        return LogisticRegression(C=strength, max_iter=3000)

    best = max(STRENGTHS, key=lambda strength: cross_val_score(model(strength), x, y, cv=5).mean())
    made = model(best).fit(x, y)
    DOMAIN_FILE.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        DOMAIN_FILE,
        domain_labels=made.classes_.astype(str),
        domain_weights=made.coef_.astype(np.float32),
        domain_bias=made.intercept_.astype(np.float32),
    )
    found = {
        "learned_from": len(learned),
        "strength": best,
        "messages_held_out": figures(made, held),
        "small_talk_held_out": figures(made, small_talk(data, "dev")),
    }
    DOMAIN_FILE.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
