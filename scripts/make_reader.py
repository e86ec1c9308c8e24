"""Make the reader: the upper layers of all-MiniLM-L6-v2, trained further on what students' messages mean.

    pip install torch
    python scripts/make_reader.py --data DATA --source ORIGINAL

DATA holds `understanding/utterances.jsonl`, `safety/safety.jsonl`, `tutoring/*.jsonl` and
`boundaries/tiage_train.jsonl`; ORIGINAL is as for `make_embedder.py`; `scripts/data` holds further labelled messages.
The lower layers stay those of the embedder, which has computed them already. A message answers only the questions it
has labels for: rows of `safety` know the danger, tutoring talk and small talk that there is none. One group in five of
DATA is held out (`is_held_out`); of the others one in seven chooses temperatures and cuts.

Real tutoring talk holds no grave message, so that gravity could be told by the writer's voice: some examples join a
real and a grave message, and mean what the grave one does.

The figures lie in `reader.json`, the hashes of the rows trained on in `trained.npy`, both beside the weights.
"""

import argparse
import hashlib
import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import onnx
import torch
from make_embedder import LAYERS, MICROSOFT, SHARED_LAYERS, Graph, Weights, layer, read_safetensors
from numpy.typing import NDArray
from onnx import TensorProto, helper
from scipy.optimize import minimize_scalar
from torch import Tensor, nn
from torch.nn import functional
from train.graph import PARTS as PARTS
from train.graph import constants_of as constants_of
from train.graph import read_layers as read_layers

from graphmem.bench.scores import auroc
from graphmem.bench.talks import is_held_out, save_trained
from graphmem.bench.understanding import Guess, LabelledUtterance, read_utterances, understanding_figures
from graphmem.language.analysis import BANDS, passes
from graphmem.text.embedder import DIMENSION, ShippedNetwork, shipped_network
from graphmem.text.reader import (
    CONCERNS,
    DOMAINS,
    HEADS,
    KINDS,
    LEDGER_CATEGORIES,
    MODALITIES,
    READER_FOLDER,
    WIDTH,
    MessageReading,
    ReaderNetwork,
    readings,
)

FURTHER = Path(__file__).with_name("data")
EPOCHS, BATCH, TOKENS, SEED = 7, 32, 128, 0
RATE, HEAD_RATE, LAYER_DECAY, WARM = 1.5e-4, 1e-3, 0.85, 0.06
DROPOUT, SMOOTHING, ORDINAL = 0.1, 0.05, 0.3
ORDERED = ("band", "lasting", "urgency")
WORTH = {
    "band": 1.5,
    "concern": 1.5,
    "valence": 0.5,
    "urgency": 0.5,
    "lasting": 0.5,
    "about_self": 0.7,
    "about_other": 0.5,
}
"""How much a question counts; 1 where it is not named."""
TALK, TALK_CHARACTERS, SMALL_TALK, JOINED = 600, 250, 2000, 14
"""Tutoring messages taken beside the labelled ones, their greatest length; messages of small talk; one joined example
to so many rows."""
UNBANDED = ("safety", "personal", "tiage")
"""Origins of rows that do not choose where the bands begin."""
STEPS = np.linspace(0.2, 2.9, 136)

Array = NDArray[np.float32]
Item = TypeVar("Item", bound=tuple[str, Any])
Batch = TypeVar("Batch")
Answers = dict[str, float]
"""Of each question the index of its answer; -1 is "some danger" and -k "not category k"."""


@dataclass(frozen=True, eq=False)
class Row:
    """A message and what is known of it."""

    text: str
    group: str
    origin: str
    answers: Answers


def read_all(data: Path, domains: dict[str, str]) -> list[Row]:
    utterances = read_utterances(data / "understanding" / "utterances.jsonl")
    utterances += read_utterances(FURTHER / "utterances.jsonl") + read_utterances(FURTHER / "told.jsonl")
    rows = [Row(u.text, u.group, u.origin, of_utterance(u, domains)) for u in utterances]
    rows += [of_safety(each) for each in lines(data / "safety" / "safety.jsonl")]
    rows += [of_safety(each) for each in lines(FURTHER / "safety.jsonl")]
    rows += [replace(of_safety(each), origin="personal") for each in lines(FURTHER / "personal.jsonl")]
    rows += talk(data / "tutoring", {row.text for row in rows})
    return rows + small_talk(data / "boundaries" / "tiage_train.jsonl", {row.text for row in rows})


def lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def index(names: Sequence[Any], name: str) -> int:
    return [str(each) for each in names].index(name)


def ledger_of(category: str | None) -> int:
    return 0 if category in (None, "none") else index(LEDGER_CATEGORIES, str(category))


def of_utterance(u: LabelledUtterance, domains: dict[str, str]) -> Answers:
    answers: Answers = {"band": BANDS.index(u.band), "ledger": ledger_of(u.ledger), "lasting": u.lasting}
    answers |= {"about_self": float(u.about_self), "valence": u.valence}
    if u.kind is not None and u.modality is not None:
        answers |= {"kind": index(KINDS, u.kind), "modality": index(MODALITIES, u.modality)}
    answers |= {"concern": -1} if u.ledger == "threat" else {"concern": 0, "urgency": 0}
    if u.origin != "written" or u.kind == "concept":
        answers["domain"] = 0
    elif u.id in domains:
        answers["domain"] = index(DOMAINS, domains[u.id])
    return answers


def of_safety(row: dict[str, Any]) -> Row:
    concern = CONCERNS.index(row["concern"])
    answers: Answers = {"concern": concern, "urgency": row["urgency"]}
    answers |= {"band": 3, "ledger": ledger_of("threat")} if concern else {"ledger": -ledger_of("threat")}
    if concern:
        answers["about_other"] = float(row["who"] == "other")
    if concern and row["who"] == "self":
        answers["about_self"] = 1.0
    return Row(row["text"], row["id"], "safety", answers)


def talk(folder: Path, known: set[str]) -> list[Row]:
    """Ordinary messages of tutoring talk: nobody is in danger."""
    answers: Answers = {"concern": 0, "urgency": 0, "ledger": -ledger_of("threat"), "domain": 0}
    found = {
        turn["text"]: Row(turn["text"], f"{name}:{dialogue['dialogue_id']}", name, answers)
        for name in ("mathdial", "cima", "bridge")
        for dialogue in lines(folder / f"{name}.jsonl")
        for turn in dialogue["turns"]
        if turn["speaker"] == "student" and turn["text"] not in known and len(turn["text"]) < TALK_CHARACTERS
    }
    rows = list(found.values())
    random.Random(7).shuffle(rows)
    return rows[:TALK]


def small_talk(path: Path, known: set[str]) -> list[Row]:
    """Messages of strangers' small talk about their lives: nobody is in danger."""
    answers: Answers = {"concern": 0, "urgency": 0, "ledger": -ledger_of("threat")}
    turns = [(turn["text"], dialogue["dialogue_id"]) for dialogue in lines(path) for turn in dialogue["turns"]]
    found = {text: Row(text, group, "tiage", answers) for text, group in turns if text not in known}
    rows = list(found.values())
    random.Random(7).shuffle(rows)
    return rows[:SMALL_TALK]


class Layer(nn.Module):
    """One layer of the network, begun from the original weights."""

    def __init__(self, w: Weights, number: int) -> None:
        super().__init__()
        self.prefix = f"encoder.layer.{number}"
        self.parts = nn.ModuleList(begun(w, f"{self.prefix}.{name}", norm=name.endswith("LayerNorm")) for name in PARTS)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        *projections, out, first, wide, narrow, second = self.parts
        query, key, value = (part(x).view(*x.shape[:2], 12, 32).transpose(1, 2) for part in projections)
        seen = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=mask, dropout_p=DROPOUT * self.training
        )
        x = first(x + self.dropped(out(seen.transpose(1, 2).reshape(x.shape))))
        return second(x + self.dropped(narrow(functional.gelu(wide(x)))))

    def dropped(self, x: Tensor) -> Tensor:
        return functional.dropout(x, DROPOUT, self.training)

    def weights(self) -> Weights:
        return {
            f"{self.prefix}.{name}.{kind}": getattr(part, kind).detach().numpy()
            for name, part in zip(PARTS, self.parts, strict=True)
            for kind in ("weight", "bias")
        }


