"""Make the network that says whether a statement answers a question.

    pip install torch
    python scripts/make_answering.py

`scripts/data/recollections.jsonl` holds students' memories and questions about them with the memories that answer
each, `chat_memories.jsonl` what was said and formed in whole chats and questions about it, `chat_answers.jsonl` what
was recalled for questions that were asked in whole chats, and which of it answers; all written by language models. A
question meets what answers it, what only seems to, and the nearest of the rest by the embedder. From four chats and
half of the students held out it is fitted how much the network and the embedder count; other students and chats are
only measured. Figures lie in `figures.json`.
"""

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from layers import typed
from pair_network import CHAT_MEMORIES, PairRow, Rows, chat_pairs, made, pairs
from sklearn.linear_model import LogisticRegression
from train.sources import lines

from graphmem.bench.scores import auroc
from graphmem.text.answering import ANSWERING_FOLDER, ANSWERS, NEAREST, about_odds, answer_fitness, telling_stems
from graphmem.text.doc import Doc
from graphmem.text.embedder import shipped_network
from graphmem.text.pair_network import load_pair_network

RECOLLECTIONS = Path(__file__).with_name("data") / "recollections.jsonl"
CHAT_ANSWERS = RECOLLECTIONS.with_name("chat_answers.jsonl")
EPOCHS = 3
RECALLED = 16
"""Statements that are taken for what was recalled of a chat: the nearest to a question."""
STUDENT_WORTH = 0.5
"""How much a question counts for the fit that was not asked in a chat."""


def asked(text: str, rng: random.Random) -> str:
    """A question as it might be typed."""
    text = typed(text, rng)
    return text.rstrip("?") if rng.randrange(3) == 0 else text


def learned_from(students: Sequence[dict[str, Any]], answered: Sequence[dict[str, Any]]) -> Rows:
    """Questions with what answers them and what does not: of students, and of chats."""
    of_chats = [
        row
        for chat in lines(CHAT_MEMORIES)
        if chat["split"] == "train"
        for row in chat_pairs(chat["told"], chat["questions"], "q", "answers", "similar")
    ]
    of_chats += [
        PairRow(each["question"], text, holds)
        for each in answered
        for holds, texts in ((True, each["answers"]), (False, each["others"]))
        for text in texts
    ]
    return Rows(pairs(students, "questions", "q", "answers"), of_chats)


def fitted(folder: Path, students: Sequence[dict[str, Any]]) -> LogisticRegression:
    """How much the network and the embedder count, by chats and students that the network has not seen."""
    network, embed = load_pair_network(folder), shipped_network(2)
    rows, labels, worth = list[tuple[float, float]](), list[bool](), list[float]()

    def learn(question: str, statements: Sequence[str], answers: Sequence[bool], counts: float) -> None:
        cosines = (embed.encode(list(statements)) @ embed.encode([question])[0]).tolist()
        rows.extend(
            (network.logit(question, statement), cosine) for statement, cosine in zip(statements, cosines, strict=True)
        )
        labels.extend(answers)
        worth.extend([counts] * len(statements))

    for chat in lines(CHAT_MEMORIES):
        if chat["split"] != "fit":
            continue
        formed = {one: text for one, text in chat["told"].items() if not one.isdigit()}
        vectors = embed.encode(list(formed.values()))
        for asks in chat["questions"]:
            if asks["answers"] and formed.keys().isdisjoint(asks["answers"]):
                continue
            near = np.argsort(-(vectors @ embed.encode([asks["q"]])[0]))[:RECALLED]
            ids = [list(formed)[i] for i in near]
            learn(asks["q"], [formed[one] for one in ids], [one in asks["answers"] for one in ids], 1.0)
    for student in students:
        for asks in student["questions"]:
            answers = [i in asks["answers"] for i in range(len(student["statements"]))]
            learn(asks["q"], student["statements"], answers, STUDENT_WORTH)
    return LogisticRegression(max_iter=3000).fit(rows, labels, worth)


def _about(question: str, statements: Sequence[str], cosines: Sequence[float]) -> list[float]:
    asked = telling_stems(Doc(question))
    return [about_odds(asked, text, cosine) for text, cosine in zip(statements, cosines, strict=True)]


def chat_figures(folder: Path, questions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How well answers are found among what was recalled in chats."""
    embed = shipped_network(2)
    right = told = silent = wrongly = 0
    scores: list[float] = []
    labels: list[bool] = []
    for each in questions:
        met = [*each["answers"], *each["others"]]
        cosines = (embed.encode(met) @ embed.encode([each["question"]])[0]).tolist()
        fitness = answer_fitness(each["question"], met, _about(each["question"], met, cosines), folder)
        best = int(np.argmax(fitness))
        answers = fitness[best] >= ANSWERS
        if each["answers"]:
            told, right = told + 1, right + (answers and best < len(each["answers"]))
        else:
            silent, wrongly = silent + 1, wrongly + answers
        scores += fitness
        labels += [i < len(each["answers"]) for i in range(len(met))]
    return {
        "questions": told,
        "answered": round(right / told, 3),
        "never told": silent,
        "answered wrongly": round(wrongly / silent, 3),
        "auroc": round(auroc(scores, labels), 3),
    }


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
            about = _about(asks["q"], student["statements"], cosines)
            fitness = answer_fitness(asks["q"], student["statements"], about, folder)
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
    parser.add_argument("--out", type=Path, default=ANSWERING_FOLDER, help="folder of the network")
    parser.add_argument("--fit", action="store_true", help="only fit how much the network and the embedder count")
    args = parser.parse_args()
    torch.set_num_threads(2)
    students, answered = list(lines(RECOLLECTIONS)), list(lines(CHAT_ANSWERS))
    apart = [each for each in students if each["split"] == "test"]
    learning = {chat["chat"] for chat in lines(CHAT_MEMORIES) if chat["split"] == "train"}
    rows = learned_from(
        [each for each in students if each["split"] != "test"], [each for each in answered if each["chat"] in learning]
    )
    print(f"{len(rows.students)} pairs of students and {len(rows.chats)} of chats to learn from", flush=True)
    if not args.fit:
        made(rows, EPOCHS, asked, args.out)
    fit = fitted(args.out, apart[1::2])
    print("network, likeness, nothing:", *fit.coef_[0].round(2), fit.intercept_.round(2))
    found: dict[str, Any] = {"learned from": len(rows.students) + len(rows.chats)}
    found["held out"] = figures(args.out, apart[::2])
    found["chats"] = chat_figures(args.out, [each for each in answered if each["split"] == "test"])
    (args.out / "figures.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
