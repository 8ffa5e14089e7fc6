"""Network: an ONNX graph as a module. onnxruntime computes it; its attention can be observed."""

from __future__ import annotations

import math
import os
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.attention.mask import Mask
from regard.attention.rule import Rule
from regard.errors import DataError, MissingExtraError, ModelError, RegardError, first_line
from regard.files import name_of
from regard.inside.observe.call import Call
from regard.inside.observe.verify import mixed, weights_of
from regard.inside.onnx.file import read_onnx
from regard.inside.onnx.graph import Graph, Softmax

Arrays = dict[str, NDArray[Any]]
MOST_APART = {np.dtype("float64"): 1e-4, np.dtype("float32"): 1e-4, np.dtype("float16"): 5e-3}
"""How far softmax(q · k) may be from the graph's own weights, by the kind of its numbers."""
HIDDEN = -1e4
"""A score that is lowered by as much, or more, is hidden."""


@dataclass(frozen=True)
class Ran:
    """One attention of a graph as it ran."""

    call: Call
    """By queries and keys if these give the graph's own weights, else by these weights."""
    apart: float = 0.0
    """How far softmax(q · k) is from them, at most; 0 if there are no queries and keys."""


@dataclass(frozen=True)
class OnnxProof:
    """How far regard's attention is from onnxruntime's."""

    weights: float
    """The largest difference of any weight,"""
    outputs: float
    """and of any output of the graph, with every attention of it computed by regard."""


class OnnxAttention(nn.Module):
    """One attention of a graph: what onnxruntime computed passes here, where it can be observed."""

    def __init__(self, found: Softmax) -> None:
        super().__init__()
        self.found = found

    def forward(self, values: Arrays, batch: int) -> Ran:
        """What the graph computed around this softmax."""
        found = self.found
        weights = _four(values[found.weights], batch)
        if not found.query:
            return Ran(_stored(weights))
        query, key = _four(values[found.query], batch), _four(values[found.key], batch).mT
        value, context = (_four(values[name], batch) for name in (found.value, found.context))
        call = Call(query, key, self._rule(values), value=value, context=context)
        apart = float((weights_of(call, _rows(call)) - weights).abs().max())
        if not apart <= MOST_APART.get(values[found.weights].dtype, 0.0):
            return Ran(_stored(weights), apart)
        return Ran(call, apart)

    def own_context(self, values: Arrays, batch: int) -> NDArray[Any]:
        """What comes out of it if regard computes it from queries, keys and values."""
        call = self.forward(values, batch).call
        made = mixed(weights_of(call, _rows(call)), call).numpy()
        before = values[self.found.context]
        result: NDArray[Any] = made.reshape(before.shape).astype(before.dtype)
        return result

    def _rule(self, values: Arrays) -> Rule:
        """What is done to the products before the softmax."""
        scale, bias, hidden = 1.0, None, None
        for kind, name, taken in self.found.changes:
            other = torch.from_numpy(np.array(values[name]))
            if kind in ("Mul", "Div") and other.numel() == 1 and bias is None:
                scale *= float(other) if kind == "Mul" else 1 / float(other)
            elif kind == "Add":
                bias = other.float() if bias is None else bias + other.float()
            elif kind == "Where":
                hidden = ~other if taken else other
            else:  # a number for each score is no rule of ours: the weights will not agree
                return Rule(math.nan)
        if bias is not None:
            never = bias <= HIDDEN
            hidden = never if hidden is None else never | hidden
            bias = bias.masked_fill(never, 0)
        return Rule(
            scale,
            Mask(allowed=_in_four(~hidden)) if hidden is not None and bool(hidden.any()) else None,
            _in_four(bias) if bias is not None and bool(bias.any()) else None,
        )


