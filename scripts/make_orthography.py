"""Make the network that respells hastily typed text: the reader's upper layers, trained further on single words.

    pip install torch
    python scripts/make_orthography.py --data DATA

To be run after `make_reader.py`. `scripts/data/sloppy.jsonl` holds messages as children and students type them beside
the same words as a careful writer would have put them (written by language models); DATA holds
`boundaries/tiage_train.jsonl` and `valence/emobank_dev.jsonl`, from which more are made by
taking marks, capitals and apostrophes away. How misspelt words are spelt is learned of the former. Rows of the split
"test" are only measured; figures lie in `figures.json` beside the weights.
"""

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from make_embedder import LAYERS, MICROSOFT, SHARED_LAYERS, Graph, layer
from make_reader import DROPOUT, SEED, TOKENS, UpperLayers, fit, lines, of_like_length, read_built
from onnx import TensorProto, helper
from rapidfuzz.distance import Levenshtein
from torch import Tensor, nn
from torch.nn import functional
from wordfreq import zipf_frequency

from graphmem.text.embedder import DIMENSION, ShippedNetwork
from graphmem.text.orthography import (
    ORTHOGRAPHY_ANSWERS,
    ORTHOGRAPHY_FOLDER,
    core_span,
    last_tokens,
    respelled,
)
from graphmem.text.reader import READER_FOLDER

SLOPPY = Path(__file__).with_name("data") / "sloppy.jsonl"
EPOCHS = 5
OWN_TIMES = 2
"""How often a message typed in haste is met in an epoch, each time otherwise."""
MADE = 6_000
"""Sentences that are made hasty."""
FAR = 0.6
"""Cost of a word from which on two texts are not the same words."""
SHARE, RARE = 0.75, 3.0
"""Least share of a variant's uses that are one spelling; frequency (Zipf) below which one use is enough."""
NONE, END, ASKS = range(3)


@dataclass(frozen=True, eq=False)
class Row:
    """A text and of each word that is read what stands behind it, whether it is a name, and whether it is misspelt."""

    text: str
    ends: tuple[int, ...]
    marks: tuple[int, ...]
    names: tuple[bool, ...]
    misspelt: tuple[bool, ...]


def core(word: str) -> str:
    span = core_span(word, 0, len(word))
    return "" if span is None else word[slice(*span)].replace("’", "'")


