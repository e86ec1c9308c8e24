"""Make the network that reads two statements together: the upper layers of all-MiniLM-L6-v2, trained further on pairs.

    pip install torch
    python scripts/make_contradiction.py --pairs pairs.jsonl --clashes prosecco.jsonl --source ORIGINAL

PAIRS: `old`, `new`, `class`, `retire_old`; CLASHES: `text_a`, `text_b`, `label` (contradiction or none); ORIGINAL is as
for `make_embedder.py`; `scripts/data` holds further labelled pairs and claims, and `pairs_talk.jsonl` what friends and
students say weeks apart, mostly compatible, as most of what one person says is. The lower layers stay the embedder's.
One `old` in five of PAIRS and of `pairs_talk.jsonl` and one row in five of CLASHES is held out; of the further ones
those that share a text with a held-out pair are left out. One `old` in six of what else PAIRS holds chooses the
temperatures.

The figures lie in `contradiction.json`, the hashes of the rows trained on in `trained.npy`, both beside the weights.
"""

import argparse
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from layers import BATCH, SEED, SMOOTHING, UpperLayers, fit, typed
from make_embedder import LAYERS, MICROSOFT, SHARED_LAYERS, Graph, Weights, layer, read_safetensors
from numpy.typing import NDArray
from onnx import TensorProto, helper
from torch import Tensor, nn
from torch.nn import functional
from train.encoder import fitted_temperature
from train.tower import DROPOUT

from graphmem.bench.contradiction import PAIRS, contradiction_figures, pair_figures
from graphmem.bench.talks import is_held_out, save_trained
from graphmem.model import PairClass
from graphmem.text.contradiction import CONTRADICTION_FOLDER, PAIR_CLASSES, ContradictionNetwork, statement_features
from graphmem.text.embedder import DIMENSION, ShippedNetwork, shipped_network

FURTHER = Path(__file__).with_name("data") / "pairs.jsonl"
TALK = Path(__file__).with_name("data") / "pairs_talk.jsonl"
FURTHER_CLASHES = Path(__file__).with_name("data") / "claims.jsonl"
EPOCHS = 5
ENDED_WORTH, CLASH_WORTH = 0.7, 0.4
"""How much the two further questions count beside the class."""
OWN_TIMES = 3
"""How often a pair of PAIRS is met in an epoch: the further ones are many, and plainer."""
TALK_TIMES = 2
"""The same of a pair of what friends say."""
PRODUCT_SCALE = 10.0
"""What the products of two means are multiplied by, beside the other numbers the head sees."""
ANSWERS = len(PAIR_CLASSES) + 2

Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Row:
    """A pair and what is known of it; `kind` and `ended` are None for a pair of which only a clash is known."""

    old: str
    new: str
    group: str
    clash: bool
    kind: int | None = None
    ended: bool | None = None


def lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def labelled(path: Path) -> list[Row]:
    kinds = [kind.value for kind in PAIR_CLASSES]
    return [
        Row(r["old"], r["new"], r["old"], PairClass(r["class"]).clashes, kinds.index(r["class"]), r["retire_old"])
        for r in lines(path)
    ]


def clashes(path: Path) -> list[Row]:
    return [Row(r["text_a"], r["text_b"], r.get("id", r["text_a"]), r["label"] == "contradiction") for r in lines(path)]


