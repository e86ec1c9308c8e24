"""Training of the pair network: its upper layers and its heads, on all pairs of texts of which something is known."""

import pickle
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from graphmem.bench.talks import is_held_out
from graphmem.language.heads import PAIR, PAIR_HEADS, AnswerForm
from graphmem.language.pairs import PAIR_MARKS, PAIRS_FOLDER, PRODUCT_SCALE, beside, pair_marks
from graphmem.model import PairClass
from graphmem.text.embedder import DIMENSION, EMBEDDER_FOLDER, open_network, shipped_network, shipped_words

from .encoder import fitted_temperature
from .graph import LAYERS, SHARED_LAYERS, Array, Graph, Weights, constants_of, layer, norm, read_layers
from .sources import DATA, lines
from .tower import DROPOUT, Tower, epochs, fit

RATE, TOKENS, SMOOTHING = 1.2e-4, 72, 0.03
STUDENTS = 3
"""One in so many students of the long files is learned from."""
SEEN = 5 * DIMENSION
WORTH = {
    "class": 1.0,
    "ends": 1.2,
    "contradicts": 1.0,
    "answers": 1.0,
    "same": 0.6,
    "refines": 0.6,
    "partly": 0.6,
}
"""How much a question counts."""
MOST = {
    **{"further": 5000, "claims": 300, "endings": 4000, "talk endings": 400, "answers": 5000, "chat answers": 2000},
    **{"chat endings": 2500, "own": 1200, "whole": 900, "typed": 200, "prosecco": 654},
}
"""Pairs that are learned from of an origin at most."""
OFTEN = {"pairs": 3, "pairs_talk": 2, "verdicts": 3}
"""How often a pair of an origin is met in an epoch."""
Labels = dict[str, float]


@dataclass(frozen=True)
class PairRow:
    """Two texts, the newer first, and what is known of them: of `class` the place of the label, else a chance."""

    new: str
    old: str
    labels: Labels
    group: str
    origin: str
    held: bool = False
    message: str = ""

    def __hash__(self) -> int:
        return hash((self.new, self.old, self.origin))


CLASSES = PAIR.heads["class"].labels
UNRELATED: Labels = {"class": CLASSES.index("compatible"), "same": 0, "refines": 0, "ends": 0, "partly": 0,
                     "contradicts": 0, "answers": 0, }  # fmt: skip
"""Labels of two statements of one person that have nothing to do with each other."""


def classed(data: Path) -> Iterator[PairRow]:
    """Pairs with a class of spec 12, and claims of debates that contradict or not."""
    for path, origin in ((data / "uncertainty" / "pairs.jsonl", "pairs"), (DATA / "pairs_talk.jsonl", "pairs_talk"),
                         (DATA / "pairs.jsonl", "further")):  # fmt: skip
        for each in lines(path):
            clash = PairClass(each["class"]).clashes
            known: Labels = {"class": CLASSES.index(each["class"]), "ends": each["retire_old"], "contradicts": clash}
            known |= {"same": 0} if clash or each["retire_old"] else {}
            held = origin != "further" and is_held_out(each["old"])
            yield PairRow(each["new"], each["old"], known, each["old"], origin, held)
    for path, origin in (
        (data / "contradiction" / "prosecco_dev.jsonl", "prosecco"),
        (DATA / "claims.jsonl", "claims"),
    ):
        for each in lines(path):
            group = each.get("id", each["text_a"])
            known = {"contradicts": each["label"] == "contradiction"}
            yield PairRow(
                each["text_b"], each["text_a"], known, group, origin, origin == "prosecco" and is_held_out(group)
            )


