"""Make the network that says what a new statement ends: the reader's upper layers, trained on pairs.

    pip install torch
    python scripts/make_ending.py

To be run after `make_reader.py`. `scripts/data/endings.jsonl` holds students' memories and what they say later, with
the memories that hold no longer after it, written by language models; those of the split "test" are only measured. What
is said meets what it ends and the nearest of what it does not, by the embedder; figures lie in `figures.json`.
"""

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from make_reader import SEED, lines, typed
from pair_network import PairRow, made, met
from sklearn.metrics import average_precision_score

from graphmem.text.embedder import shipped_network
from graphmem.text.ending import ENDING_FOLDER, ended_chance
from graphmem.text.revision import LIKELY_ENDED, SURELY_ENDED, UNLIKELY_ENDED

ENDINGS = Path(__file__).with_name("data") / "endings.jsonl"
EPOCHS = 3


def pairs(students: Sequence[dict[str, Any]]) -> list[PairRow]:
    """What is learned from."""
    rng, embed = random.Random(SEED), shipped_network(2)
    found: list[PairRow] = []
    for student in students:
        told = student["statements"]
        vectors = embed.encode(told)
        for said in student["news"]:
            likeness = vectors @ embed.encode([said["text"]])[0]
            found += met(said["text"], told, said["ends"], likeness, rng)
    return found


def figures(folder: Path, students: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How well what is ended is told from all else that a student has said, at each of the bounds that are used."""
    asked = [(said, i, old) for each in students for said in each["news"] for i, old in enumerate(each["statements"])]
    ended = np.array([i in said["ends"] for said, i, _ in asked])
    chances = np.array([ended_chance(said["text"], old, folder) for said, _, old in asked])
    found: dict[str, Any] = {
        "pairs": len(ended),
        "ended": int(ended.sum()),
        "average precision": round(float(average_precision_score(ended, chances)), 3),
    }
    for bound in sorted({0.5, UNLIKELY_ENDED, LIKELY_ENDED, SURELY_ENDED}):
        taken = chances >= bound
        precision, recall = (taken & ended).sum() / max(1, taken.sum()), (taken & ended).sum() / ended.sum()
        found[f"from {bound}"] = {"precision": round(float(precision), 3), "recall": round(float(recall), 3)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ENDING_FOLDER, help="folder to write to")
    args = parser.parse_args()
    torch.set_num_threads(2)
    students = list(lines(ENDINGS))
    rows = pairs([each for each in students if each["split"] != "test"])
    print(f"{len(rows)} pairs to learn from, {np.mean([row.holds for row in rows]):.2f} end", flush=True)
    made(rows, EPOCHS, typed, args.out)
    apart = [each for each in students if each["split"] == "test"]
    found = {"learned from": len(rows), "held out": figures(args.out, apart)}
    (args.out / "figures.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
