"""Training of a network that reads two texts together: the reader's upper layers, trained further on pairs."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from make_reader import SEED, TOKENS, Network, build, fit, of_like_length, read_built
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from graphmem.text.embedder import ShippedNetwork
from graphmem.text.reader import READER_FOLDER

LIKE, OTHERS = 4, 2
"""Of the statements for which it does not hold the nearest, and further ones, that a text meets."""


@dataclass(frozen=True, eq=False)
class PairRow:
    """Two texts, and whether what is asked about them holds."""

    first: str
    second: str
    holds: bool


def pairs(students: Sequence[dict[str, Any]], asked: str, text: str, holds: str) -> list[PairRow]:
    """What is learned from: each text of students with statements of theirs.

    Parameters
    ----------
    students : each with `statements`, and with what is asked about them
    asked, text, holds : the keys of that list, and in it of a text and of the places of statements for which it holds
    """
    rng, embed = random.Random(SEED), ShippedNetwork(2)
    found: list[PairRow] = []
    for student in students:
        told = student["statements"]
        vectors = embed.encode(told)
        for each in student[asked]:
            likeness = vectors @ embed.encode([each[text]])[0]
            found += met(each[text], told, each[holds], likeness, rng)
    return found


def met(
    first: str, told: Sequence[str], holds: Sequence[int], likeness: NDArray[np.float32], rng: random.Random
) -> list[PairRow]:
    """A text with what it holds for, with the nearest of the others by the embedder, and with a few further ones.

    Parameters
    ----------
    told : the statements of one student
    holds : places of those for which it holds
    likeness : of each statement with the text
    """
    others = [i for i in np.argsort(-likeness) if i not in holds]
    places = [*holds, *others[:LIKE], *rng.sample(others[LIKE:], OTHERS)]
    return [PairRow(first, told[i], i in holds) for i in places]


class SharedPairs:
    """What the shared layers see of two texts read together, padded."""

    def __init__(self) -> None:
        self.network = ShippedNetwork(2)
        self.known: dict[tuple[str, str], Tensor] = {}

    def __call__(self, texts: Sequence[tuple[str, str]]) -> tuple[Tensor, Tensor]:
        rows = [self.of(*pair) for pair in texts]
        lengths = torch.tensor([len(row) for row in rows])
        hidden = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        return hidden, torch.arange(hidden.shape[1]) < lengths[:, None]

    def of(self, first: str, second: str) -> Tensor:
        if (first, second) not in self.known:
            hidden = self.network.seen_pair(first, second)[0][0, :TOKENS]
            self.known[first, second] = torch.from_numpy(hidden.copy())
        return self.known[first, second]


def made(rows: Sequence[PairRow], epochs: int, as_typed: Callable[[str, random.Random], str], folder: Path) -> None:
    """Train the network and write it to a folder.

    Parameters
    ----------
    rows : what is learned from
    as_typed : a first text as it might be typed
    """
    torch.manual_seed(SEED)
    network, shared = Network(read_built(READER_FOLDER / "model.onnx")[0], 1), SharedPairs()

    def batches(rng: random.Random) -> Iterator[list[tuple[str, tuple[str, str], bool]]]:
        items = [(f"{row.first} {row.second}", ((as_typed(row.first, rng), row.second), row.holds)) for row in rows]
        for batch in of_like_length(items, rng):
            yield [(text, *pair) for text, pair in batch]

    def error(items: Sequence[tuple[str, tuple[str, str], bool]]) -> Tensor:
        output = network(*shared([pair for _, pair, _ in items]))[:, 0]
        return functional.binary_cross_entropy_with_logits(output, torch.tensor([float(a) for _, _, a in items]))

    fit(network, epochs, batches, error)
    weight, bias = (each.detach().numpy() for each in (network.head.weight, network.head.bias))
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(build(network.weights(), weight, bias), folder / "model.onnx")
