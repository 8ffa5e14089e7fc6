"""ONNX: a Transformer as graphs of standard operations (opset 17), written node by node.

A translator is two graphs, so that a sentence is read once::

    encoder.onnx    source (batch, S), source_mask (batch, S)             → memory (batch, S, d)
    decoder.onnx    target (batch, T), memory, source_mask                → logits (batch, T, V)

A language model is one: model.onnx, ids (batch, T) → logits (batch, T, V). Ids are int64; a mask
is 1 where there is a token and 0 where there is padding.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from regard.attention import MultiHeadAttention
from regard.errors import MissingExtraError
from regard.models.language import LanguageModel
from regard.models.layers import DecoderLayer, TransformerLayer
from regard.models.stack import TransformerStack
from regard.models.translators.transformer import Transformer
from regard.pieces.tokenizer import Tokenizer
from regard.vectors.positions import sinusoidal

POSITIONS = 1024
OPSET = 17
Shape = tuple[str | int, ...]
"""Of an input or output; a name stands for any number."""
HIDDEN = -1e9
"""What a score gets that must not be looked at."""
USE = """\
```python
import numpy as np, onnxruntime
from tokenizers import Tokenizer

tokens = Tokenizer.from_file("tokenizer.json")
encoder, decoder = (onnxruntime.InferenceSession(f"{n}.onnx") for n in ("encoder", "decoder"))
source = np.array([[*tokens.encode("…").ids, 3]])                     # 3 ends a sentence
given = {"source_mask": np.ones_like(source)}
given["memory"] = encoder.run(None, {"source": source, **given})[0]
target = [2]                                                          # 2 begins one
while target[-1] != 3 and len(target) < 100:
    logits = decoder.run(None, {"target": np.array([target]), **given})[0]
    target.append(int(logits[0, -1].argmax()))
print(tokens.decode(target[1:]))
```"""
USE_LANGUAGE = """\
```python
import numpy as np, onnxruntime
from tokenizers import Tokenizer

tokens, model = Tokenizer.from_file("tokenizer.json"), onnxruntime.InferenceSession("model.onnx")
ids = np.array([[2, *tokens.encode("…").ids]])                        # 2 begins a sentence
logits = model.run(None, {"ids": ids})[0]                             # of each next token
```"""


def write(folder: Path, model: Transformer | LanguageModel, tokens: Tokenizer) -> None:
    """Write the graphs into ``folder``, and the tokenizer beside them."""
    graphs = _translator(model) if isinstance(model, Transformer) else _language(model)
    for name, content in graphs.items():
        (folder / name).write_bytes(content)
    tokens.save(folder / "tokenizer.json")


def _translator(model: Transformer) -> dict[str, bytes]:
    config, words = model.config, model.vocabulary
    encoder = _Graph(config.width, config.heads, config.norm == "pre")
    x = encoder.embedded("source", words.words if config.tied else words.source_words)
    x = encoder.stack(x, model.encoder, model.encoder_norm, own=encoder.padded("source_mask"))
    decoder = _Graph(config.width, config.heads, config.norm == "pre")
    y = decoder.embedded("target", words.words if config.tied else words.target_words)
    y = decoder.stack(
        y,
        model.decoder,
        model.decoder_norm,
        own=decoder.causal("target"),
        memory=("memory", decoder.padded("source_mask")),
    )
    y = decoder.scored(y, words.output, words.bias)
    ids: dict[str, Shape] = {"source": ("batch", "S"), "source_mask": ("batch", "S")}
    memory: Shape = ("batch", "S", config.width)
    return {
        "encoder.onnx": encoder.made("encoder", ids, {}, {"memory": (x, memory)}),
        "decoder.onnx": decoder.made(
            "decoder",
            {"target": ("batch", "T"), "source_mask": ("batch", "S")},
            {"memory": memory},
            {"logits": (y, ("batch", "T", config.vocabulary))},
        ),
    }


def _language(model: LanguageModel) -> dict[str, bytes]:
    config, body = model.config, model.body
    assert isinstance(body, TransformerStack)
    graph = _Graph(config.width, config.heads, config.norm == "pre")
    x = graph.embedded("ids", model.words)
    x = graph.stack(x, body.layers, body.norm, own=graph.causal("ids"))
    output = model.words if model.output is None else model.output
    x = graph.scored(x, output, model.bias)
    logits: dict[str, tuple[str, Shape]] = {"logits": (x, ("batch", "T", config.vocabulary))}
    return {"model.onnx": graph.made("model", {"ids": ("batch", "T")}, {}, logits)}


class _Graph:
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

    def node(self, operation: str, *inputs: str, **attributes: Any) -> str:
        name = f"{operation.lower()}_{len(self.nodes)}"
        made = self.onnx.helper.make_node(operation, list(inputs), [name], **attributes)
        self.nodes.append(made)
        return name

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
            inner = self.node("Relu", self.linear(y, layer.feedforward.inner))
            x = self.joined(x, self.linear(inner, layer.feedforward.outer), layer.feedforward_norm)
        return self.normed(x, norm) if isinstance(norm, nn.LayerNorm) else x

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
