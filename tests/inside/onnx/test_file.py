"""ONNX files: what is read, and what is refused before anything of it runs."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from regard.errors import ModelError
from regard.inside.onnx import file
from regard.inside.onnx.file import read_onnx
from tests.inside.onnx.graphs import masked_attention


def test_a_file_in_one_piece(tmp_path: Path) -> None:
    assert len(read_onnx(masked_attention(tmp_path / "a.onnx")).graph.node) == 9


def test_numbers_in_other_files_are_not_opened(tmp_path: Path) -> None:
    model = onnx.load(str(masked_attention(tmp_path / "a.onnx")))
    secret = tmp_path / "secret"
    secret.write_bytes(b"0" * 120)
    tensor = model.graph.initializer[1]
    onnx.external_data_helper.set_external_data(tensor, location="../secret")
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    (tmp_path / "b.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(ModelError, match=r"'.*b\.onnx' keeps its numbers in other files \(bias\)"):
        read_onnx(tmp_path / "b.onnx")


def test_numbers_in_other_files_of_a_node_are_not_opened_either(tmp_path: Path) -> None:
    model = onnx.load(str(masked_attention(tmp_path / "a.onnx")))
    tensor = onnx.TensorProto(name="hidden", data_location=onnx.TensorProto.EXTERNAL)
    model.graph.node.append(onnx.helper.make_node("Constant", [], ["c"], value=tensor))
    (tmp_path / "b.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(ModelError, match=r"keeps its numbers in other files \(hidden\)"):
        read_onnx(tmp_path / "b.onnx")


def test_what_is_no_onnx_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "a.onnx"
    for content in (b"no graph at all", b""):
        other.write_bytes(content)
        with pytest.raises(ModelError, match=r"a\.onnx' is no ONNX file"):
            read_onnx(other)
    with pytest.raises(ModelError, match=r"cannot read '.*none\.onnx': No such file"):
        read_onnx(tmp_path / "none.onnx")
    masked_attention(other)
    monkeypatch.setattr(file, "MOST_BYTES", 100)
    with pytest.raises(ModelError, match="has 0 MB, more than the 0 that are read"):
        read_onnx(other)