def ended(_: Path) -> Iterator[PairRow]:
    """What is said with what it ends, only says again, or leaves as it is; and in whole messages and compounds."""
    embed, rng = shipped_network(1), random.Random(0)
    for number, student in enumerate(lines(DATA / "endings.jsonl")):
        if number % STUDENTS and student["split"] != "test":
            continue
        told, held, name = student["statements"], student["split"] == "test", student["student"]
        vectors = embed.encode(told)
        for each in student["news"]:
            rest = [
                i
                for i in np.argsort(-(vectors @ embed.encode([each["text"]])[0]))
                if i not in (*each["ends"], *each["again"])
            ]
            near, far = rest[:3], rest[3:]
            pairs = [(told[i], {"ends": 1.0, "same": 0, "partly": 0}) for i in each["ends"]]
            pairs += [(told[i], {"ends": 0, "same": 1.0, "contradicts": 0, "partly": 0}) for i in each["again"]]
            pairs += [(told[i], {"ends": 0, "same": 0, "contradicts": 0, "partly": 0}) for i in near]
            pairs += [(told[i], UNRELATED) for i in rng.sample(far, min(1, len(far)))]
            for old, known in pairs:
                yield PairRow(each["text"], old, known, name, "endings", held)
            other = told[rng.choice(far)] if far else None
            if other and (each["ends"] or rng.random() < 0.5):
                own, ends = (told[each["ends"][0]], 1.0) if each["ends"] else (told[near[0]], 0.0)
                both = [own.rstrip("."), other.rstrip(".")][:: rng.choice((1, -1))]
                known = {"ends": ends, "partly": ends, "same": 0} | ({} if ends else {"contradicts": 0})
                yield PairRow(each["text"], rng.choice((" and ", ", ", ". ")).join(both), known, name, "whole", held)
            more = rng.choice(student["news"])["text"]
            if more != each["text"] and (each["ends"] or rng.random() < 0.3):
                message = " ".join([each["text"], more][:: rng.choice((1, -1))])
                known = {"ends": float(bool(each["ends"])), "same": 0}
                yield PairRow(each["text"], told[(each["ends"] or near)[0]], known, name, "whole", held, message)


def ended_in_chats(_: Path) -> Iterator[PairRow]:
    """What is said in chats and small talk with what was said before: little of it ends."""
    for name, path in (("chat endings", "chat_endings"), ("talk endings", "talk_endings")):
        for each in lines(DATA / f"{path}.jsonl"):
            held = each["split"] == "test"
            for old in each.get("ends", ()):
                yield PairRow(each["new"], old, {"ends": 1.0, "same": 0}, each["chat"], name, held)
            for old in each["holds"]:
                known: Labels = {"ends": 0}
                if name == "talk endings":
                    known |= {"contradicts": 0, "class": UNRELATED["class"]}
                yield PairRow(each["new"], old, known, each["chat"], name, held)


def answered(_: Path) -> Iterator[PairRow]:
    """Questions with what answers them, and what only seems to."""
    embed, rng = shipped_network(1), random.Random(1)
    for number, student in enumerate(lines(DATA / "recollections.jsonl")):
        if number % STUDENTS and student["split"] != "test":
            continue
        told, held = student["statements"], student["split"] == "test"
        vectors = embed.encode(told)
        for each in student["questions"]:
            rest = [i for i in np.argsort(-(vectors @ embed.encode([each["q"]])[0])) if i not in each["answers"]]
            for i in each["answers"]:
                yield PairRow(
                    each["q"],
                    told[i],
                    {"answers": 1.0, "contradicts": 0, "ends": 0},
                    student["student"],
                    "answers",
                    held,
                )
            for i in [*rest[:3], *rng.sample(rest[3:], 1)]:
                yield PairRow(
                    each["q"], told[i], {"answers": 0, "contradicts": 0, "ends": 0}, student["student"], "answers", held
                )
        plain = [each for each in told if not each.startswith("Formerly")]
        for _turn in range(5):
            one, other = rng.sample(plain, 2)
            yield PairRow(one, other, UNRELATED, student["student"], "own", held)
    for each in lines(DATA / "chat_answers.jsonl"):
        for holds, texts in ((1.0, each["answers"]), (0.0, each["others"])):
            for text in texts:
                yield PairRow(
                    each["question"], text, {"answers": holds}, each["chat"], "chat answers", each["split"] == "test"
                )


def of_chats(_: Path) -> Iterator[PairRow]:
    """Whole chats: questions and later messages with what was told; two messages of one chat are unrelated."""
    rng = random.Random(2)
    for chat in lines(DATA / "chat_memories.jsonl"):
        if chat["split"] != "train":
            continue
        told, group = chat["told"], chat["chat"]
        for asked in chat["questions"]:
            rest = [one for one in told if one not in (*asked["answers"], *asked["similar"])]
            for one in (*asked["answers"], *asked["similar"], *rng.sample(rest, 2)):
                known: Labels = {"answers": one in asked["answers"]}
                yield PairRow(asked["q"], told.get(one, ""), known, group, "chat answers")
        for later in chat["later"]:
            rest = [one for one in told if one not in (*later["ends"], *later["keeps"])]
            for one in (*later["ends"], *later["keeps"], *rng.sample(rest, 3)):
                known = {"ends": 1.0, "same": 0} if one in later["ends"] else {"ends": 0, "same": 0, "contradicts": 0}
                yield PairRow(later["text"], told.get(one, ""), known, group, "chat endings")