def begun(w: Weights, name: str, *, norm: bool) -> nn.Module:
    weight, bias = (torch.tensor(w[f"{name}.{kind}"]) for kind in ("weight", "bias"))
    part = nn.LayerNorm(len(bias), 1e-12) if norm else nn.Linear(weight.shape[1], weight.shape[0])
    part.load_state_dict({"weight": weight, "bias": bias})
    return part


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

    def __init__(self, w: Weights, answers: int = WIDTH) -> None:
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


def loss(output: Tensor, answers: Sequence[Answers], class_weights: dict[str, Tensor]) -> Tensor:
    """The sum over questions, of each the mean over the rows that answer it."""
    parts = dict(zip(HEADS, output.split(list(HEADS.values()), 1), strict=True))
    total = torch.zeros(())
    for name, part in parts.items():
        rows = [i for i, each in enumerate(answers) if name in each]
        if rows:
            truth = torch.tensor([float(answers[i][name]) for i in rows])
            # By the share of the batch that answers: a lone row must not count as much as thirty.
            share = (len(rows) / len(answers)) ** 0.5
            total = total + share * WORTH.get(name, 1.0) * question_loss(
                name, part[rows], truth, class_weights.get(name)
            )
    return total


def question_loss(name: str, part: Tensor, truth: Tensor, class_weights: Tensor | None) -> Tensor:
    if name.startswith("about_"):
        return functional.binary_cross_entropy_with_logits(part[:, 0], truth * 0.95 + 0.025)
    if name == "valence":
        return functional.mse_loss(torch.tanh(part[:, 0]), truth)
    known = truth >= 0
    result = functional.cross_entropy(
        part[known], truth[known].long(), weight=class_weights, label_smoothing=SMOOTHING, reduction="sum"
    )
    shares = part.softmax(1)
    if name in ORDERED:
        expected = shares[known] @ torch.arange(part.shape[1], dtype=torch.float32)
        result = result + ORDINAL * ((expected - truth[known]) ** 2).sum()
    other = (shares[~known], (-truth[~known]).long())
    denied = other[0][:, 0] if name == "concern" else other[0].gather(1, other[1][:, None])[:, 0]
    return (result - torch.log(1 - denied + 1e-5).sum()) / len(truth)


def rarity(rows: Sequence[Row], name: str) -> Tensor:
    """The weight of each class: by the root of how rare it is, 1 on average."""
    counts = np.ones(HEADS[name])
    for row in rows:
        if row.answers.get(name, -1) >= 0:
            counts[int(row.answers[name])] += 1
    weights = (counts.sum() / counts) ** 0.5
    return torch.tensor(weights * counts.sum() / (weights * counts).sum(), dtype=torch.float32)


def typed(text: str, rng: random.Random) -> str:
    """A text as it might be typed: without apostrophes, capitals or full stop."""
    chance = rng.randrange(6)
    if chance == 0:
        text = text.replace("'", "").replace("’", "").rstrip(".!")
    return text.lower() if chance in (0, 1) else text


def joiner(rows: Sequence[Row], rng: random.Random) -> Callable[[], tuple[str, Answers]]:
    """What gives a real message joined with one that matters: it means what that one does."""
    real = [row for row in rows if row.origin in ("mathdial", "cima", "bridge", "tiage")]
    grave = [row for row in rows if row.origin in ("written", "safety") and row.answers.get("band", 0) >= 2]

    def joined() -> tuple[str, Answers]:
        said, told = rng.choice(real), rng.choice(grave)
        answers = {k: v for k, v in told.answers.items() if k not in ("kind", "modality", "valence", "domain")}
        texts = [said.text, told.text][:: rng.choice((1, 1, -1))]
        return texts[0].rstrip() + rng.choice((" ", ". ", " ... ", ", also ")) + texts[1], answers

    return joined


