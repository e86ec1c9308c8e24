"""Training of a network that reads two texts together: six layers of its own above the words of the shipped embedder.

A network is trained further from where it stands. Those that lie in the repository began as the embedder's lower three
layers below upper ones that had been trained on the same pairs alone.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from layers import SEED, fit, of_like_length
from make_embedder import LAYERS, MICROSOFT, SHARED_LAYERS, Graph, Weights, layer, norm
from onnx import TensorProto, helper
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional
from train.graph import constants_of, read_layers
from train.tower import DROPOUT, HEAD_RATE, LAYER_DECAY, Layer, begun

from graphmem.text.embedder import DIMENSION, EMBEDDER_FOLDER, ShippedNetwork, shipped_words

CHAT_MEMORIES = Path(__file__).with_name("data") / "chat_memories.jsonl"
LIKE, OTHERS = 4, 2
"""Of the statements for which it does not hold the nearest, and further ones, that a text meets."""
LIKE_IN_CHAT, OTHERS_IN_CHAT = 6, 3
"""The same of what was said in a whole chat."""
PART, TYPED_ANEW = 10_000, 0.3
"""Pairs of students in an epoch; share of what was typed in chats that is typed once more."""
RATE, WORDS_RATE, TOKENS = 1e-4, 3e-5, 128
"""Rates of the upmost layer and of what is added to words; tokens of the longest pair that is learned from."""
NORM = "words.LayerNorm"


@dataclass(frozen=True, eq=False)
class PairRow:
    """Two texts, and whether what is asked about them holds."""

    first: str
    second: str
    holds: bool


@dataclass(frozen=True, eq=False)
class Rows:
    """What is learned from: of students, of which as many as `PART` are met in an epoch, and of whole chats."""

    students: list[PairRow]
    chats: list[PairRow]

    def of_epoch(self, as_typed: Callable[[str, random.Random], str], rng: random.Random) -> list[PairRow]:
        """The pairs of an epoch; the first text as it might be typed, where it is not typed so already."""
        met = [(row, True) for row in rng.sample(self.students, min(PART, len(self.students)))]
        met += [(row, rng.random() < TYPED_ANEW) for row in self.chats]
        return [replace(row, first=as_typed(row.first, rng)) if anew else row for row, anew in met]


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
            others = [i for i in np.argsort(-likeness) if i not in each[holds]]
            places = [*each[holds], *others[:LIKE], *rng.sample(others[LIKE:], OTHERS)]
            found += [PairRow(each[text], told[i], i in each[holds]) for i in places]
    return found


def chat_pairs(
    told: dict[str, str], asked: Sequence[dict[str, Any]], text: str, holds: str, alike: str
) -> list[PairRow]:
    """The same of a whole chat.

    Parameters
    ----------
    told : what was said and what was formed of it, by its id: the number of the message, with a letter what was formed
    asked : texts with the ids for which it holds
    text, holds, alike : the keys of each of a text, of the ids for which it holds, and of those that only seem so
    """
    rng, embed = random.Random(SEED), ShippedNetwork(2)
    ids = list(told)
    vectors = embed.encode(list(told.values()))
    found: list[PairRow] = []
    for each in asked:
        right = [one for one in each[holds] if one in told]
        # What else was formed of a message that holds may hold as well.
        messages = {message_of(one) for one in each[holds]}
        likeness = vectors @ embed.encode([each[text]])[0]
        others = [ids[i] for i in np.argsort(-likeness) if message_of(ids[i]) not in messages]
        met = dict.fromkeys([*(one for one in each[alike] if one in told and one not in right), *others[:LIKE_IN_CHAT]])
        further = [one for one in others if one not in met]
        met |= dict.fromkeys(rng.sample(further, min(OTHERS_IN_CHAT, len(further))))
        found += [PairRow(each[text], told[one], holds=True) for one in right]
        found += [PairRow(each[text], told[one], holds=False) for one in met]
    return found


def message_of(one: str) -> str:
    """The number of the message that an id belongs to: of "12b" 12."""
    return one.rstrip("abcdefgh")


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


def made(rows: Rows, epochs: int, as_typed: Callable[[str, random.Random], str], folder: Path) -> None:
    """Train the network of a folder further and write it there.

    Parameters
    ----------
    rows : what is learned from
    as_typed : a first text as it might be typed
    """
    torch.manual_seed(SEED)
    network, words = OwnLayers(folder / "model.onnx"), Words()

    def batches(rng: random.Random) -> Iterator[list[tuple[str, PairRow]]]:
        met = rows.of_epoch(as_typed, rng)
        yield from of_like_length([(f"{row.first} {row.second}", row) for row in met], rng)

    def error(items: Sequence[tuple[str, PairRow]]) -> Tensor:
        output = network(*words([(row.first, row.second) for _, row in items]))[:, 0]
        return functional.binary_cross_entropy_with_logits(output, torch.tensor([float(row.holds) for _, row in items]))

    fit(network, epochs, batches, error)
    onnx.save(build(network), folder / "model.onnx")


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
