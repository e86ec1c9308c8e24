"""Make the network that says what a new statement ends: the reader's upper layers, trained on pairs.

    pip install torch
    python scripts/make_ending.py

To be run after `make_reader.py`. `scripts/data/endings.jsonl` holds students' memories and what they say later, with
the memories that hold no longer after it, written by language models; those of the split "test" are only measured. What
is said meets what it ends and the nearest of what it does not, by the embedder. `chat_endings.jsonl` holds what was
said in whole chats with what it met in memory there, of which far less ends: it is only measured, since a network that
had learned from two thirds of it told the rest hardly better. Figures lie in `figures.json`.
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
CHAT_ENDINGS = ENDINGS.with_name("chat_endings.jsonl")
EPOCHS = 3


def chat_figures(folder: Path, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How often the memory that is most surely ended is, and how many of those are found that are."""
    wanted = taken = right = 0
    ended: list[bool] = []
    chances: list[float] = []
    for each in messages:
        met = [*each["ends"], *each["holds"]]
        found = [ended_chance(each["new"], old, folder) for old in met]
        best = int(np.argmax(found))
        sure = found[best] >= SURELY_ENDED
        wanted, taken = wanted + len(each["ends"]), taken + sure
        right += sure and best < len(each["ends"])
        ended += [i < len(each["ends"]) for i in range(len(met))]
        chances += found
    return {
        "said": len(messages),
        "ended": wanted,
        "average precision": round(float(average_precision_score(ended, chances)), 3),
        "precision": round(right / max(1, taken), 3),
        "recall": round(right / wanted, 3),
    }


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
    found["chats"] = chat_figures(args.out, list(lines(CHAT_ENDINGS)))
    (args.out / "figures.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
