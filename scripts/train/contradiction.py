"""The network that reads two statements together: the upper layers of all-MiniLM-L6-v2, trained further on pairs.

The lower layers stay the embedder's. It learns from `uncertainty/pairs.jsonl` and ProSeCCo, from further labelled pairs
and claims (`pairs`, `claims.jsonl`), and from what friends and students say weeks apart (`pairs_talk.jsonl`), mostly
compatible, as most of what one person says is. One `old` in five of the first and the last and one row in five of
ProSeCCo is held out; of the further ones those that share a text with a held-out pair are left out. One `old` in six of
what else the first holds chooses the temperatures.
"""

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from graphmem.bench.talks import is_held_out, save_trained
from graphmem.bench.understanding import PAIRS, contradiction_figures, pair_figures
from graphmem.model import PairClass
from graphmem.text.contradiction import PAIR_CLASSES, ContradictionNetwork, statement_features
from graphmem.text.embedder import DIMENSION, ShippedNetwork, shipped_network

from .embedder import read_safetensors
from .encoder import fitted_temperature
from .graph import LAYERS, SHARED_LAYERS, Graph, Weights, head, layer
from .networks import UpperLayers
from .options import WRITTEN, Figures, Options, lines, rounded, write_lines
from .tower import BATCH, SEED, SMOOTHING, fit, padded, typed

EPOCHS = 5
ENDED_WORTH, CLASH_WORTH = 0.7, 0.4
"""How much the two further questions count beside the class."""
OWN_TIMES = 3
"""How often a shared pair is met in an epoch: the further ones are many, and plainer."""
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

    @property
    def held(self) -> bool:
        """True where it is held out."""
        return is_held_out(self.group)

    @property
    def chooses(self) -> bool:
        """True if it chooses what is not learned; one group in six, none of them held out."""
        return self.kind is not None and hashlib.sha256(self.group.encode()).digest()[1] % 6 == 1


def make(given: Options) -> Figures:
    """Train the network; write it, the hashes of the rows trained on, and the pairs held out, as they ship."""
    place = given.data / "uncertainty" / "pairs.jsonl"
    own, talk = labelled(place), labelled(WRITTEN / "pairs_talk.jsonl")
    other = clashes(given.data / "contradiction" / "prosecco_dev.jsonl")
    apart = {text.casefold() for row in (*own, *other, *talk) if row.held for text in (row.old, row.new)}
    further = labelled(WRITTEN / "pairs.jsonl") + clashes(WRITTEN / "claims.jsonl")
    more = [row for row in further if apart.isdisjoint((row.old.casefold(), row.new.casefold()))]
    more += [row for row in talk if not row.held] * TALK_TIMES
    known = [row for row in (*own, *other) if not row.held]
    learning, choosing = [row for row in known if not row.chooses], [row for row in known if row.chooses]
    often = [row for row in learning if row.kind is not None] * (OWN_TIMES - 1)
    seen = Seen()
    network = trained(learning + more + often, read_safetensors(given.original / "model.safetensors"), seen)
    with torch.no_grad():
        answers = np.concatenate([network(*seen([(row.old, row.new)])).numpy() for row in choosing])
    onnx.save(build(network, temperatures(answers, choosing)), given.folder / "model.onnx")
    save_trained(given.folder / "trained.npy", [(row.old, row.new) for row in (*known, *more)])
    write_lines(PAIRS, [row for row in lines(place) if is_held_out(row["old"])])
    return judged(
        given.folder,
        {
            "chosen on": choosing,
            "held out": [row for row in own if row.held],
            "talk, held out": [row for row in talk if row.held],
        },
        [row for row in other if row.held],
    )


def labelled(path: Path) -> list[Row]:
    """Read pairs of five classes."""
    kinds = [kind.value for kind in PAIR_CLASSES]
    return [
        Row(r["old"], r["new"], r["old"], PairClass(r["class"]).clashes, kinds.index(r["class"]), r["retire_old"])
        for r in lines(path)
    ]


def clashes(path: Path) -> list[Row]:
    """Read pairs of which is known whether they clash."""
    return [Row(r["text_a"], r["text_b"], r.get("id", r["text_a"]), r["label"] == "contradiction") for r in lines(path)]