class Seen:
    """What the lower layers see of pairs, and their features, each computed once."""

    def __init__(self) -> None:
        self.network = ShippedNetwork(2)
        self.known: dict[tuple[str, str], tuple[Tensor, Tensor, Tensor]] = {}

    def of(self, old: str, new: str) -> tuple[Tensor, Tensor, Tensor]:
        if (old, new) not in self.known:
            hidden, second = self.network.seen_pair(old, new)
            features = statement_features(old, new, self.network.encode([old, new]))
            self.known[old, new] = (
                torch.from_numpy(hidden[0].copy()), torch.from_numpy(second), torch.from_numpy(features)
            )  # fmt: skip
        return self.known[old, new]

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Hidden, which tokens there are, which are of the second text, features."""
        rows = [self.of(*pair) for pair in pairs]
        lengths = torch.tensor([len(hidden) for hidden, _, _ in rows])
        hidden = nn.utils.rnn.pad_sequence([hidden for hidden, _, _ in rows], batch_first=True)
        second = nn.utils.rnn.pad_sequence([second for _, second, _ in rows], batch_first=True)
        there = torch.arange(hidden.shape[1]) < lengths[:, None]
        return hidden, there, second, torch.stack([features for _, _, features in rows])


class Network(UpperLayers):
    """The upper layers over both texts, then a linear head over the first token, both means and the features."""

    def __init__(self, w: Weights, features: int) -> None:
        super().__init__(w, 3 * DIMENSION + features, ANSWERS)

    def forward(self, hidden: Tensor, there: Tensor, second: Tensor, features: Tensor) -> Tensor:
        x = functional.dropout(hidden, DROPOUT, self.training)
        for each in self.layers:
            x = each(x, there[:, None, None, :])
        one, other = (mean(x, mask) for mask in (there & ~second, there & second))
        seen = torch.cat([x[:, 0], (one - other).abs(), PRODUCT_SCALE * one * other, features], 1)
        return self.head(functional.dropout(seen, DROPOUT, self.training))


def mean(x: Tensor, mask: Tensor) -> Tensor:
    part = mask[..., None]
    return (x * part).sum(1) / part.sum(1).clamp(min=1)


def loss(output: Tensor, rows: Sequence[Row], rarity: Tensor) -> Tensor:
    """Of the class and of being ended, where they are known, and of the clash."""
    clash = torch.tensor([float(row.clash) for row in rows])
    total = CLASH_WORTH * functional.binary_cross_entropy_with_logits(output[:, -1], clash)
    own = [i for i, row in enumerate(rows) if row.kind is not None]
    if not own:
        return total
    kinds, ended = torch.tensor([rows[i].kind for i in own]), torch.tensor([float(bool(rows[i].ended)) for i in own])
    kind_loss = functional.cross_entropy(
        output[own][:, : len(PAIR_CLASSES)], kinds, weight=rarity, label_smoothing=SMOOTHING
    )
    ended_loss = functional.binary_cross_entropy_with_logits(output[own][:, -2], ended)
    return total + len(own) / len(rows) * (kind_loss + ENDED_WORTH * ended_loss)


def batches(rows: Sequence[Row], rng: random.Random) -> Iterator[list[tuple[tuple[str, str], Row]]]:
    """One epoch: pairs as they might be typed, and what is known of them."""
    order = rng.sample(list(rows), len(rows))
    for start in range(0, len(order), BATCH):
        yield [((typed(row.old, rng), typed(row.new, rng)), row) for row in order[start : start + BATCH]]


def trained(rows: Sequence[Row], w: Weights, seen: Seen) -> Network:
    torch.manual_seed(SEED)
    network = Network(w, len(seen.of(rows[0].old, rows[0].new)[2]))
    counts = np.array([1 + sum(row.kind == kind for row in rows) for kind in range(len(PAIR_CLASSES))])
    rarity = torch.tensor((counts.mean() / counts) ** 0.5, dtype=torch.float32)

    def error(batch: Sequence[tuple[tuple[str, str], Row]]) -> Tensor:
        return loss(network(*seen([pair for pair, _ in batch])), [row for _, row in batch], rarity)

    fit(network, EPOCHS, lambda rng: batches(rows, rng), error)
    return network


def build(network: Network, divisors: Array) -> onnx.ModelProto:
    """`hidden`, `second` and `features` of one pair to `answers`, float32 of shape (1, ANSWERS)."""
    g, w = Graph(), network.weights()
    x = "hidden"
    for i in range(SHARED_LAYERS, LAYERS):
        x = layer(g, x, w, f"encoder.layer.{i}")
    second = g.op("Unsqueeze", "second", g.indices(-1))
    first = g.op("Sub", g.constant(np.array(1.0, np.float32)), second)
    one, other = (_mean(g, x, mask) for mask in (first, second))
    head = g.op("Squeeze", g.op("Gather", x, g.indices(0), axis=1), g.indices(1))
    product = g.op("Mul", g.op("Mul", one, other), g.constant(np.array(PRODUCT_SCALE, np.float32)))
    seen = g.op("Concat", head, g.op("Abs", g.op("Sub", one, other)), product, "features", axis=-1)
    weight, bias = (part.detach().numpy() / (divisors[:, None] if part.dim() == 2 else divisors)
                    for part in (network.head.weight, network.head.bias))  # fmt: skip
    constants = [g.constant(each.astype(np.float32)) for each in (weight, bias)]
    g.nodes.append(helper.make_node("Gemm", [seen, *constants], ["answers"], transB=1))
    tensor = helper.make_tensor_value_info
    inputs = [
        tensor("hidden", TensorProto.FLOAT, [1, "tokens", DIMENSION]),
        tensor("second", TensorProto.FLOAT, [1, "tokens"]),
        tensor("features", TensorProto.FLOAT, [1, weight.shape[1] - 3 * DIMENSION]),
    ]
    answers = tensor("answers", TensorProto.FLOAT, [1, ANSWERS])
    graph = helper.make_graph(g.nodes, "contradiction", inputs, [answers], g.constants)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="graphmem")


def _mean(g: Graph, x: str, mask: str) -> str:
    total = g.op("ReduceSum", g.op("Mul", x, mask), g.indices(1), keepdims=0)
    return g.op("Div", total, g.op("ReduceSum", mask, g.indices(1), keepdims=0))


def chooses(row: Row) -> bool:
    """True if a row chooses what is not learned; one group in six, none of them held out."""
    return row.kind is not None and hashlib.sha256(row.group.encode()).digest()[1] % 6 == 1


def temperatures(given: Array, rows: Sequence[Row]) -> Array:
    """For each number of the output what it is divided by, so that the chances are calibrated."""
    kinds = np.array([row.kind for row in rows], np.int64)
    count = len(PAIR_CLASSES)
    made = np.full(ANSWERS, fitted_temperature(given[:, :count], kinds), np.float32)
    for place, truth in ((-2, [bool(row.ended) for row in rows]), (-1, [row.clash for row in rows])):
        pair = np.stack([np.zeros(len(rows), np.float32), given[:, place]], 1)
        made[place] = fitted_temperature(pair, np.array(truth, np.int64))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--clashes", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True, help="folder of the original model.safetensors")
    parser.add_argument("--out", type=Path, default=CONTRADICTION_FOLDER, help="folder to write to")
    args = parser.parse_args()
    torch.set_num_threads(2)
    own, other, talk = labelled(args.pairs), clashes(args.clashes), labelled(TALK)
    apart = {text.casefold() for row in (*own, *other, *talk) if is_held_out(row.group) for text in (row.old, row.new)}
    further = labelled(FURTHER) + clashes(FURTHER_CLASHES)
    more = [row for row in further if apart.isdisjoint((row.old.casefold(), row.new.casefold()))]
    known = [row for row in (*own, *other) if not is_held_out(row.group)]
    more += [row for row in talk if not is_held_out(row.group)] * TALK_TIMES
    learning, choosing = [r for r in known if not chooses(r)] + more, [r for r in known if chooses(r)]
    rows = list(dict.fromkeys([*known, *more]))
    print(f"{len(learning)} pairs to learn from, {len(choosing)} to choose by", flush=True)
    seen = Seen()
    often = [r for r in known if r.kind is not None and not chooses(r)] * (OWN_TIMES - 1)
    network = trained(learning + often, read_safetensors(args.source / "model.safetensors"), seen)
    with torch.no_grad():
        given = np.concatenate([network(*seen([(row.old, row.new)])).numpy() for row in choosing])
    args.out.mkdir(parents=True, exist_ok=True)
    onnx.save(build(network, temperatures(given, choosing)), args.out / "model.onnx")
    save_trained(args.out / "trained.npy", [(row.old, row.new) for row in rows])
    judge(args, choosing)
    write_sample(args.pairs)


def write_sample(path: Path) -> None:
    """The pairs held out, as they ship."""
    PAIRS.parent.mkdir(exist_ok=True)
    rows = [row for row in lines(path) if is_held_out(row["old"])]
    PAIRS.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def judge(args: argparse.Namespace, choosing: Sequence[Row]) -> None:
    """Write the figures of what was written beside it: on the rows that chose, and on those held out."""
    network = ContradictionNetwork(shipped_network(2), 2, args.out)
    content: dict[str, Any] = {}
    for name, rows in (
        ("chosen on", choosing),
        ("held out", [r for r in labelled(args.pairs) if is_held_out(r.group)]),
        ("talk, held out", [r for r in labelled(TALK) if is_held_out(r.group)]),
    ):
        readings = network.read([(row.old, row.new) for row in rows])
        truth = [PAIR_CLASSES[row.kind] for row in rows if row.kind is not None]
        content[name] = pair_figures(readings, truth, [bool(row.ended) for row in rows])
    apart = [row for row in clashes(args.clashes) if is_held_out(row.group)]
    readings = network.read([(row.old, row.new) for row in apart])
    content["clashes, held out"] = contradiction_figures([r.clash for r in readings], [row.clash for row in apart])
    told = {name: {k: round(v, 4) for k, v in figures.items()} for name, figures in content.items()}
    (args.out / "contradiction.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