def batches(rows: Sequence[Row], rng: random.Random) -> Iterator[list[tuple[str, Answers]]]:
    """One epoch, in batches of like length."""
    joined = joiner(rows, rng)
    items = [(typed(row.text, rng), row.answers) for row in rows] + [joined() for _ in range(len(rows) // JOINED)]
    yield from of_like_length(items, rng)


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


def trained(rows: Sequence[Row], w: Weights, shared: Shared) -> Network:
    torch.manual_seed(SEED)
    network = Network(w)
    class_weights = {name: rarity(rows, name) for name, width in HEADS.items() if width > 1}

    def error(items: Sequence[tuple[str, Answers]]) -> Tensor:
        return loss(network(*shared([text for text, _ in items])), [a for _, a in items], class_weights)

    fit(network, EPOCHS, lambda rng: batches(rows, rng), error)
    return network


def outputs(network: Network, shared: Shared, texts: Sequence[str]) -> Array:
    with torch.no_grad():
        return np.concatenate([network(*shared([text])).numpy() for text in texts])


def temperatures(given: Array, rows: Sequence[Row]) -> Array:
    """For each number of the output what it is divided by, so that the chances of its question are calibrated."""
    made, start = np.ones(WIDTH, np.float32), 0
    for name, width in HEADS.items():
        part, own = given[:, start : start + width], slice(start, start + width)
        known = [i for i, row in enumerate(rows) if row.answers.get(name, -1) >= 0]
        truth = np.array([int(rows[i].answers[name]) for i in known])
        start += width
        if width > 1 and len(known) > 0:
            made[own] = fitted_temperature(part[known], truth)
    return made


def fitted_temperature(part: Array, truth: NDArray[np.int64]) -> float:
    def error(log_temperature: float) -> float:
        scaled = part / np.exp(log_temperature)
        scaled = scaled - scaled.max(1, keepdims=True)
        return float(np.mean(np.log(np.exp(scaled).sum(1)) - scaled[np.arange(len(truth)), truth]))

    return float(np.exp(minimize_scalar(error, bounds=(-1.5, 1.5), method="bounded").x))


def best_cuts(expected: Array, band: NDArray[np.int64]) -> list[float]:
    """The expected bands at which the bands begin: each puts most rows on its right side, near ones alike."""
    return [
        float(
            np.mean(STEPS[(hits := [np.mean((expected >= c) == (band >= k)) for c in STEPS]) >= np.max(hits) - 0.002])
        )
        for k in (1, 2, 3)
    ]


def build(w: Weights, weight: Array, bias: Array) -> onnx.ModelProto:
    """`hidden`, float32 of shape (1, tokens, 384), to `answers`, float32 of shape (1, WIDTH)."""
    g = Graph()
    x = "hidden"
    for i in range(SHARED_LAYERS, LAYERS):
        x = layer(g, x, w, f"encoder.layer.{i}")
    means = [g.op("ReduceMean", each, g.indices(1), keepdims=0) for each in ("hidden", x)]
    seen = g.op("Concat", *means, g.op("ReduceMax", x, g.indices(1), keepdims=0), axis=-1)
    g.nodes.append(helper.make_node("Gemm", [seen, g.constant(weight), g.constant(bias)], ["answers"], transB=1))
    hidden = helper.make_tensor_value_info("hidden", TensorProto.FLOAT, [1, "tokens", DIMENSION])
    answers = helper.make_tensor_value_info("answers", TensorProto.FLOAT, [1, len(bias)])
    graph = helper.make_graph(g.nodes, "reader", [hidden], [answers], g.constants)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="graphmem")


def read_built(path: Path) -> tuple[Weights, Array, Array]:
    """What `build` wrote: the upper layers, out of their 8-bit numbers, and the head's weight and bias."""
    arrays = constants_of(path)
    w = read_layers(arrays, range(SHARED_LAYERS, LAYERS))
    return w, next(arrays), next(arrays)


def chooses(row: Row) -> bool:
    """True if a row chooses what is not learned; one group in seven, none of them held out."""
    return (
        row.origin in ("safety", "written", "personal", "tiage")
        and hashlib.sha256(row.group.encode()).digest()[1] % 7 == 1
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of understanding, safety and tutoring")
    parser.add_argument("--source", type=Path, required=True, help="folder of the original model.safetensors")
    parser.add_argument("--out", type=Path, default=READER_FOLDER, help="folder to write to")
    args = parser.parse_args()
    torch.set_num_threads(2)

    domains = json.loads(Path(__file__).with_name("reader_domains.json").read_text(encoding="utf-8"))
    rows, shared = read_all(args.data, domains), Shared()
    known = [row for row in rows if row.group.startswith("more-") or not is_held_out(row.group)]
    learning = [row for row in known if not chooses(row)]
    choosing = [row for row in known if chooses(row)]
    print(f"{len(learning)} rows to learn from, {len(choosing)} to choose by", flush=True)
    network = trained(learning, read_safetensors(args.source / "model.safetensors"), shared)
    write(network, choosing, shared, args.out)
    save_trained(args.out / "trained.npy", [(row.text,) for row in (*learning, *choosing)])
    judge(args.data, args.out)


def write(network: Network, choosing: Sequence[Row], shared: Shared, out: Path) -> None:
    """Choose temperatures and cuts, and write the network with them."""
    given = outputs(network, shared, [row.text for row in choosing])
    divisors = temperatures(given, choosing)
    weight, bias = (part.detach().numpy() for part in (network.head.weight, network.head.bias))
    model = build(network.weights(), weight / divisors[:, None], bias / divisors)
    banded = [i for i, row in enumerate(choosing) if row.origin not in UNBANDED]
    padded = np.pad(given / divisors, ((0, 0), (DIMENSION, 0)))
    expected = np.array([each.band @ np.arange(4) for each in readings(padded[banded], (0.5, 1.5, 2.5))])
    cuts = best_cuts(expected, np.array([int(choosing[i].answers["band"]) for i in banded]))
    out.mkdir(parents=True, exist_ok=True)
    onnx.save(model, out / "model.onnx")
    (out / "reader.json").write_text(json.dumps({"cuts": cuts}), encoding="utf-8")


def guess_of(read: MessageReading) -> Guess:
    ledger = LEDGER_CATEGORIES[int(read.ledger.argmax())]
    modality, kind = MODALITIES[int(read.modality.argmax())], KINDS[int(read.kind.argmax())]
    return Guess(read.snr, modality, kind, ledger, read.about_self >= 0.5)


def judge(data: Path, out: Path) -> None:
    """Add the figures of what was written, on the rows held out, to the file beside it."""
    rows = [u for u in read_utterances(data / "understanding" / "utterances.jsonl") if is_held_out(u.group)]
    network = ReaderNetwork(shipped_network(1), 1, out)
    began = time.process_time()
    read = readings(network.rows([row.text for row in rows]), network.cuts)
    spent = (time.process_time() - began) / len(rows) * 1000
    guesses = list(map(guess_of, read))
    figures = understanding_figures(rows, guesses)
    for origin in sorted({row.origin for row in rows}):
        own = [(row, guess) for row, guess in zip(rows, guesses, strict=True) if row.origin == origin]
        figures[f"band_accuracy_{origin}"] = float(np.mean([BANDS[passes(g.snr)] == row.band for row, g in own]))
        figures[f"threes_told_{origin}"] = float(np.mean([passes(g.snr) == 3 for _, g in own]))
    figures["lasting_accuracy"] = float(
        np.mean([e.lasting.argmax() == r.lasting for r, e in zip(rows, read, strict=True)])
    )
    figures["valence_r"] = float(np.corrcoef([e.valence for e in read], [row.valence for row in rows])[0, 1])
    figures |= danger_figures(data, network) | {"cpu_ms_a_message": spent, "rows": len(rows)}
    known = json.loads((out / "reader.json").read_text(encoding="utf-8"))
    content = {"cuts": known["cuts"], "held_out": {name: round(value, 4) for name, value in figures.items()}}
    (out / "reader.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(content, indent=1))


def danger_figures(data: Path, network: ReaderNetwork) -> dict[str, float]:
    """How well danger is told from look-alikes by this network alone."""
    rows = [row for row in lines(data / "safety" / "safety.jsonl") if is_held_out(row["id"])]
    read = readings(network.rows([row["text"] for row in rows]), network.cuts)
    chance = np.array([1.0 - each.concern[0] for each in read])
    grave, urgent = (np.array([row["urgency"] >= least for row in rows]) for least in (1, 2))
    limit = np.quantile(chance[~grave], 0.92)
    return {
        "danger_auroc": auroc(chance.tolist(), grave.tolist()),
        "danger_recall_at_8": float(np.mean(chance[grave] > limit)),
        "danger_recall_serious_at_8": float(np.mean(chance[urgent] > limit)),
        "danger_rows": len(rows),
    }


if __name__ == "__main__":
    main()