def own_messages(_: Path) -> Iterator[PairRow]:
    """Two messages of one chat, neither of which changes anything: unrelated."""
    rng = random.Random(4)
    for chat in lines(DATA / "chats.jsonl"):
        changed = {text for each in chat["changes"] for text in (each["now"], *each["ends"])}
        plain = [
            said for said in chat["messages"] if not said.startswith("#") and said not in changed and len(said) > 12
        ]
        for _turn in range(30):
            one, other = rng.sample(plain, 2)
            yield PairRow(one, other, UNRELATED, chat["chat"], "own", chat["split"] == "test")


def typed_twice(_: Path) -> Iterator[PairRow]:
    """A message as it was typed and as a careful writer puts it: the same, and another beside it."""
    rows = [each for each in lines(DATA / "sloppy.jsonl") if len(each["means"].split()) > 3]
    rng = random.Random(3)
    for each in rows:
        held = each["split"] == "test"
        known = {"same": 1.0, "refines": 0, "ends": 0, "contradicts": 0}
        yield PairRow(each["said"], each["means"], known, each["means"], "typed", held)
        other = rng.choice(rows)["means"]
        if other != each["means"]:
            yield PairRow(
                each["said"],
                other,
                {
                    "same": 0,
                },
                each["means"],
                "typed",
                held,
            )


def written(_: Path) -> Iterator[PairRow]:
    """Families of `verdicts.jsonl`: an older statement, and newer ones with the verdict on each."""
    for family in lines(DATA / "verdicts.jsonl") if (DATA / "verdicts.jsonl").exists() else ():
        for verdict, news in family["new"].items():
            known = dict(UNRELATED) | {"answers": 0}
            known |= {"class": CLASSES.index("temporal_change")} if verdict in ("ends", "partly") else {}
            known |= {"ends": 1.0, "partly": float(verdict == "partly")} if verdict in ("ends", "partly") else {}
            known |= {verdict: 1.0} if verdict in ("same", "refines") else {}
            if verdict in ("ends", "partly"):
                known.pop("contradicts")
            if verdict == "contradicts":
                known |= {"contradicts": 1.0, "class": CLASSES.index("true_contradiction")}
                known.pop("ends")
            for new in news:
                yield PairRow(new, family["old"], known, family["old"], "verdicts", is_held_out(family["old"]))


SOURCES = (classed, ended, ended_in_chats, answered, of_chats, own_messages, typed_twice, written)


def all_pairs(data: Path) -> list[PairRow]:
    """Read the pairs of all sources; texts of held-out pairs of a class are not learned from elsewhere."""
    rows = [row for source in SOURCES for row in source(data) if row.old]
    apart = {text.casefold() for row in rows if row.held and row.origin in ("pairs", "pairs_talk", "prosecco")
             for text in (row.new, row.old)}  # fmt: skip
    learned = [row for row in rows if not row.held and apart.isdisjoint((row.new.casefold(), row.old.casefold()))]
    random.Random(0).shuffle(learned)
    return learned + [row for row in rows if row.held]


@dataclass(frozen=True, eq=False)
class PairExample:
    """A pair as it is learned from: what the lower layers see, marks, what is to be told."""

    hidden: NDArray[np.float16]
    second: NDArray[np.bool_]
    marks: Array
    target: Array
    known: NDArray[np.bool_]


