"""Small ONNX files, written node by node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper


def save(
    file: Path,
    nodes: list[Any],
    inputs: dict[str, list[int | str]],
    outputs: list[str],
    numbers: dict[str, NDArray[Any]] | None = None,
    kinds: dict[str, int] | None = None,
    **about: str,
) -> Path:
    """A file of these nodes; inputs are float32 unless ``kinds`` says otherwise."""
    kinds = kinds or {}
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info(name, kinds.get(name, TensorProto.FLOAT), shape)
            for name, shape in inputs.items()
        ],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in (numbers or {}).items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, about)
    onnx.save(model, str(file))
    return file


def masked_attention(file: Path) -> Path:
    """softmax(where(mask, q kᵀ / 2 + bias, -inf)) v over 3 queries and 5 keys of 2 heads; and a
    softmax that is the answer, which is no attention."""
    node = helper.make_node
    nodes = [
        node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]),
        node("MatMul", ["q", "kt"], ["product"]),
        node("Div", ["product", "two"], ["scaled"]),
        node("Add", ["bias", "scaled"], ["added"]),
        node("Where", ["mask", "added", "never"], ["scores"]),
        node("Softmax", ["scores"], ["weights"], axis=-1),
        node("Identity", ["weights"], ["kept"]),
        node("MatMul", ["kept", "v"], ["context"]),
        node("Softmax", ["context"], ["answer"], axis=-1),
    ]
    numbers = {
        "two": np.array(2.0, np.float32),
        "bias": np.linspace(-1, 1, 2 * 3 * 5, dtype=np.float32).reshape(2, 3, 5),
        "never": np.array(-np.inf, np.float32),
    }
    inputs: dict[str, list[int | str]] = {
        "q": [1, 2, 3, 7],
        "k": [1, 2, 5, 7],
        "v": [1, 2, 5, 4],
        "mask": [3, 5],
    }
    return save(file, nodes, inputs, ["answer"], numbers, {"mask": TensorProto.BOOL})


def recogniser(file: Path) -> Path:
    """A reader of lines in the form of PP-OCR's: columns of 8 pixels attend to each other, and of
    each the likeliest of two letters or none is said."""
    rng, node = np.random.default_rng(5), helper.make_node
    nodes = [
        node("Conv", ["x", "patch"], ["columns"], strides=[48, 8]),
        node("Squeeze", ["columns", "two"], ["flat"]),
        node("Transpose", ["flat"], ["rows"], perm=[0, 2, 1]),
        *(
            made
            for name, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3]))
            for made in (
                node("MatMul", ["rows", f"w{name}"], [f"{name}0"]),
                node("Reshape", [f"{name}0", "heads"], [f"{name}1"]),
                node("Transpose", [f"{name}1"], [name], perm=order),
            )
        ),
        node("MatMul", ["q", "k"], ["scores"]),
        node("Softmax", ["scores"], ["weights"], axis=-1),
        node("MatMul", ["weights", "v"], ["context"]),
        node("Transpose", ["context"], ["turned"], perm=[0, 2, 1, 3]),
        node("Reshape", ["turned", "joined"], ["mixed"]),
        node("MatMul", ["mixed", "letters"], ["logits"]),
        node("Softmax", ["logits"], ["said"], axis=-1),
    ]
    numbers = {
        "patch": rng.normal(0, 0.02, (6, 3, 48, 8)),
        **{f"w{name}": rng.normal(0, 1, (6, 6)) for name in "qkv"},
        "letters": rng.normal(0, 1, (6, 4)),
    }
    whole = {"two": [2], "heads": [0, 0, 2, 3], "joined": [0, 0, 6]}
    arrays = {name: array.astype(np.float32) for name, array in numbers.items()}
    arrays |= {name: np.array(value) for name, value in whole.items()}
    return save(file, nodes, {"x": [1, 3, 48, "W"]}, ["said"], arrays, character="a\nb")