def aligned(said: Sequence[str], means: Sequence[str]) -> list[tuple[int, int, int, int]] | None:
    """Which words of one text stand for which of the other, in order; None where they are not the same words."""
    bare = [[core(word).lower().replace("'", "") for word in words] for words in (said, means)]
    if bare[0] == bare[1]:
        return [(i, i + 1, i, i + 1) for i in range(len(said))]
    best: dict[tuple[int, int], tuple[float, tuple[int, int] | None]] = {(0, 0): (0.0, None)}
    for i in range(len(said) + 1):
        for j in range(len(means) + 1):
            if (i, j) not in best:
                continue
            for di, dj in ((1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (3, 1), (1, 0)):
                if i + di > len(said) or j + dj > len(means):
                    continue
                a, b = ("".join(map(core, part)).lower() for part in (said[i : i + di], means[j : j + dj]))
                unlike = 1.0 - Levenshtein.normalized_similarity(a, b) if dj else (2.0 if a else 0.3)
                cost = best[i, j][0] + unlike + (0.05 if a == b else 0.2) * (di + max(dj, 1) - 2)
                if cost < best.get((i + di, j + dj), (np.inf, None))[0]:
                    best[i + di, j + dj] = cost, (i, j)
    place: tuple[int, int] | None = (len(said), len(means))
    if place not in best or best[place][0] > FAR * max(1, len(said)):
        return None
    found = []
    while (before := best[place][1]) is not None:
        found.append((before[0], place[0], before[1], place[1]))
        place = before
    return found[::-1]


def labelled(said: str, means: str) -> Row | None:
    """What is to be told of the words of a hasty text, by what it stands for."""
    spans = [match.span() for match in re.finditer(r"\S+", said)]
    right = means.split()
    pairs = aligned([said[slice(*span)] for span in spans], right)
    if pairs is None:
        return None
    found, begins = [], True
    for i0, i1, j0, j1 in pairs:
        behind = right[j1 - 1] if j1 > j0 else ""
        trailing = behind[len(behind.rstrip("\"')”.!?…,;:")) :]
        mark = ASKS if "?" in trailing else END if re.search(r"[.!…]", trailing) else NONE
        mean = [core(word) for word in right[j0:j1]]
        for i in range(i0, i1):
            place = core_span(said, *spans[i])
            if place is None:
                continue
            own = said[slice(*place)].replace("’", "'")
            name = (
                not begins and bool(mean) and mean[0][:1].isupper() and mean[0] != "I" and not mean[0].startswith("I'")
            )
            wrong = i1 - i0 > 1 or " ".join(mean).lower() != own.lower()
            found.append((place[1], mark if i == i1 - 1 else NONE, name, wrong))
        begins = mark != NONE
    if not found:
        return None
    ends, marks, names, misspelt = zip(*found, strict=True)
    return Row(said, ends, marks, names, misspelt)


def hasty(text: str, rng: random.Random) -> str:
    """A text as it might be typed in haste: without some of its marks, capitals and apostrophes."""
    kind = rng.random()
    if kind < 0.15:
        return text
    if rng.random() < 0.7:
        text = re.sub(r"(?<=\w)'(?=\w)", "", text)
    lose = rng.choice((0.4, 0.8, 1.0))
    text = re.sub(r"[.!?]+(?=\s|$)", lambda m: "" if rng.random() < lose else rng.choice((m[0], ",")), text).rstrip(",")
    return text.lower() if rng.random() < 0.8 else text


def proper(data: Path) -> list[str]:
    """Texts that are written properly, some of several sentences."""
    talk = [
        re.sub(r"\s+([.,!?])", r"\1", re.sub(r"(\w) ' (\w)", r"\1'\2", turn["text"]))
        for dialogue in lines(data / "boundaries" / "tiage_train.jsonl")
        for turn in dialogue["turns"]
    ]
    talk = [re.sub(r"([.!?])[.!?]+", r"\1", text) for text in talk if text[-1:] in ".!?"]
    sentences = [row["text"].strip() for row in lines(data / "valence" / "emobank_dev.jsonl")]
    sentences = [text for text in sentences if re.fullmatch(r"[A-Z][^\"“”]*[.!?]", text) and len(text.split()) > 2]
    rng = random.Random(SEED)
    rng.shuffle(sentences)
    joined = [" ".join(sentences[i : i + rng.choice((1, 1, 2))]) for i in range(0, len(sentences), 2)]
    texts = [*talk, *joined]
    rng.shuffle(texts)
    return texts[:MADE]


def batches(own: Sequence[Row], made: Sequence[str], rng: random.Random) -> Iterator[list[tuple[str, Row]]]:
    """One epoch, in batches of like length."""
    items = [(row.text, row) for row in own for _ in range(OWN_TIMES)]
    for text in made:
        row = labelled(hasty(text, rng), text)
        if row is not None:
            items.append((row.text, row))
    return of_like_length(items, rng)


class SharedTokens:
    """What the shared layers see of the tokens of texts, padded, and where the tokens stand."""

    def __init__(self) -> None:
        self.network = ShippedNetwork(2)

    def __call__(self, texts: Sequence[str]) -> tuple[Tensor, Tensor, list[list[tuple[int, int]]]]:
        seen = [self.network.seen_tokens(text) for text in texts]
        rows = [torch.from_numpy(hidden[0, :TOKENS]) for hidden, _ in seen]
        lengths = torch.tensor([len(row) for row in rows])
        hidden = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        mask = torch.arange(hidden.shape[1]) < lengths[:, None]
        return hidden, mask, [spans[:TOKENS] for _, spans in seen]


class WordLayers(UpperLayers):
    """What the shared layers see of each token to the answers: the upper layers, then a head over what both see."""

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        x = functional.dropout(hidden, DROPOUT, self.training)
        for each in self.layers:
            x = each(x, mask[:, None, None, :])
        return self.head(functional.dropout(torch.cat([hidden, x], 2), DROPOUT, self.training))


def trained(own: Sequence[Row], made: Sequence[str], shared: SharedTokens) -> WordLayers:
    torch.manual_seed(SEED)
    network = WordLayers(read_built(READER_FOLDER / "model.onnx")[0], 2 * DIMENSION, ORTHOGRAPHY_ANSWERS)

    def error(items: Sequence[tuple[str, Row]]) -> Tensor:
        hidden, mask, spans = shared([text for text, _ in items])
        output = network(hidden, mask)
        read = torch.cat([output[i, last_tokens(spans[i], row.ends)] for i, (_, row) in enumerate(items)])
        marks = torch.tensor([mark for _, row in items for mark in row.marks])
        flags = torch.tensor([[n, m] for _, row in items for n, m in zip(row.names, row.misspelt, strict=True)])
        marked = functional.cross_entropy(read[:, :3], marks, weight=torch.tensor([1.0, 1.5, 1.5]))
        return marked + 0.7 * functional.binary_cross_entropy_with_logits(read[:, 3:], flags.float())

    fit(network, EPOCHS, lambda rng: batches(own, made, rng), error)
    return network


def build_words(network: WordLayers) -> onnx.ModelProto:
    """`hidden`, float32 of shape (1, tokens, 384), to `answers`, float32 of shape (1, tokens, 5)."""
    g, w = Graph(), network.weights()
    x = "hidden"
    for i in range(SHARED_LAYERS, LAYERS):
        x = layer(g, x, w, f"encoder.layer.{i}")
    weight, bias = (each.detach().numpy() for each in (network.head.weight, network.head.bias))
    seen = g.op("Concat", "hidden", x, axis=-1)
    product = g.op("MatMul", seen, g.constant(np.ascontiguousarray(weight.T)))
    g.nodes.append(helper.make_node("Add", [product, g.constant(bias)], ["answers"]))
    hidden = helper.make_tensor_value_info("hidden", TensorProto.FLOAT, [1, "tokens", DIMENSION])
    answers = helper.make_tensor_value_info("answers", TensorProto.FLOAT, [1, "tokens", ORTHOGRAPHY_ANSWERS])
    graph = helper.make_graph(g.nodes, "speller", [hidden], [answers], g.constants)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="graphmem")


