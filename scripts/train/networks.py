"""Networks that are trained further from where they stand: upper layers of their own, or all layers of their own.

What is asked of two texts reads both together; those that lie in the repository began as the embedder's lower three
layers below upper ones that had been trained on the same pairs alone.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from graphmem.text.embedder import DIMENSION, EMBEDDER_FOLDER, ShippedNetwork, shipped_words

from .graph import LAYERS, SHARED_LAYERS, Graph, Weights, constants_of, head, layer, norm, pooled, read_layers
from .tower import DROPOUT, SEED, Pair, Tower, begun, fit, padded
from .tower import pooled as pooled_of

UPPER_RATE = 1.5e-4
RATE, WORDS_RATE, TOKENS = 1e-4, 3e-5, 128
"""Rates of the upmost layer and of what is added to words; tokens of the longest text that is learned from."""
NORM = "words.LayerNorm"
Texts = tuple[str, str | None]


class UpperLayers(Tower):
    """The layers above the shared ones, trained further, and a linear head."""

    def __init__(self, w: Weights, answers: int, features: int = 0) -> None:
        super().__init__(w, range(SHARED_LAYERS, LAYERS), UPPER_RATE)
        self.head = nn.Linear(3 * DIMENSION + features, answers)
        nn.init.normal_(self.head.weight, std=0.02)

    def answers(self, seen: Tensor) -> Tensor:
        """Return the answers of the head to what it sees."""
        return self.head(functional.dropout(seen, DROPOUT, self.training)).float()

    def forward(self, hidden: Tensor, mask: Tensor, *_: Tensor) -> Tensor:
        return self.answers(pooled_of(hidden, self.upper(hidden, mask), mask))

    def model(self) -> onnx.ModelProto:
        """Return `hidden`, float32 of shape (1, tokens, 384), to `answers`, float32 of shape (1, their number)."""
        g, x, w = Graph(), "hidden", self.weights()
        for i in range(SHARED_LAYERS, LAYERS):
            x = layer(g, x, w, f"encoder.layer.{i}")
        weight, bias = (each.detach().numpy() for each in (self.head.weight, self.head.bias))
        head(g, pooled(g, "hidden", x), weight, bias)
        return g.model({"hidden": [1, "tokens", DIMENSION]}, {"answers": [1, len(bias)]})


class Shared:
    """What the shared layers see of texts, as the shipped embedder computes it, padded."""

    def __init__(self) -> None:
        self.network = ShippedNetwork(2)
        self.known: dict[str, Tensor] = {}

    def __call__(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        for text in texts:
            if text not in self.known:
                self.known[text] = torch.from_numpy(self.network.seen(text)[1][0, :TOKENS])
        return padded([self.known[text] for text in texts])


class OwnLayers(nn.Module):
    """What is known of the words of one or two texts to the answers, read from a folder."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        arrays = constants_of(path)
        first, parted = next(arrays), next(arrays)
        self.types = nn.Parameter(torch.tensor(np.stack([first, first + parted])))
        self.norm = begun({f"{NORM}.weight": next(arrays), f"{NORM}.bias": next(arrays)}, NORM, norm=True)
        self.tower = Tower(read_layers(arrays, range(LAYERS)), range(LAYERS), RATE)
        weight, bias = (torch.tensor(each.astype(np.float32)) for each in (next(arrays), next(arrays)))
        self.head = nn.Linear(3 * DIMENSION, len(bias))
        self.head.load_state_dict({"weight": weight, "bias": bias})

    def forward(self, words: Tensor, second: Tensor, mask: Tensor) -> Tensor:
        x = self.norm(words + self.types[0] + second[..., None] * (self.types[1] - self.types[0]))
        middle = x
        for number, each in enumerate(self.tower.layers, 1):
            x = each(x, mask[:, None, None, :])
            middle = x if number == SHARED_LAYERS else middle
        return self.head(functional.dropout(pooled_of(middle, x, mask), DROPOUT, self.training)).float()

    def groups(self) -> list[dict[str, Any]]:
        """Return parameters with their rates: the deeper, the slower."""
        *layers, heads = self.tower.groups(self.head)
        return [*layers, {"params": [self.types, *self.norm.parameters()], "rate": WORDS_RATE}, heads]

    def model(self) -> onnx.ModelProto:
        """Return `words` and `second`, float32 of (1, tokens, 384) and (1, tokens), to `answers`, (1, their number)."""
        g = Graph()
        first, second = self.types.detach().numpy()
        of_second = g.op("Unsqueeze", "second", g.indices(-1))
        w: Weights = {f"{NORM}.{kind}": getattr(self.norm, kind).detach().numpy() for kind in ("weight", "bias")}
        below = [g.constant(first), g.constant(second - first)]
        x = g.op("Add", g.op("Add", "words", below[0]), g.op("Mul", of_second, below[1]))
        x = norm(g, x, w, NORM)
        w |= self.tower.weights()
        middle = x
        for i in range(LAYERS):
            x = layer(g, x, w, f"encoder.layer.{i}")
            middle = x if i + 1 == SHARED_LAYERS else middle
        weight, bias = (each.detach().numpy() for each in (self.head.weight, self.head.bias))
        head(g, pooled(g, middle, x), weight, bias)
        return g.model({"words": [1, "tokens", DIMENSION], "second": [1, "tokens"]}, {"answers": [1, len(bias)]})


class Words:
    """What is known of the words of texts, or of pairs of them, padded."""

    def __init__(self) -> None:
        self.tokenizer = Tokenizer.from_file(str(EMBEDDER_FOLDER / "tokenizer.json"))
        self.tokenizer.enable_truncation(TOKENS)
        self.words = shipped_words()

    def __call__(self, texts: Sequence[Texts]) -> tuple[Tensor, Tensor, Tensor]:
        read = [self.tokenizer.encode(first, second) for first, second in texts]
        known = [self.words.run(None, {"input_ids": np.array([each.ids], np.int64)})[0][0] for each in read]
        second, mask = padded([torch.tensor(each.type_ids, dtype=torch.float32) for each in read])
        return padded([torch.from_numpy(each) for each in known])[0], second, mask


def train_own_layers(
    folder: Path,
    epochs: int,
    batches: Callable[[random.Random], Iterator[list[Pair]]],
    texts_of: Callable[[Pair], Texts],
    loss: Callable[[Tensor, Sequence[Any]], Tensor],
) -> None:
    """Train the network of a folder further and write it there.

    Parameters
    ----------
    batches : those of an epoch; of each item the second part is what is known
    texts_of : what the network reads of an item
    loss : of answers and of what is known
    """
    torch.manual_seed(SEED)
    rng, network, words = random.Random(SEED), OwnLayers(folder / "model.onnx"), Words()

    def error(items: Sequence[Pair]) -> Tensor:
        return loss(network(*words([texts_of(item) for item in items])), [known for _, known in items])

    fit(network, network.groups(), [list(batches(rng)) for _ in range(epochs)], error)
    onnx.save(network.model(), folder / "model.onnx")
