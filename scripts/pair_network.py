"""Training of a network that reads two texts together: six layers of its own above the words of the shipped embedder.

A network is trained further from where it stands. Those that lie in the repository began as the embedder's lower three
layers below upper ones that had been trained on the same pairs alone.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from make_embedder import LAYERS, MICROSOFT, SHARED_LAYERS, Graph, Weights, layer, norm
from onnx import TensorProto, helper
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional
from train.graph import constants_of, read_layers
from train.tower import DROPOUT, HEAD_RATE, LAYER_DECAY, Layer, begun

from graphmem.text.embedder import DIMENSION, EMBEDDER_FOLDER, shipped_words

RATE, WORDS_RATE, TOKENS = 1e-4, 3e-5, 128
"""Rates of the upmost layer and of what is added to words; tokens of the longest pair that is learned from."""
NORM = "words.LayerNorm"


class OwnLayers(nn.Module):
    """What is known of the words of one or two texts to the answers.

    The head sees the mean of the middle layer, and the mean and the largest of the last.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        arrays = constants_of(path)
        first, parted = next(arrays), next(arrays)
        self.types = nn.Parameter(torch.tensor(np.stack([first, first + parted])))
        w = {f"{NORM}.weight": next(arrays), f"{NORM}.bias": next(arrays)}
        self.norm = begun(w, NORM, norm=True)
        w |= read_layers(arrays, range(LAYERS))
        self.layers = nn.ModuleList(Layer(w, i) for i in range(LAYERS))
        weight, bias = (torch.tensor(each.astype(np.float32)) for each in (next(arrays), next(arrays)))
        self.head = nn.Linear(3 * DIMENSION, len(bias))
        self.head.load_state_dict({"weight": weight, "bias": bias})

    def forward(self, words: Tensor, second: Tensor, mask: Tensor) -> Tensor:
        x = self.norm(words + self.types[0] + second[..., None] * (self.types[1] - self.types[0]))
        there = mask[..., None]
        middle = x
        for number, each in enumerate(self.layers, 1):
            x = each(x, mask[:, None, None, :])
            middle = x if number == SHARED_LAYERS else middle
        count = there.sum(1)
        largest = x.masked_fill(~there, -1e4).amax(1)
        seen = torch.cat([(middle * there).sum(1) / count, (x * there).sum(1) / count, largest], 1)
        return self.head(functional.dropout(seen, DROPOUT, self.training))

    def groups(self) -> list[dict[str, Any]]:
        """Parameters with their rates: the deeper, the slower."""
        found = [
            {"params": list(each.parameters()), "rate": RATE * LAYER_DECAY ** (LAYERS - 1 - i)}
            for i, each in enumerate(self.layers)
        ]
        below = {"params": [self.types, *self.norm.parameters()], "rate": WORDS_RATE}
        return [*found, below, {"params": list(self.head.parameters()), "rate": HEAD_RATE}]


class Words:
    """What is known of the words of texts, or of pairs of them, padded."""

    def __init__(self) -> None:
        self.tokenizer = Tokenizer.from_file(str(EMBEDDER_FOLDER / "tokenizer.json"))
        self.tokenizer.enable_truncation(TOKENS)
        self.words = shipped_words()

    def __call__(self, texts: Sequence[tuple[str, str | None]]) -> tuple[Tensor, Tensor, Tensor]:
        read = [self.tokenizer.encode(first, second) for first, second in texts]
        known = [self.words.run(None, {"input_ids": np.array([each.ids], np.int64)})[0][0] for each in read]
        second = [torch.tensor(each.type_ids, dtype=torch.float32) for each in read]
        lengths = torch.tensor([len(each.ids) for each in read])
        padded = nn.utils.rnn.pad_sequence([torch.from_numpy(each) for each in known], batch_first=True)
        mask = torch.arange(padded.shape[1]) < lengths[:, None]
        return padded, nn.utils.rnn.pad_sequence(second, batch_first=True), mask


def build(network: OwnLayers) -> onnx.ModelProto:
    """`words` and `second`, float32 of shape (1, tokens, 384) and (1, tokens), to `answers`, (1, their number)."""
    g = Graph()
    first, second = network.types.detach().numpy()
    of_second = g.op("Unsqueeze", "second", g.indices(-1))
    w: Weights = {f"{NORM}.{kind}": getattr(network.norm, kind).detach().numpy() for kind in ("weight", "bias")}
    below = [g.constant(first), g.constant(second - first)]
    x = g.op("Add", g.op("Add", "words", below[0]), g.op("Mul", of_second, below[1]))
    x = norm(g, x, w, NORM)
    for each in network.layers:
        w |= each.weights()
    middle = x
    for i in range(LAYERS):
        x = layer(g, x, w, f"encoder.layer.{i}")
        middle = x if i + 1 == SHARED_LAYERS else middle
    means = [g.op("ReduceMean", each, g.indices(1), keepdims=0) for each in (middle, x)]
    seen = g.op("Concat", *means, g.op("ReduceMax", x, g.indices(1), keepdims=0), axis=-1)
    weight, bias = (each.detach().numpy() for each in (network.head.weight, network.head.bias))
    g.nodes.append(helper.make_node("Gemm", [seen, g.constant(weight), g.constant(bias)], ["answers"], transB=1))
    shapes: dict[str, list[int | str]] = {"words": [1, "tokens", DIMENSION], "second": [1, "tokens"]}
    given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    answers = helper.make_tensor_value_info("answers", TensorProto.FLOAT, [1, len(bias)])
    graph = helper.make_graph(g.nodes, "own layers", given, [answers], g.constants)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="graphmem")
