"""Training of networks whose upper layers are their own, for the scripts that make one: they need torch."""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import onnx
import torch
from make_embedder import LAYERS, MICROSOFT, SHARED_LAYERS, Graph, Weights, layer
from numpy.typing import NDArray
from onnx import TensorProto, helper
from torch import Tensor, nn
from torch.nn import functional
from train.tower import DROPOUT, HEAD_RATE, LAYER_DECAY, WARM, Layer

from graphmem.text.embedder import DIMENSION, ShippedNetwork

BATCH, TOKENS, SEED, RATE, SMOOTHING = 32, 128, 0, 1.5e-4, 0.05

Array = NDArray[np.float32]
Item = TypeVar("Item", bound=tuple[str, Any])
Batch = TypeVar("Batch")


def typed(text: str, rng: random.Random) -> str:
    """A text as it might be typed: without apostrophes, capitals or full stop."""
    chance = rng.randrange(6)
    if chance == 0:
        text = text.replace("'", "").replace("’", "").rstrip(".!")
    return text.lower() if chance in (0, 1) else text


class UpperLayers(nn.Module):
    """The layers above the shared ones, trained further, and a linear head: `width` numbers to `answers`."""

    def __init__(self, w: Weights, width: int, answers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(w, i) for i in range(SHARED_LAYERS, LAYERS))
        self.head = nn.Linear(width, answers)
        nn.init.normal_(self.head.weight, std=0.02)

    def weights(self) -> Weights:
        return {name: value for each in self.layers for name, value in each.weights().items()}

    def groups(self) -> list[dict[str, Any]]:
        """Parameters with their rates: the deeper, the slower."""
        found = [
            {"params": list(each.parameters()), "rate": RATE * LAYER_DECAY ** (len(self.layers) - 1 - i)}
            for i, each in enumerate(self.layers)
        ]
        return [*found, {"params": list(self.head.parameters()), "rate": HEAD_RATE}]


class Network(UpperLayers):
    """What the shared layers see to the answers: the upper layers, then a linear head over what they and those see.

    The head sees the mean of the shared layers, the mean and the largest of the upper ones.
    """

    def __init__(self, w: Weights, answers: int) -> None:
        super().__init__(w, 3 * DIMENSION, answers)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        x = functional.dropout(hidden, DROPOUT, self.training)
        for each in self.layers:
            x = each(x, mask[:, None, None, :])
        there = mask[..., None]
        count = there.sum(1)
        largest = x.masked_fill(~there, -1e4).amax(1)
        seen = torch.cat([(hidden * there).sum(1) / count, (x * there).sum(1) / count, largest], 1)
        return self.head(functional.dropout(seen, DROPOUT, self.training))


class Shared:
    """What the shared layers see of texts, as the shipped embedder computes it, padded."""

    def __init__(self) -> None:
        self.network = ShippedNetwork(2)
        self.known: dict[str, Tensor] = {}

    def __call__(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        rows = [self.of(text) for text in texts]
        lengths = torch.tensor([len(row) for row in rows])
        hidden = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        return hidden, torch.arange(hidden.shape[1]) < lengths[:, None]

    def of(self, text: str) -> Tensor:
        if text not in self.known:
            self.known[text] = torch.from_numpy(self.network.seen(text)[1][0, :TOKENS])
        return self.known[text]


def of_like_length(items: list[Item], rng: random.Random) -> Iterator[list[Item]]:
    """Items, each a text and what is known of it, in batches of like length, in random order."""
    rng.shuffle(items)
    for start in range(0, len(items), BATCH * 12):
        part = sorted(items[start : start + BATCH * 12], key=lambda item: len(item[0]))
        pieces = [part[i : i + BATCH] for i in range(0, len(part), BATCH)]
        rng.shuffle(pieces)
        yield from pieces


def fit(
    network: UpperLayers,
    epochs: int,
    batches_of: Callable[[random.Random], Iterable[Batch]],
    error_of: Callable[[Batch], Tensor],
) -> None:
    """Train a network: AdamW, the rate warms up and then falls to nothing, gradients are bounded."""
    groups = network.groups()
    optimiser = torch.optim.AdamW([{"params": g["params"], "lr": 0.0} for g in groups], weight_decay=0.01)
    steps = epochs * sum(1 for _ in batches_of(random.Random(0)))
    rng, step, began = random.Random(SEED), 0, time.time()
    for epoch in range(epochs):
        network.train()
        total = 0.0
        for batch in batches_of(rng):
            share = step / steps
            for given, group in zip(optimiser.param_groups, groups, strict=True):
                given["lr"] = group["rate"] * min(1.0, share / WARM) * max(0.0, 1.0 - share)
            error = error_of(batch)
            optimiser.zero_grad()
            error.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            step, total = step + 1, total + float(error.detach())
        print(f"epoch {epoch + 1}: loss {total * epochs / steps:.3f}, {time.time() - began:.0f} s", flush=True)
    network.eval()


def build(w: Weights, weight: Array, bias: Array) -> onnx.ModelProto:
    """`hidden`, float32 of shape (1, tokens, 384), to `answers`, float32 of shape (1, their number)."""
    g = Graph()
    x = "hidden"
    for i in range(SHARED_LAYERS, LAYERS):
        x = layer(g, x, w, f"encoder.layer.{i}")
    means = [g.op("ReduceMean", each, g.indices(1), keepdims=0) for each in ("hidden", x)]
    seen = g.op("Concat", *means, g.op("ReduceMax", x, g.indices(1), keepdims=0), axis=-1)
    g.nodes.append(helper.make_node("Gemm", [seen, g.constant(weight), g.constant(bias)], ["answers"], transB=1))
    hidden = helper.make_tensor_value_info("hidden", TensorProto.FLOAT, [1, "tokens", DIMENSION])
    answers = helper.make_tensor_value_info("answers", TensorProto.FLOAT, [1, len(bias)])
    graph = helper.make_graph(g.nodes, "upper layers", [hidden], [answers], g.constants)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="graphmem")