class PairTower(Tower):
    """The upper layers of the network with its heads."""

    def __init__(self, w: Weights) -> None:
        super().__init__(w, range(SHARED_LAYERS, LAYERS), RATE)
        self.pair = nn.Linear(SEEN + PAIR_MARKS, PAIR.width)
        nn.init.normal_(self.pair.weight, std=0.02)
        nn.init.zeros_(self.pair.bias)

    def forward(self, hidden: Tensor, mask: Tensor, second: Tensor, marks: Tensor) -> Tensor:
        upper = self.upper(hidden, mask).float()
        there, other = mask[..., None], second[..., None]
        count = there.sum(1)
        one = (upper * (there & ~other)).sum(1) / (there & ~other).sum(1).clamp(min=1)
        two = (upper * other).sum(1) / other.sum(1).clamp(min=1)
        largest = upper.masked_fill(~there, -1e4).amax(1)
        parts = [
            (hidden * there).sum(1) / count,
            (upper * there).sum(1) / count,
            largest,
            (one - two).abs(),
            PRODUCT_SCALE * one * two,
        ]
        seen = functional.dropout(torch.cat(parts, 1), DROPOUT, self.training)
        return self.pair(torch.cat([seen, marks], 1))


class Lower:
    """The layers that stay: those of an earlier pair network, which have learned to look from one text to the other."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = Tokenizer.from_file(str(EMBEDDER_FOLDER / "tokenizer.json"))
        self.tokenizer.enable_truncation(TOKENS)
        self.words = shipped_words()
        arrays = constants_of(folder / "model.onnx")
        self.first, self.parted = next(arrays), next(arrays)
        self.weights: Weights = {"words.LayerNorm.weight": next(arrays), "words.LayerNorm.bias": next(arrays)}
        self.weights |= read_layers(arrays, range(LAYERS))
        with TemporaryDirectory() as place:
            onnx.save(self.build(range(SHARED_LAYERS), self.weights), Path(place) / "model.onnx")
            self.session = open_network(Path(place), 1)

    def __call__(self, first: str, second: str) -> tuple[Array, NDArray[np.bool_]]:
        read = self.tokenizer.encode(first, second)
        (words,) = self.words.run(None, {"input_ids": np.array([read.ids], np.int64)})
        of_second = np.array([read.type_ids], np.float32)
        return self.session.run(["upper"], {"words": words, "second": of_second})[0][0], of_second[0] > 0

    def build(self, numbers: Sequence[int], w: Weights) -> onnx.ModelProto:
        """Return a graph of words to what the third layer sees, `middle`, and the last, `upper`."""
        g = Graph()
        of_second = g.op("Unsqueeze", "second", g.indices(-1))
        x = g.op("Add", g.op("Add", "words", g.constant(self.first)), g.op("Mul", of_second, g.constant(self.parted)))
        x = norm(g, x, w, "words.LayerNorm")
        for i in numbers:
            x = layer(g, x, w, f"encoder.layer.{i}")
            if i + 1 == SHARED_LAYERS:
                g.nodes.append(onnx.helper.make_node("Identity", [x], ["middle"]))
        g.nodes.append(onnx.helper.make_node("Identity", [x], ["upper"]))
        shape: list[int | str] = [1, "tokens", DIMENSION]
        return g.model({"words": shape, "second": [1, "tokens"]}, {"middle": shape, "upper": shape})


def example(row: PairRow, lower: Lower) -> PairExample:
    """Return a pair as it is learned from."""
    hidden, second = lower(beside(row.new, row.message), row.old)
    target, known = np.zeros(PAIR.width, np.float32), np.zeros(len(PAIR_HEADS), np.bool_)
    for i, head in enumerate(PAIR_HEADS):
        if head.name in row.labels:
            known[i] = True
            place, label = PAIR.places[head.name], float(row.labels[head.name])
            if head.answer is AnswerForm.LABEL:
                target[place.start + int(label)] = 1.0
            else:
                target[place] = label
    return PairExample(hidden.astype(np.float16), second, pair_marks(row.new, row.old), target, known)


def padded_pairs(batch: Sequence[PairExample]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return hidden states, which tokens there are, which are of the second text, marks."""
    hidden = nn.utils.rnn.pad_sequence([torch.from_numpy(each.hidden).float() for each in batch], True)
    second = nn.utils.rnn.pad_sequence([torch.from_numpy(each.second) for each in batch], True)
    lengths = torch.tensor([len(each.hidden) for each in batch])
    mask = torch.arange(hidden.shape[1]) < lengths[:, None]
    return hidden, mask, second, torch.from_numpy(np.stack([each.marks for each in batch]))


