"""Make the network that says whether a statement answers a question: the reader's upper layers, trained on pairs.

    pip install torch
    python scripts/make_answering.py

To be run after `make_reader.py`. `scripts/data/recollections.jsonl` holds students' memories and questions about them
with the memories that answer each, written by language models; those of the split "test" are only measured. A question
meets what answers it and the nearest of what does not, by the embedder. `chat_answers.jsonl` holds questions that were
asked in whole chats with what was recalled there that answers, and some of what does not: from two thirds of them, and
half of the students held out, it is learned how much the network, the embedder and words in common count. Figures lie
in `figures.json`.
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
from sklearn.linear_model import LogisticRegression

from graphmem.bench.matching import auroc
from graphmem.text.answering import ANSWERING_FOLDER, ANSWERS, JUDGE_FILE, NEAREST, answer_features, answer_fitness
from graphmem.text.embedder import shipped_network
from graphmem.text.pair_network import load_pair_network

RECOLLECTIONS = Path(__file__).with_name("data") / "recollections.jsonl"
CHAT_ANSWERS = RECOLLECTIONS.with_name("chat_answers.jsonl")
EPOCHS = 5
STUDENT_WORTH = 0.5
"""How much a question counts for what judges that was not asked in a chat."""


def asked(text: str, rng: random.Random) -> str:
    """A question as it might be typed."""
    text = typed(text, rng)
    return text.rstrip("?") if rng.randrange(3) == 0 else text


def judged(folder: Path, chats: Sequence[dict[str, Any]], students: Sequence[dict[str, Any]]) -> LogisticRegression:
    """What judges by the network and the embedder together, learned from questions of chats and of further students.

    The network has learned from none of them.
    """
    network, embed = load_pair_network(folder), shipped_network(2)
    met = [([*each["answers"], *each["others"]], each["question"], len(each["answers"]), 1.0) for each in chats]
    for student in students:
        for asks in student["questions"]:
            answers = [student["statements"][i] for i in asks["answers"]]
            others = [each for i, each in enumerate(student["statements"]) if i not in asks["answers"]]
            met.append(([*answers, *others], asks["q"], len(answers), STUDENT_WORTH))
    rows, labels, worth = [], list[bool](), list[float]()
    for statements, question, answering, counts in met:
        cosines = (embed.encode(statements) @ embed.encode([question])[0]).tolist()
        logits = [network.logit(question, statement) for statement in statements]
        rows.append(answer_features(question, statements, cosines, logits))
        labels += [i < answering for i in range(len(statements))]
        worth += [counts] * len(statements)
    return LogisticRegression(C=1.0, max_iter=2000).fit(np.vstack(rows), labels, worth)


def chat_figures(folder: Path, questions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How well answers are found among what was recalled in chats."""
    embed = shipped_network(2)
    right = told = silent = wrongly = 0
    scores: list[float] = []
    labels: list[bool] = []
    for each in questions:
        met = [*each["answers"], *each["others"]]
        cosines = (embed.encode(met) @ embed.encode([each["question"]])[0]).tolist()
        fitness = answer_fitness(each["question"], met, cosines, folder)
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
    questions = list(lines(CHAT_ANSWERS))
    apart = [each for each in students if each["split"] == "test"]
    judge = judged(args.out, [each for each in questions if each["split"] != "test"], apart[1::2])
    np.savez_compressed(args.out / JUDGE_FILE, weights=judge.coef_[0], bias=judge.intercept_[0])
    found: dict[str, Any] = {"learned from": len(rows), "held out": figures(args.out, apart[::2])}
    found["chats"] = chat_figures(args.out, [each for each in questions if each["split"] == "test"])
    (args.out / "figures.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