class OnnxNetwork(nn.Module):
    """An ONNX file that is called with its inputs by name, as arrays or tensors."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        self.name, self.model = name_of(path), read_onnx(path)
        graph = self.model.graph
        found = Graph(graph).find()
        if not found.attention:
            fused = f"; {found.fused} in it are one operation each" if found.fused else ""
            raise ModelError(
                f"{self.name} has no attention that can be observed, a softmax whose rows mix "
                f"values{fused}"
            )
        if found.fused:
            said = f"{found.fused} attentions of {self.name} are one operation each and not seen"
            warnings.warn(said, stacklevel=2)
        self.attention = nn.ModuleList(OnnxAttention(softmax) for softmax in found.attention)
        constants = {tensor.name for tensor in graph.initializer}
        self.inputs = [i.name for i in graph.input if i.name not in constants]
        self.outputs = [output.name for output in graph.output]
        wanted = {name: None for softmax in found.attention for name in softmax.wanted}
        self.constants = _constants(graph, set(wanted))
        self.wanted = [name for name in wanted if name not in self.constants]
        self.session = _session(_with_outputs(self.model, self.wanted), self.name)

    @property
    def characters(self) -> list[str]:
        """The signs that a recogniser of texts tells apart, if the file names them."""
        found = {prop.key: prop.value for prop in self.model.metadata_props}
        return found["character"].split("\n") if "character" in found else []

    def forward(self, **given: Any) -> dict[str, Tensor]:
        """The outputs by name."""
        arrays = self._given(given)
        values = self._run(self.session, [*self.outputs, *self.wanted], arrays)
        ran = [attention(values, _batch(arrays)) for attention in self.attention]
        worst = max(one.apart if one.call.weights is not None else 0.0 for one in ran)
        if any(one.call.weights is not None for one in ran):
            off = f" (it is off by up to {worst:.2g})" if worst else ""
            warnings.warn(
                f"the softmax of q · k is not what {self.name} weighs by{off}, as where a graph "
                "computes in 8 bits: its own weights are shown",
                stacklevel=2,
            )
        return {name: torch.from_numpy(np.array(values[name])) for name in self.outputs}

    def proof(self, **given: Any) -> OnnxProof:
        """The graph with every attention in it computed by regard, one after the other, beside
        onnxruntime's own run of the file as it is."""
        arrays = self._given(given)
        batch = _batch(arrays)
        plain = self._run(_session(self.model, self.name), self.outputs, arrays)
        values = self._run(self.session, [*self.outputs, *self.wanted], arrays)
        layers: list[Any] = list(self.attention)
        ran = [layer.forward(values, batch) for layer in layers]
        if any(one.call.weights is not None for one in ran):
            raise RegardError(
                f"{self.name} cannot be run by regard's attention: the softmax of q · k is not "
                "what it weighs by"
            )
        contexts = {layer.found.context: values[layer.found.context] for layer in layers}
        others = [name for name in self.wanted if name not in contexts]
        cut = _session(_fed(_with_outputs(self.model, others), contexts), self.name)
        for layer in layers:  # each from what those before it gave
            known = self._run(cut, others, arrays | contexts)
            contexts[layer.found.context] = layer.own_context(known | contexts, batch)
        last = self._run(cut, self.outputs, arrays | contexts)
        apart = max(float(np.abs(plain[name] - last[name]).max()) for name in self.outputs)
        return OnnxProof(max(one.apart for one in ran), apart)

    def _given(self, given: dict[str, Any]) -> Arrays:
        if set(given) != set(self.inputs):
            raise DataError(
                f"{self.name} takes {', '.join(self.inputs)}; got {', '.join(given) or 'nothing'}"
            )
        return {name: np.asarray(value) for name, value in given.items()}

    def _run(self, session: Any, names: list[str], arrays: Arrays) -> Arrays:
        try:
            found = session.run(names, arrays)
        except Exception as error:  # onnxruntime has errors of its own, with no common base
            raise DataError(f"{self.name} does not take this: {first_line(error)}") from error
        return dict(zip(names, found, strict=True)) | self.constants


def _session(model: Any, name: str) -> Any:
    """The graph, ready to run on the CPU."""
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError(f"the ONNX file {name}", "onnx", "onnxruntime") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = torch.get_num_threads()
    try:
        return onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # as above
        raise ModelError(f"onnxruntime cannot run {name}: {first_line(error)}") from error


def _with_outputs(model: Any, names: list[str]) -> Any:
    """The same graph with these values among its outputs."""
    made = type(model)()
    made.CopyFrom(model)
    there = {output.name for output in made.graph.output}
    for name in names:
        if name not in there:
            made.graph.output.add().name = name
    return made


def _fed(model: Any, values: Arrays) -> Any:
    """The graph with these values as inputs, in place of the nodes that compute them."""
    import onnx

    nodes = [n for n in model.graph.node if not set(n.output) & set(values)]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    for name, value in values.items():
        kind = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
        model.graph.input.append(onnx.helper.make_tensor_value_info(name, kind, None))
    return model


def _constants(graph: Any, names: set[str]) -> Arrays:
    """Those of the names that are numbers of the file itself."""
    import onnx

    read = onnx.numpy_helper.to_array
    found = {t.name: read(t) for t in graph.initializer if t.name in names}
    for node in graph.node:
        if node.op_type == "Constant" and node.output[0] in names:
            value = onnx.helper.get_attribute_value(node.attribute[0])
            found[node.output[0]] = np.asarray(value if not hasattr(value, "dims") else read(value))
    return found


def _batch(arrays: Arrays) -> int:
    shapes = [array.shape for array in arrays.values()]
    return int(shapes[0][0]) if shapes and shapes[0] else 1


def _four(array: NDArray[Any], batch: int) -> Tensor:
    """(batch, heads, n, m) of floats; of three axes the first is that of the heads, or of all heads
    of the batch."""
    tensor = torch.from_numpy(np.array(array)).float()
    return tensor.reshape(batch, -1, *tensor.shape[-2:])


def _in_four(tensor: Tensor) -> Tensor:
    return tensor[(None,) * (4 - tensor.dim())]


def _rows(call: Call) -> Tensor:
    return torch.arange(call.query.shape[-2])


def _stored(weights: Tensor) -> Call:
    """Weights without queries and keys."""
    batch, heads, queries, keys = weights.shape
    none = weights.new_zeros(batch, heads, queries, 0)
    return Call(none, weights.new_zeros(batch, heads, keys, 0), Rule(1.0), weights=weights)