def variants(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """How misspelt words are spelt: what they nearly always stand for."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        said, means = row["said"].split(), row["means"].split()
        for i0, i1, j0, j1 in aligned(said, means) or ():
            # A word that grew by others was not misspelt alone.
            if i1 - i0 == 1 and j1 > j0 and (own := core(said[i0]).lower()):
                mean = [core(word) for word in means[j0:j1]]
                found[own][
                    "I" + " ".join(mean)[1:] if mean[0].startswith(("I'", "I ")) else " ".join(mean).lower()
                ] += 1
    known = {}
    for own, meant in sorted(found.items()):
        changed = {spelling: count for spelling, count in meant.items() if spelling.lower() != own}
        if not changed or not own.isascii() or any(map(str.isdigit, own[1:])):
            continue
        best, count = max(changed.items(), key=lambda item: item[1])
        # It is looked up only where the network finds it misspelt: that it is right elsewhere does not count.
        if count >= SHARE * sum(changed.values()) and (count > 1 or zipf_frequency(own, "en") < RARE):
            known[own] = best
    return known


def figures(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """How well texts are respelled, beside leaving them as they are."""

    def counted(text: str, means: str) -> np.ndarray[Any, Any]:
        row = labelled(text, means)
        if row is None:
            return np.zeros(8)
        told = re.findall(r"\S+", text)
        marks = [
            ASKS if "?" in word[-3:] else END if re.search(r"[.!…]", word[-3:]) else NONE for word in told if core(word)
        ]
        inner = list(zip(marks, row.marks, strict=True))[:-1]
        wrong = sum(row.misspelt)
        asks = (ASKS in marks, ASKS in row.marks)
        ends = [(a != NONE and b != NONE, a != NONE, b != NONE) for a, b in inner]
        of_ends = np.sum(ends, axis=0) if ends else np.zeros(3)
        return np.array([*of_ends, wrong, len(row.misspelt), all(asks), *asks], float)

    found: dict[str, float] = {}
    for name, change in (("respelled", lambda text: respelled(text).text), ("as typed", lambda text: text)):
        counts = [counted(change(row["said"]), row["means"]) for row in rows]
        hits, told, wanted, wrong, words, asked, claimed, asking = np.sum(counts, axis=0).tolist()
        found |= {
            f"{name}: inner ends precision": round(hits / max(1, told), 3),
            f"{name}: inner ends recall": round(hits / wanted, 3),
            f"{name}: questions precision": round(asked / max(1, claimed), 3),
            f"{name}: questions recall": round(asked / asking, 3),
            f"{name}: words misspelt": round(wrong / words, 3),
        }
    return {"rows": len(rows)} | found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=ORTHOGRAPHY_FOLDER, help="folder to write to")
    args = parser.parse_args()
    torch.set_num_threads(2)
    rows = list(lines(SLOPPY))
    learned = [row for row in rows if row["split"] != "test"]
    own = [row for each in learned if (row := labelled(each["said"], each["means"])) is not None]
    made = proper(args.data)
    print(f"{len(own)} messages and {len(made)} texts to learn from", flush=True)
    args.out.mkdir(parents=True, exist_ok=True)
    known = variants(learned)
    (args.out / "variants.json").write_text(json.dumps(known, indent=0, ensure_ascii=False) + "\n", "utf-8")
    network = trained(own, made, SharedTokens())
    onnx.save(build_words(network), args.out / "model.onnx")
    found: dict[str, float] = {"learned from": len(own), "variants": len(known)}
    if args.out == ORTHOGRAPHY_FOLDER:
        found |= {f"held out: {k}": v for k, v in figures([row for row in rows if row["split"] == "test"]).items()}
    (args.out / "figures.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
