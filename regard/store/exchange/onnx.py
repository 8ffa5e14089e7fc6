"""ONNX: models as graphs of standard operations (opset 17), written node by node.

A translator is two graphs, so that a sentence is read once::

    encoder.onnx    source (batch, S), source_mask (batch, S)             → memory (batch, S, d)
    decoder.onnx    target (batch, T), memory, source_mask                → logits (batch, T, V)

A language model is one: model.onnx, ids (batch, T) → logits (batch, T, V); a classifier too:
ids (batch, T), mask (batch, T) → logits (batch, labels). Ids are int64; a mask is 1 where there is
a token and 0 where there is padding, which stands behind.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from torch import nn

from regard.models.classifier import Classifier
from regard.models.language import LanguageModel
from regard.models.sequence import SequenceModel
from regard.models.stack import RecurrentStack, TransformerStack
from regard.models.translators.transformer import Transformer
from regard.pieces.tokenizer import Tokenizer
from regard.store.exchange.graph import OnnxGraph, Shape
from regard.store.exchange.recurrence import read
from regard.text import visible

Exported = Transformer | LanguageModel | Classifier
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


USE_CLASSIFIER = """\
```python
import numpy as np, onnxruntime
from tokenizers import Tokenizer

tokens, model = Tokenizer.from_file("tokenizer.json"), onnxruntime.InferenceSession("model.onnx")
ids = np.array([tokens.encode("…").ids])
logits = model.run(None, {"ids": ids, "mask": np.ones_like(ids)})[0]  # of LABELS
```"""


def write(folder: Path, model: Exported, tokens: Tokenizer) -> str:
    """Write the graphs into ``folder``, and the tokenizer beside them; how they are used."""
    if isinstance(model, Transformer):
        graphs, use = _translator(model), USE
    elif isinstance(model, LanguageModel):
        graphs, use = _language(model), USE_LANGUAGE
    else:
        graphs = _classifier(model)
        use = USE_CLASSIFIER.replace("LABELS", ", ".join(map(visible, model.config.labels)))
    for name, content in graphs.items():
        (folder / name).write_bytes(content)
    tokens.save(folder / "tokenizer.json")
    return use


def _translator(model: Transformer) -> dict[str, bytes]:
    config, words = model.config, model.vocabulary
    encoder = OnnxGraph(config.width, config.heads, config.norm == "pre")
    x = encoder.embedded("source", words.words if config.tied else words.source_words)
    x = encoder.stack(x, model.encoder, model.encoder_norm, own=encoder.padded("source_mask"))
    decoder = OnnxGraph(config.width, config.heads, config.norm == "pre")
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
    graph = _begun(model)
    x = _features(graph, model)
    if isinstance(model.readout, nn.Linear):
        x = graph.linear(x, model.readout)
    x = graph.scored(x, model.words if model.output is None else model.output, model.bias)
    shape: Shape = ("batch", "T", model.config.vocabulary)
    return {"model.onnx": graph.made("model", {"ids": ("batch", "T")}, {}, {"logits": (x, shape)})}


def _classifier(model: Classifier) -> dict[str, bytes]:
    graph = _begun(model)
    hidden = graph.padded("mask")
    states = _features(graph, model, hidden)
    logits = graph.linear(_read_out(graph, model, states, hidden), model.output)
    ids: dict[str, Shape] = {"ids": ("batch", "T"), "mask": ("batch", "T")}
    shape: Shape = ("batch", len(model.config.labels))
    return {"model.onnx": graph.made("model", ids, {}, {"logits": (logits, shape)})}


def _begun(model: LanguageModel | Classifier) -> OnnxGraph:
    config = model.config
    return OnnxGraph(config.width, config.heads, config.norm == "pre")


def _features(graph: OnnxGraph, model: SequenceModel, hidden: str | None = None) -> str:
    """What the network gives for each of the ids; ``hidden`` is added to scores at padding, and
    without it each sees those before it."""
    body = model.body
    if isinstance(body, TransformerStack):
        x = graph.embedded("ids", model.words)
        return graph.stack(x, body.layers, body.norm, own=hidden or graph.causal("ids"))
    x = graph.node("Gather", graph.number(model.words), "ids")
    return read(graph, x, "ids", body.reader) if isinstance(body, RecurrentStack) else x


def _read_out(graph: OnnxGraph, model: Classifier, states: str, hidden: str) -> str:
    """r (batch, width) = sum_j a_j h_j, the weights a by the model's readout."""
    axis = graph.number([1], np.int64)
    real = graph.node("Cast", "mask", to=graph.onnx.TensorProto.FLOAT)
    count = graph.node("ReduceSum", real, axis, keepdims=1)
    if model.config.readout == "attention":
        keys = graph.node("Tanh", graph.linear(states, model.key))
        scores = graph.node("MatMul", keys, graph.number(model.query))
        masked = graph.node(
            "Add", scores, graph.node("Squeeze", hidden, graph.number([1, 2], np.int64))
        )
        weights = graph.node("Softmax", masked, axis=-1)
    elif model.config.readout == "mean":
        weights = graph.node("Div", real, count)
    else:
        place = graph.node("CumSum", real, graph.number(1, np.int64))
        last = graph.node(
            "Cast", graph.node("Equal", place, count), to=graph.onnx.TensorProto.FLOAT
        )
        weights = graph.node("Mul", last, real)
    mixed = graph.node("MatMul", graph.node("Unsqueeze", weights, axis), states)
    return graph.node("Squeeze", mixed, axis)