class Seen:
    """What the lower layers see of pairs, and their features, each computed once."""

    def __init__(self) -> None:
        self.network = ShippedNetwork(2)
        self.known: dict[tuple[str, str], tuple[Tensor, Tensor, Tensor]] = {}

    def of(self, old: str, new: str) -> tuple[Tensor, Tensor, Tensor]:
        """Return hidden states, which of them are of the second text, and features."""
        if (old, new) not in self.known:
            hidden, second = self.network.seen_pair(old, new)
            features = statement_features(old, new, self.network.encode([old, new]))
            self.known[old, new] = tuple(map(torch.from_numpy, (hidden[0].copy(), second, features)))
        return self.known[old, new]

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return hidden, which tokens there are, which are of the second text, features."""
        hidden, second, features = zip(*(self.of(*pair) for pair in pairs), strict=True)
        return *padded(hidden), padded(second)[0], torch.stack(features)


class Network(UpperLayers):
    """The upper layers over both texts, then a linear head over the first token, both means and the features."""

    def forward(self, hidden: Tensor, there: Tensor, *further: Tensor) -> Tensor:
        second, features = further
        x = self.upper(hidden, there)
        one, other = (mean(x, mask) for mask in (there & ~second, there & second))
        seen = torch.cat([x[:, 0], (one - other).abs(), PRODUCT_SCALE * one * other, features], 1)
        return self.answers(seen)


def mean(x: Tensor, mask: Tensor) -> Tensor:
    """Return the mean of some tokens."""
    part = mask[..., None]
    return (x * part).sum(1) / part.sum(1).clamp(min=1)


def loss(output: Tensor, rows: Sequence[Row], rarity: Tensor) -> Tensor:
    """Return the error of the class and of being ended, where they are known, and of the clash."""
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
    """Yield one epoch: pairs as they might be typed, and what is known of them."""
    order = rng.sample(list(rows), len(rows))
    for start in range(0, len(order), BATCH):
        yield [((typed(row.old, rng), typed(row.new, rng)), row) for row in order[start : start + BATCH]]


def trained(rows: Sequence[Row], w: Weights, seen: Seen) -> Network:
    """Return the trained network."""
    torch.manual_seed(SEED)
    network = Network(w, ANSWERS, len(seen.of(rows[0].old, rows[0].new)[2]))
    counts = np.array([1 + sum(row.kind == kind for row in rows) for kind in range(len(PAIR_CLASSES))])
    rarity = torch.tensor((counts.mean() / counts) ** 0.5, dtype=torch.float32)

    def error(batch: Sequence[tuple[tuple[str, str], Row]]) -> Tensor:
        return loss(network(*seen([pair for pair, _ in batch])), [row for _, row in batch], rarity)

    rng = random.Random(SEED)
    fit(network, network.groups(network.head), [list(batches(rows, rng)) for _ in range(EPOCHS)], error)
    return network


def build(network: Network, divisors: Array) -> onnx.ModelProto:
    """Return `hidden`, `second` and `features` of one pair to `answers`, float32 of shape (1, ANSWERS)."""
    g, w, x = Graph(), network.weights(), "hidden"
    for i in range(SHARED_LAYERS, LAYERS):
        x = layer(g, x, w, f"encoder.layer.{i}")
    second = g.op("Unsqueeze", "second", g.indices(-1))
    first = g.op("Sub", g.constant(np.array(1.0, np.float32)), second)
    one, other = (_mean(g, x, mask) for mask in (first, second))
    begin = g.op("Squeeze", g.op("Gather", x, g.indices(0), axis=1), g.indices(1))
    product = g.op("Mul", g.op("Mul", one, other), g.constant(np.array(PRODUCT_SCALE, np.float32)))
    seen = g.op("Concat", begin, g.op("Abs", g.op("Sub", one, other)), product, "features", axis=-1)
    weight, bias = (part.detach().numpy() for part in (network.head.weight, network.head.bias))
    head(g, seen, (weight / divisors[:, None]).astype(np.float32), (bias / divisors).astype(np.float32))
    features = weight.shape[1] - 3 * DIMENSION
    inputs: dict[str, list[int | str]] = {"hidden": [1, "tokens", DIMENSION], "second": [1, "tokens"]}
    return g.model({**inputs, "features": [1, features]}, {"answers": [1, ANSWERS]})


def _mean(g: Graph, x: str, mask: str) -> str:
    total = g.op("ReduceSum", g.op("Mul", x, mask), g.indices(1), keepdims=0)
    return g.op("Div", total, g.op("ReduceSum", mask, g.indices(1), keepdims=0))


def temperatures(given: Array, rows: Sequence[Row]) -> Array:
    """Return for each number of the output what it is divided by, so that the chances are calibrated."""
    kinds = np.array([row.kind for row in rows], np.int64)
    count = len(PAIR_CLASSES)
    made = np.full(ANSWERS, fitted_temperature(given[:, :count], kinds), np.float32)
    for place, truth in ((-2, [bool(row.ended) for row in rows]), (-1, [row.clash for row in rows])):
        pair = np.stack([np.zeros(len(rows), np.float32), given[:, place]], 1)
        made[place] = fitted_temperature(pair, np.array(truth, np.int64))
    return made


def judged(folder: Path, parts: dict[str, Sequence[Row]], apart: Sequence[Row]) -> Figures:
    """Return the figures of the network of a folder on parts of pairs, and on clashes held out."""
    network, found = ContradictionNetwork(shipped_network(2), 2, folder), Figures()
    for name, rows in parts.items():
        readings = network.read([(row.old, row.new) for row in rows])
        truth = [PAIR_CLASSES[row.kind] for row in rows if row.kind is not None]
        found[name] = pair_figures(readings, truth, [bool(row.ended) for row in rows])
    readings = network.read([(row.old, row.new) for row in apart])
    found["clashes, held out"] = contradiction_figures([r.clash for r in readings], [row.clash for row in apart])
    return rounded(found)
