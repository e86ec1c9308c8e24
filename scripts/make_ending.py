"""Make the network that says what a new statement ends, from pairs of what is said and what was said before.

    pip install torch
    python scripts/make_ending.py

`scripts/data/endings.jsonl` holds students' memories and what they say later, with the memories that hold no longer
after it, `chat_memories.jsonl` what was formed in whole chats and what those students say later, `chat_endings.jsonl`
what was said in whole chats with what it met in memory there, of which far less ends; all written by language models.
What is said meets what it ends, what it only seems to, and the nearest of the rest by the embedder. Of the small talk
of `talk_endings.jsonl` nothing ends, nor does what is said again. The split "test" is only measured, and so is what was
met in four of the other chats, by which bounds may be chosen. Figures lie in `figures.json`.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from layers import typed
from pair_network import CHAT_MEMORIES, PairRow, Rows, chat_pairs, made, message_of, pairs
from sklearn.metrics import average_precision_score
from train.sources import lines

from graphmem.text.embedder import shipped_network
from graphmem.text.ending import ENDING_FOLDER, ended_chance
from graphmem.text.revision import ENDED_COSINE, SURELY_ENDED

ENDINGS = Path(__file__).with_name("data") / "endings.jsonl"
CHAT_ENDINGS = ENDINGS.with_name("chat_endings.jsonl")
TALK_ENDINGS = ENDINGS.with_name("talk_endings.jsonl")
EPOCHS = 3


def learned_from(
    students: Sequence[dict[str, Any]], met: Sequence[dict[str, Any]], talk: Sequence[dict[str, Any]]
) -> Rows:
    """What is said with what it ends and what it does not: of students, and of chats and small talk."""
    of_chats = [PairRow(each["new"], old, holds=False) for each in talk for old in each["holds"]]
    of_chats += [
        PairRow(each["new"], old, holds)
        for each in met
        for holds, olds in ((True, each["ends"]), (False, each["holds"]))
        for old in olds
    ]
    for chat in lines(CHAT_MEMORIES):
        if chat["split"] == "train":
            told = {one: chat["formed"].get(one, text) for one, text in chat["told"].items() if not one.isdigit()}
            of_chats += chat_pairs(told, chat["later"], "text", "ends", "keeps")
            of_chats += [PairRow(chat["told"][message_of(one)], content, holds=False) for one, content in told.items()]
    return Rows(pairs(students, "news", "text", "ends"), of_chats)


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


def ended_in_talk(folder: Path, talk: Sequence[dict[str, Any]]) -> float:
    """The share of messages of small talk that seem to end something, which none does."""
    sure = [any(ended_chance(each["new"], old, folder) >= SURELY_ENDED for old in each["holds"]) for each in talk]
    return round(float(np.mean(sure)), 3)


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
    parser.add_argument("--out", type=Path, default=ENDING_FOLDER, help="folder of the network")
    args = parser.parse_args()
    torch.set_num_threads(2)
    students, met = list(lines(ENDINGS)), list(lines(CHAT_ENDINGS))
    learning = {chat["chat"] for chat in lines(CHAT_MEMORIES) if chat["split"] == "train"}
    talk = list(lines(TALK_ENDINGS))
    rows = learned_from(
        [each for each in students if each["split"] != "test"],
        [each for each in met if each["chat"] in learning],
        [each for each in talk if each["split"] != "test"],
    )
    print(f"{len(rows.students)} pairs of students and {len(rows.chats)} of chats to learn from", flush=True)
    made(rows, EPOCHS, typed, args.out)
    apart = [each for each in students if each["split"] == "test"]
    plain = [each for each in apart if each["plain"]]
    found: dict[str, Any] = {"learned from": len(rows.students) + len(rows.chats)}
    found |= {"held out": figures(args.out, apart), "plainly said": figures(args.out, plain)}
    found["chats"] = chat_figures(args.out, [each for each in met if each["split"] == "test"])
    found["ends in talk"] = ended_in_talk(args.out, [each for each in talk if each["split"] == "test"])
    (args.out / "figures.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
