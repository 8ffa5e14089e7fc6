"""Graph: nodes and numbers of one ONNX graph, and what a Transformer is made of in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from torch import Tensor, nn

from regard.attention import MultiHeadAttention
from regard.errors import MissingExtraError
from regard.models.layers import ACTIVATIONS, DecoderLayer, FeedForward, TransformerLayer
from regard.vectors.positions import sinusoidal

POSITIONS = 1024
OPSET = 17
Shape = tuple[str | int, ...]
"""Of an input or output; a name stands for any number."""
HIDDEN = -1e9
"""What a score gets that must not be looked at."""
Step = Callable[[list[str], list[str]], tuple[list[str], str]]
"""From the states before and the rows of a step to the states after, and what the step gives."""


class OnnxGraph:
    """Nodes and numbers of one graph. Methods add nodes and return the name of what they give."""

    def __init__(self, width: int, heads: int, before: bool) -> None:
        try:
            import onnx
        except ImportError as error:
            raise MissingExtraError("--to onnx", "onnx") from error
        self.onnx = onnx
        self.width, self.heads, self.before = width, heads, before
        self.nodes: list[Any] = []
        self.numbers: dict[str, Any] = {}
        self.count = 0

    def node(self, operation: str, *inputs: str, **attributes: Any) -> str:
        name = self.fresh(operation.lower())
        made = self.onnx.helper.make_node(operation, list(inputs), [name], **attributes)
        self.nodes.append(made)
        return name

    def fresh(self, what: str) -> str:
        """A name that nothing has yet, in this graph and those within it."""
        self.count += 1
        return f"{what}_{self.count}"

    def number(self, value: Any, kind: type[np.generic] = np.float32) -> str:
        """A constant; the same one is kept once."""
        if isinstance(value, Tensor):
            value = value.detach().float().cpu().numpy()
        array = np.ascontiguousarray(np.asarray(value, dtype=kind))
        for name, kept in self.numbers.items():
            same = (kept.shape, kept.dtype) == (array.shape, array.dtype)
            if same and np.array_equal(kept, array):
                return name
        name = f"number_{len(self.numbers)}"
        self.numbers[name] = array
        return name

    def length(self, ids: str) -> str:
        """How many tokens a row of ``ids`` has, as a vector of one."""
        return self.node("Shape", ids, start=1, end=2)

    def scan(self, states: Sequence[str], rows: Sequence[str], step: Step) -> str:
        """``step`` for each row, one after the other; what all steps give, as rows.

        Every one of ``rows`` is taken apart along its first axis; ``states`` are those before the
        first step.
        """
        helper, kind = self.onnx.helper, self.onnx.TensorProto.FLOAT
        outside, self.nodes = self.nodes, []
        before = [self.fresh("state") for _ in states]
        here = [self.fresh("row") for _ in rows]
        after, given = step(before, here)
        results = [self.node("Identity", name) for name in (*after, given)]
        inside, self.nodes = self.nodes, outside

        def values(names: Sequence[str]) -> list[Any]:
            return [helper.make_tensor_value_info(name, kind, None) for name in names]

        body = helper.make_graph(inside, "step", values([*before, *here]), values(results))
        names = [self.fresh("scan") for _ in results]
        self.nodes.append(
            helper.make_node("Scan", [*states, *rows], names, body=body, num_scan_inputs=len(rows))
        )
        return names[-1]

    def embedded(self, ids: str, words: Tensor) -> str:
        """sqrt(d) E w + PE"""
        vectors = self.node("Gather", self.number(words), ids)
        scaled = self.node("Mul", vectors, self.number(math.sqrt(self.width)))
        table = self.number(sinusoidal(POSITIONS, self.width))
        places = self.node("Slice", table, self.number([0], np.int64), self.length(ids))
        return self.node("Add", scaled, places)

    def padded(self, mask: str) -> str:
        """What is added to scores (batch, heads, n, S): 0, or HIDDEN at padding."""
        real = self.node("Cast", mask, to=self.onnx.TensorProto.FLOAT)
        hidden = self.node("Mul", self.node("Sub", self.number(1.0), real), self.number(HIDDEN))
        return self.node("Unsqueeze", hidden, self.number([1, 2], np.int64))

    def causal(self, ids: str) -> str:
        """The same (T, T): HIDDEN above the diagonal."""
        side = self.length(ids)
        square = self.node(
            "Expand", self.number([[HIDDEN]]), self.node("Concat", side, side, axis=0)
        )
        return self.node("Trilu", square, self.number(1, np.int64), upper=1)

    def stack(
        self,
        x: str,
        layers: nn.ModuleList,
        norm: nn.Module,
        *,
        own: str,
        memory: tuple[str, str] | None = None,
    ) -> str:
        """Layers over ``x``; ``own`` masks self-attention, ``memory`` is read with its mask."""
        for layer in layers:
            assert isinstance(layer, TransformerLayer)
            y = self.normed(x, layer.attention_norm) if self.before else x
            x = self.joined(x, self.attended(layer.attention, y, y, own), layer.attention_norm)
            if isinstance(layer, DecoderLayer) and memory is not None:
                y = self.normed(x, layer.cross_norm) if self.before else x
                x = self.joined(x, self.attended(layer.cross, y, *memory), layer.cross_norm)
            y = self.normed(x, layer.feedforward_norm) if self.before else x
            x = self.joined(x, self.fed(y, layer.feedforward), layer.feedforward_norm)
        return self.normed(x, norm) if isinstance(norm, nn.LayerNorm) else x

    def fed(self, x: str, network: FeedForward) -> str:
        """W_2 f(W_1 x + b_1) + b_2"""
        inner = self.linear(x, network.inner)
        if network.activation is ACTIVATIONS["silu"]:
            bent = self.node("Mul", inner, self.node("Sigmoid", inner))
        else:
            bent = self.node("Relu", inner)
        return self.linear(bent, network.outer)

    def joined(self, x: str, y: str, norm: nn.LayerNorm) -> str:
        """x + y, then the norm unless it came before."""
        joined = self.node("Add", x, y)
        return joined if self.before else self.normed(joined, norm)

    def attended(self, attention: MultiHeadAttention, x: str, memory: str, mask: str) -> str:
        """softmax(q k / sqrt(d_k) + mask) v of each head, joined and projected."""
        query = self.in_heads(self.linear(x, attention.query), [0, 2, 1, 3])
        key = self.in_heads(self.linear(memory, attention.key), [0, 2, 3, 1])
        value = self.in_heads(self.linear(memory, attention.value), [0, 2, 1, 3])
        scale = self.number(attention.head_width**-0.5)
        scores = self.node("Mul", self.node("MatMul", query, key), scale)
        weights = self.node("Softmax", self.node("Add", scores, mask), axis=-1)
        context = self.node("Transpose", self.node("MatMul", weights, value), perm=[0, 2, 1, 3])
        joined = self.node("Reshape", context, self.number([0, 0, self.width], np.int64))
        return self.linear(joined, attention.output)

    def in_heads(self, x: str, order: list[int]) -> str:
        shape = self.number([0, 0, self.heads, self.width // self.heads], np.int64)
        return self.node("Transpose", self.node("Reshape", x, shape), perm=order)

    def linear(self, x: str, linear: nn.Linear) -> str:
        return self.scored(x, linear.weight, linear.bias)

    def scored(self, x: str, weight: Tensor, bias: Tensor) -> str:
        """x Wᵀ + b"""
        product = self.node("MatMul", x, self.number(weight.t()))
        return self.node("Add", product, self.number(bias))

    def normed(self, x: str, norm: nn.LayerNorm) -> str:
        scale, bias = self.number(norm.weight), self.number(norm.bias)
        return self.node("LayerNormalization", x, scale, bias, axis=-1, epsilon=norm.eps)

    def made(
        self,
        name: str,
        ids: dict[str, Shape],
        vectors: dict[str, Shape],
        outputs: dict[str, tuple[str, Shape]],
    ) -> bytes:
        """The graph as the content of a file, checked; each output is a value and its shape."""
        helper, kinds = self.onnx.helper, self.onnx.TensorProto
        for output, (value, _) in outputs.items():
            self.nodes.append(helper.make_node("Identity", [value], [output]))
        inputs = [
            *(helper.make_tensor_value_info(n, kinds.INT64, shape) for n, shape in ids.items()),
            *(helper.make_tensor_value_info(n, kinds.FLOAT, shape) for n, shape in vectors.items()),
        ]
        results = [
            helper.make_tensor_value_info(n, kinds.FLOAT, shape)
            for n, (_, shape) in outputs.items()
        ]
        constants = [
            self.onnx.numpy_helper.from_array(array, constant)
            for constant, array in self.numbers.items()
        ]
        graph = helper.make_graph(self.nodes, name, inputs, results, constants)
        model = helper.make_model(
            graph,
            producer_name="regard",
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=8,
        )
        self.onnx.checker.check_model(model)
        content: bytes = model.SerializeToString()
        return content