def pair_error(network: PairTower, batch: Sequence[PairExample], rare: Tensor) -> Tensor:
    """Return the error of a batch: the sum over questions, each by the root of the share of pairs that know it."""
    output = network(*padded_pairs(batch)).float()
    target = torch.from_numpy(np.stack([each.target for each in batch]))
    known = torch.from_numpy(np.stack([each.known for each in batch]))
    total = torch.zeros(())
    for i, head in enumerate(PAIR_HEADS):
        own, place = known[:, i], PAIR.places[head.name]
        if own.any():
            share = float(own.float().mean()) ** 0.5
            if head.answer is AnswerForm.LABEL:
                error = functional.cross_entropy(
                    output[own][:, place], target[own][:, place].argmax(1), rare, label_smoothing=SMOOTHING
                )
            else:
                truth = target[own][:, place] * (1 - 2 * SMOOTHING) + SMOOTHING
                error = functional.binary_cross_entropy_with_logits(output[own][:, place], truth)
            total = total + WORTH[head.name] * share * error
    return total


def chooses(row: PairRow) -> bool:
    """Return whether a pair chooses temperatures: one group in ten, none of them held out."""
    return random.Random(row.group).random() < 0.1


def train(rows: Sequence[PairRow], start: Path, checkpoint: Path, count: int) -> None:
    """Train the network and write it."""
    torch.manual_seed(0)
    lower, rng, began = Lower(start), random.Random(0), time.time()
    print(f"{len(rows)} pairs", flush=True)
    counts, learned = dict[str, int](), list[PairRow]()
    choosing = [row for row in rows if not row.held and chooses(row)][:1500]
    for row in rows:
        counts[row.origin] = counts.get(row.origin, 0) + 1
        if not row.held and not chooses(row) and counts[row.origin] <= MOST.get(row.origin, len(rows)):
            learned.append(row)
    kept = checkpoint.parent / "pairs.pickle"
    made = pickle.loads(kept.read_bytes()) if kept.exists() else {}
    made |= {row: example(row, lower) for row in (*learned, *choosing) if row not in made}
    kept.write_bytes(pickle.dumps(made))
    print(f"{len(learned)} to learn from, {len(choosing)} choose; {time.time() - began:.0f} s", flush=True)
    print({origin: sum(row.origin == origin for row in learned) for origin in counts}, flush=True)
    often = [row for row in learned for _ in range(OFTEN.get(row.origin, 1))]
    kinds = np.array([1 + sum(row.labels.get("class") == i for row in often) for i in range(len(CLASSES))])
    rare = torch.tensor((kinds.mean() / kinds) ** 0.5, dtype=torch.float32)
    order = epochs([made[row] for row in often], lambda each: len(each.hidden), rng, count)
    network = PairTower(lower.weights)
    if checkpoint.exists():
        network.load_state_dict(torch.load(checkpoint))
    fit(network, network.groups(network.pair), order, lambda batch: pair_error(network, batch, rare), checkpoint)
    write(network, lower, [made[row] for row in choosing])


def write(network: PairTower, lower: Lower, choosing: Sequence[PairExample], folder: Path = PAIRS_FOLDER) -> None:
    """Write the layers and the heads, calibrated on pairs that nothing was learned from."""
    network.eval()
    with torch.no_grad():
        given = np.concatenate([network(*padded_pairs([each])).float().numpy() for each in choosing])
    divisors = np.ones(PAIR.width, np.float32)
    for i, head in enumerate(PAIR_HEADS):
        own = [k for k, each in enumerate(choosing) if each.known[i]]
        place = PAIR.places[head.name]
        truth = np.array([each.target[place] for each in choosing])[own] if own else np.zeros((0, 1))
        if len(own) >= 40:
            logits, labels = given[own][:, place], truth.argmax(1)
            if head.answer is not AnswerForm.LABEL:
                logits, labels = np.hstack([np.zeros_like(logits), logits]), (truth[:, 0] > 0.5).astype(np.int64)
            divisors[place] = fitted_temperature(logits, labels)
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(lower.build(range(LAYERS), lower.weights | network.weights()), folder / "model.onnx")
    weight, bias = (each.detach().float().numpy() for each in (network.pair.weight, network.pair.bias))
    parts: dict[str, Any] = {"pair": weight / divisors[:, None], "pair_bias": bias / divisors}
    np.savez_compressed(folder / "heads.npz", **parts)
