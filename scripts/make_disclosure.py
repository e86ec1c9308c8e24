"""Make the sense of how grave what a message tells is: logistic regression on embeddings.

    python scripts/make_disclosure.py --talk mathdial.jsonl cima.jsonl bridge.jsonl --told utterances.jsonl safety.jsonl

Talk: real tutoring dialogues, whose messages are ordinary. Told: labelled messages with `id`, `text` and `band` (three
is grave) or `urgency` (from 1); written ones only. Dialogues and rows whose id is held out (`is_held_out`) are not
trained on. The strength was chosen by cross-validation on the rest. What each message is judged by folds that have not
seen it lies in `unseen.npz`, for the reference that `scripts/make_surprise.py` makes.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from graphmem.bench.held_out import is_held_out, text_hash
from graphmem.bench.surprise import TalkTurn, is_grave, talk_hash
from graphmem.model import Author
from graphmem.samples.dialogues import SPEAKERS
from graphmem.text.disclosure import DISCLOSURE_FILE, SURPRISE_FOLDER
from graphmem.text.embedder import EMBEDDER_FOLDER, onnx_encoder

STRENGTH = 1.0
GRAVE_WEIGHT = 2.0
FOLDS = 5
UNSEEN_FILE = SURPRISE_FOLDER / "unseen.npz"

Row = dict[str, Any]


def read(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def talk_of(row: Row) -> tuple[TalkTurn, ...]:
    return tuple((SPEAKERS[turn["speaker"]], turn["text"]) for turn in row["turns"] if turn["text"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--talk", type=Path, nargs="+", required=True, help="real tutoring dialogues")
    parser.add_argument("--told", type=Path, nargs="+", required=True, help="labelled messages of students")
    args = parser.parse_args()

    encode = onnx_encoder(EMBEDDER_FOLDER, threads=1)
    talks = {row["dialogue_id"]: talk_of(row) for path in args.talk for row in read(path)}
    talks = {name: talk for name, talk in talks.items() if not is_held_out(name)}
    rows = [row for path in args.told for row in read(path) if row.get("source", "written") == "written"]
    rows = [row for row in rows if not is_held_out(row["id"])]
    said = {text: name for name, talk in talks.items() for author, text in talk if author is Author.STUDENT}
    texts = [*said, *(row["text"] for row in rows)]
    vectors = np.array([encode([text])[0] for text in track(texts, "Embedding")])
    grave = np.array([0] * len(said) + [int(is_grave(row)) for row in rows])
    groups = np.array([*said.values(), *(row["id"] for row in rows)])
    model = LogisticRegression(C=STRENGTH, max_iter=3000, class_weight={0: 1.0, 1: GRAVE_WEIGHT})
    folds = GroupKFold(FOLDS, shuffle=True, random_state=0)
    unseen = cross_val_predict(model, vectors, grave, groups=groups, cv=folds, method="decision_function")
    model.fit(vectors, grave)
    SURPRISE_FOLDER.mkdir(exist_ok=True)
    np.savez_compressed(DISCLOSURE_FILE, weights=model.coef_[0].astype(np.float32), bias=model.intercept_[0])
    hashes = np.array([text_hash(text) for text in texts], dtype=np.int64)
    np.savez_compressed(UNSEEN_FILE, texts=hashes, told=unseen.astype(np.float32))
    trained = sorted({*hashes.tolist(), *map(talk_hash, talks.values())})
    np.save(SURPRISE_FOLDER / "trained.npy", np.array(trained, dtype=np.int64))
    print(f"{len(texts)} messages, {grave.sum()} of them grave")


if __name__ == "__main__":
    main()
