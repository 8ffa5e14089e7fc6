"""File: an ONNX file, read without running anything of it and without any file beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regard.errors import MissingExtraError, ModelError, first_line
from regard.files import name_of

MOST_BYTES = 512 << 20
"""Of a file: a larger one is refused before it is read."""


def read_onnx(path: str | os.PathLike[str]) -> Any:
    """The file as ``onnx.ModelProto``; refused if its numbers are in other files."""
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError(f"the ONNX file {name_of(path)}", "onnx", "onnxruntime") from error
    where = name_of(path)
    try:
        size = os.path.getsize(path)
        content = Path(path).read_bytes() if size <= MOST_BYTES else b""
    except OSError as error:
        raise ModelError(f"cannot read {where}: {error.strerror or error}") from error
    if size > MOST_BYTES:
        raise ModelError(
            f"{where} has {size >> 20:,} MB, more than the {MOST_BYTES >> 20:,} that are read"
        )
    try:
        model = onnx.ModelProto.FromString(content)
    except Exception as error:  # protobuf has errors of its own
        raise ModelError(f"{where} is no ONNX file: {first_line(error)}") from error
    if not model.graph.node:
        raise ModelError(f"{where} is no ONNX file: it has no graph")
    for tensor in _tensors(model.graph):
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            raise ModelError(
                f"{where} keeps its numbers in other files ({tensor.name[:60]}), and regard opens "
                "none that a file names: save it as one file, onnx.save(onnx.load(old), new)"
            )
    return model


def _tensors(graph: Any) -> Iterator[Any]:
    """All numbers of a graph and of the graphs in its nodes."""
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    for node in graph.node:
        for attribute in node.attribute:
            yield from (attribute.t, *attribute.tensors)
            for inner in (attribute.g, *attribute.graphs):
                yield from _tensors(inner)
