"""Make the network that says what a new statement ends: the reader's upper layers, trained on pairs.

    pip install torch
    python scripts/make_ending.py

To be run after `make_reader.py`. `scripts/data/endings.jsonl` holds students' memories and what they say later, with
the memories that hold no longer after it, written by language models; those of the split "test" are only measured. What
is said meets what it ends and the nearest of what it does not, by the embedder; figures lie in `figures.json`.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from make_reader import lines, typed
from pair_network import made, pairs
from sklearn.metrics import average_precision_score

from graphmem.text.embedder import shipped_network
from graphmem.text.ending import ENDING_FOLDER, ended_chance
from graphmem.text.revision import ENDED_COSINE, SURELY_ENDED

ENDINGS = Path(__file__).with_name("data") / "endings.jsonl"
EPOCHS = 3


def figures(folder: Path, students: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How well what is ended is told from all else that a student has said; as used, the one most surely ended."""
    embed = shipped_network(2)
    ended: list[bool] = []
    chances: list[float] = []
    said = taken = right = 0
    for student in students:
        told = student["statements"]
        vectors = embed.encode(told)
        for each in student["news"]:
            near = vectors @ embed.encode([each["text"]])[0] >= ENDED_COSINE
            found = np.array([ended_chance(each["text"], old, folder) for old in told])
            best = int(np.argmax(np.where(near, found, 0)))
            ends = bool(near[best]) and found[best] >= SURELY_ENDED
            said, taken, right = said + 1, taken + ends, right + (ends and best in each["ends"])
            ended += [i in each["ends"] for i in range(len(told))]
            chances += found.tolist()
    return {
        "said": said,
        "ended": sum(ended),
        "average precision": round(float(average_precision_score(ended, chances)), 3),
        "precision": round(float(right / max(1, taken)), 3),
        "recall": round(float(right / sum(ended)), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ENDING_FOLDER, help="folder to write to")
    args = parser.parse_args()
    torch.set_num_threads(2)
    students = list(lines(ENDINGS))
    rows = pairs([each for each in students if each["split"] != "test"], "news", "text", "ends")
    print(f"{len(rows)} pairs to learn from, {np.mean([row.holds for row in rows]):.2f} end", flush=True)
    made(rows, EPOCHS, typed, args.out)
    apart = [each for each in students if each["split"] == "test"]
    plain = [each for each in apart if each["plain"]]
    found = {"learned from": len(rows), "held out": figures(args.out, apart), "plainly said": figures(args.out, plain)}
    (args.out / "figures.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
