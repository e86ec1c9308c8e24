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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from make_reader import SEED, TOKENS, Network, build, fit, lines, of_like_length, read_built, typed
from torch import Tensor, nn
from torch.nn import functional

from graphmem.bench.matching import auroc
from graphmem.text.answering import ANSWERING_FOLDER, ANSWERS, NEAREST, AnswerNetwork
from graphmem.text.embedder import ShippedNetwork, shipped_network
from graphmem.text.reader import READER_FOLDER

RECOLLECTIONS = Path(__file__).with_name("data") / "recollections.jsonl"
EPOCHS, LIKE, OTHERS = 5, 4, 2
"""Epochs; of what does not answer a question the nearest statements, and further ones, that it meets."""


@dataclass(frozen=True, eq=False)
class Row:
    """A question, a statement, and whether it answers."""

    question: str
    statement: str
    answers: bool


def pairs(students: Sequence[dict[str, Any]], embed: ShippedNetwork) -> list[Row]:
    """What is learned from."""
    rng, found = random.Random(SEED), []
    for student in students:
        told = student["statements"]
        vectors = embed.encode(told)
        for asked in student["questions"]:
            likeness = vectors @ embed.encode([asked["q"]])[0]
            wrong = [i for i in np.argsort(-likeness) if i not in asked["answers"]]
            met = [*asked["answers"], *wrong[:LIKE], *rng.sample(wrong[LIKE:], OTHERS)]
            found += [Row(asked["q"], told[i], i in asked["answers"]) for i in met]
    return found


class SharedPairs:
    """What the shared layers see of questions and statements read together, padded."""

    def __init__(self) -> None:
        self.network = ShippedNetwork(2)
        self.known: dict[tuple[str, str], Tensor] = {}

    def __call__(self, texts: Sequence[tuple[str, str]]) -> tuple[Tensor, Tensor]:
        rows = [self.of(*pair) for pair in texts]
        lengths = torch.tensor([len(row) for row in rows])
        hidden = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        return hidden, torch.arange(hidden.shape[1]) < lengths[:, None]

    def of(self, question: str, statement: str) -> Tensor:
        if (question, statement) not in self.known:
            hidden = self.network.seen_pair(question, statement)[0][0, :TOKENS]
            self.known[question, statement] = torch.from_numpy(hidden.copy())
        return self.known[question, statement]


def asked(text: str, rng: random.Random) -> str:
    """A question as it might be typed."""
    text = typed(text, rng)
    return text.rstrip("?") if rng.randrange(3) == 0 else text


def batches(rows: Sequence[Row], rng: random.Random) -> Iterator[list[tuple[str, tuple[str, str], bool]]]:
    """One epoch, in batches of like length."""
    items = [
        (f"{row.question} {row.statement}", ((asked(row.question, rng), row.statement), row.answers)) for row in rows
    ]
    for batch in of_like_length(items, rng):
        yield [(text, *pair) for text, pair in batch]


def trained(rows: Sequence[Row], shared: SharedPairs) -> Network:
    torch.manual_seed(SEED)
    network = Network(read_built(READER_FOLDER / "model.onnx")[0], 1)

    def error(items: Sequence[tuple[str, tuple[str, str], bool]]) -> Tensor:
        output = network(*shared([pair for _, pair, _ in items]))[:, 0]
        return functional.binary_cross_entropy_with_logits(output, torch.tensor([float(a) for _, _, a in items]))

    fit(network, EPOCHS, lambda rng: batches(rows, rng), error)
    return network


def figures(network: AnswerNetwork, students: Sequence[dict[str, Any]]) -> dict[str, float]:
    """How well answers are found among all of a student's memories, beside the nearest by the embedder."""
    embed = shipped_network(2)
    first = near = nearest = silent = wrongly = answered = 0
    scores: list[float] = []
    labels: list[bool] = []
    for student in students:
        vectors = embed.encode(student["statements"])
        for asks in student["questions"]:
            cosines = (vectors @ embed.encode([asks["q"]])[0]).tolist()
            fitness = network.fitness(asks["q"], student["statements"], cosines)
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
    rows = pairs([each for each in students if each["split"] != "test"], shipped_network(2))
    print(f"{len(rows)} pairs to learn from, {np.mean([row.answers for row in rows]):.2f} answer", flush=True)
    network = trained(rows, SharedPairs())
    weight, bias = (each.detach().numpy() for each in (network.head.weight, network.head.bias))
    args.out.mkdir(parents=True, exist_ok=True)
    onnx.save(build(network.weights(), weight, bias), args.out / "model.onnx")
    apart = [each for each in students if each["split"] == "test"]
    found = {"learned from": len(rows), "held out": figures(AnswerNetwork(shipped_network(2), 2, args.out), apart)}
    (args.out / "figures.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
