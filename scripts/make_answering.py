"""Make the network that says whether a statement answers a question: the reader's upper layers, trained on pairs.

    pip install torch
    python scripts/make_answering.py

To be run after `make_reader.py`. `scripts/data/recollections.jsonl` holds students' memories and questions about them
with the memories that answer each, written by language models; those of the split "test" are only measured. A question
meets what answers it and the nearest of what does not, by the embedder; figures lie in `figures.json`.
"""

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from make_reader import lines, typed
from pair_network import made, pairs

from graphmem.bench.matching import auroc
from graphmem.text.answering import ANSWERING_FOLDER, ANSWERS, NEAREST, answer_fitness
from graphmem.text.embedder import shipped_network

RECOLLECTIONS = Path(__file__).with_name("data") / "recollections.jsonl"
EPOCHS = 5


def asked(text: str, rng: random.Random) -> str:
    """A question as it might be typed."""
    text = typed(text, rng)
    return text.rstrip("?") if rng.randrange(3) == 0 else text


def figures(folder: Path, students: Sequence[dict[str, Any]]) -> dict[str, float]:
    """How well answers are found among all of a student's memories, beside the nearest by the embedder."""
    embed = shipped_network(2)
    first = near = nearest = silent = wrongly = answered = 0
    scores: list[float] = []
    labels: list[bool] = []
    for student in students:
        vectors = embed.encode(student["statements"])
        for asks in student["questions"]:
            cosines = (vectors @ embed.encode([asks["q"]])[0]).tolist()
            fitness = answer_fitness(asks["q"], student["statements"], cosines, folder)
            scores += fitness
            labels += [i in asks["answers"] for i in range(len(fitness))]
            best = int(np.argmax(fitness))
            if asks["answers"]:
                answered += 1
                first += fitness[best] >= ANSWERS and best in asks["answers"]
                near += fitness[best] >= NEAREST and best in asks["answers"]
                nearest += int(np.argmax(cosines)) in asks["answers"]
            else:
                silent += 1
                wrongly += fitness[best] >= ANSWERS
    return {
        "questions": answered,
        "answered": round(first / answered, 3),
        "answered, or told as near": round(near / answered, 3),
        "nearest by the embedder": round(nearest / answered, 3),
        "never told": silent,
        "answered wrongly": round(wrongly / silent, 3),
        "auroc": round(auroc(scores, labels), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ANSWERING_FOLDER, help="folder to write to")
    args = parser.parse_args()
    torch.set_num_threads(2)
    students = list(lines(RECOLLECTIONS))
    rows = pairs([each for each in students if each["split"] != "test"], "questions", "q", "answers")
    print(f"{len(rows)} pairs to learn from, {np.mean([row.holds for row in rows]):.2f} answer", flush=True)
    made(rows, EPOCHS, asked, args.out)
    apart = [each for each in students if each["split"] == "test"]
    found = {"learned from": len(rows), "held out": figures(args.out, apart)}
    (args.out / "figures.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
