"""ONNX graphs written down operator by operator, in 8 bits: no torch, and the same bytes every time."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

LAYERS, HEADS, SHARED_LAYERS = 6, 12, 3
"""Layers of the embedder, its attention heads, and the layers that the encoder shares with it."""
DIMENSION = 384
MICROSOFT = "com.microsoft"
LARGEST_WEIGHT = 64
"""Two products of an 8-bit activation and such a weight fit into 16 bits, as processors without VNNI need."""
PARTS = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
         "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm")  # fmt: skip

Array = NDArray[np.float32]
Weights = dict[str, Array]


class Graph:
    """An ONNX graph in the making: `op` adds a node and returns the name of its output."""

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

    def model(self, inputs: dict[str, list[int | str]], outputs: dict[str, list[int | str]]) -> onnx.ModelProto:
        """Return the model; inputs and outputs are float32 of the shapes given."""
        given, made = (
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in each.items()]
            for each in (inputs, outputs)
        )
        graph = helper.make_graph(self.nodes, "graphmem", given, made, self.constants)
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="graphmem")


def quantised(matrix: Array, axis: int, largest: int) -> tuple[NDArray[np.int8], Array]:
    """Return integers in [-largest, largest] and the scales that bring them back, one for each row or column."""
    scale = np.abs(matrix).max(axis=axis, keepdims=True) / largest
    return np.rint(matrix / scale).astype(np.int8), scale.squeeze(axis)


def product(g: Graph, x: str, matrix: Array, *bias: Array) -> str:
    """Add x @ matrix.T (+ bias) in 8 bits, a scale for each output; the scale of x is found when it runs."""
    integers, scale = quantised(matrix.T, 0, LARGEST_WEIGHT)
    zero = np.zeros(scale.shape, np.int8)
    constants = [g.constant(integers), g.constant(scale), g.constant(zero), *map(g.constant, bias)]
    return g.op("DynamicQuantizeMatMul", x, *constants, domain=MICROSOFT)


def product_by_row(g: Graph, x: str, matrix: Array) -> str:
    """Add the same with every token scaled to 1 before: a few tokens are much larger and would blur the rest."""
    largest = g.op("ReduceMax", g.op("Abs", x), g.indices(-1), keepdims=1)
    return g.op("Mul", product(g, g.op("Div", x, largest), matrix), largest)


def norm(g: Graph, x: str, w: Weights, name: str) -> str:
    """Add a layer normalisation."""
    scale, bias = g.constant(w[f"{name}.weight"]), g.constant(w[f"{name}.bias"])
    return g.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-12)


def layer(g: Graph, x: str, w: Weights, name: str) -> str:
    """Add a layer of the network."""
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


def head(g: Graph, seen: str, weight: Array, bias: Array) -> None:
    """Add a linear head, whose output is `answers`."""
    g.nodes.append(helper.make_node("Gemm", [seen, g.constant(weight), g.constant(bias)], ["answers"], transB=1))


def pooled(g: Graph, below: str, x: str) -> str:
    """Add what a head sees: the mean of a lower layer, the mean and the largest of the last."""
    means = [g.op("ReduceMean", each, g.indices(1), keepdims=0) for each in (below, x)]
    return g.op("Concat", *means, g.op("ReduceMax", x, g.indices(1), keepdims=0), axis=-1)


def tower(w: Weights, numbers: Iterable[int]) -> onnx.ModelProto:
    """Return a graph of layers: `hidden` to `upper`, float32 of shape (1, tokens, 384)."""
    g = Graph()
    x = "hidden"
    for i in numbers:
        x = layer(g, x, w, f"encoder.layer.{i}")
    g.nodes.append(helper.make_node("Identity", [x], ["upper"]))
    shape: list[int | str] = [1, "tokens", DIMENSION]
    return g.model({"hidden": shape}, {"upper": shape})


def constants_of(path: Path) -> Iterator[Array]:
    """Read the numbers of a graph in the order of their use, without the indices."""
    constants = map(numpy_helper.to_array, onnx.load(path).graph.initializer)
    return (each for each in constants if each.dtype != np.int64)


def read_layers(arrays: Iterator[Array], numbers: Iterable[int]) -> Weights:
    """Return the layers that `layer` wrote, out of their 8-bit numbers."""
    w: Weights = {}

    def linear(*names: str) -> None:
        integers, scale, _, bias = (next(arrays) for _ in range(4))
        matrix = (integers * scale).T.astype(np.float32)
        for name, m, b in zip(names, np.split(matrix, len(names)), np.split(bias, len(names)), strict=True):
            w[f"{name}.weight"], w[f"{name}.bias"] = m, b

    def normed(name: str) -> None:
        w[f"{name}.weight"], w[f"{name}.bias"] = next(arrays), next(arrays)

    for number in numbers:
        *projections, out, first, wide, narrow, second = (f"encoder.layer.{number}.{part}" for part in PARTS)
        linear(*projections)
        linear(out)
        normed(first)
        linear(wide)
        linear(narrow)
        normed(second)
    return w
