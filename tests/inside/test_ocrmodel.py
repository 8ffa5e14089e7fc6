"""A recogniser of lines: what it reads, column by column, and PP-OCR's own where it was fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.errors import DataError, ModelError
from regard.inside.find import ModelFiles, find
from regard.inside.look.look import look
from regard.inside.ocrmodel import OcrModel, load_ocr
from regard.inside.pinned import PINNED
from regard.pieces.look import LookRequest
from tests.inside.onnx.graphs import masked_attention, recogniser
from tests.inside.vision import save_image


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> OcrModel:
    return load_ocr(find(str(recogniser(tmp_path_factory.mktemp("ocr") / "a.onnx"))))


def test_columns_have_places_and_letters(model: OcrModel, tmp_path: Path) -> None:
    read = model.read(str(save_image(tmp_path / "a.png", 100, 40)))
    # 48 pixels high it would be 120 wide: 15 columns of 8.
    assert (read.rows, read.columns, read.special) == (1, 15, 0)
    assert read.pieces.places[1] == (7, 0, 13, 40)
    assert read.pieces.nouns == "columns"
    said = [label.split(" ")[1] for label in read.pieces.labels if " " in label]
    assert model.said[0].startswith(f"reads: {''.join(said) or '–'}")
    assert "onnxruntime: no weight differs by more than" in model.said[1]
    found = look(model, read.pieces, LookRequest(word=read.pieces.labels[4]))
    (own,) = model.network._run(
        model.network.session, ["weights"], {"x": np.asarray(model.line)}
    ).values()
    assert found.place is not None
    torch.testing.assert_close(torch.tensor(found.place.to[0]), torch.tensor(own[0, :, 4]))


def test_a_letter_is_said_once_and_none_is_none(
    model: OcrModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [1, 1, 0, 1, 2, 3, 0]
    shares = torch.nn.functional.one_hot(torch.tensor([ids]), 4).float()
    monkeypatch.setattr(model, "network", _Says(shares))
    assert model._signs() == (["a", "", "", "a", "b", " ", ""], [1.0] * 7)


class _Says:
    """A network that always says the same."""

    inputs, characters = ("x",), ("a", "b")

    def __init__(self, shares: torch.Tensor) -> None:
        self.shares = shares

    def __call__(self, **given: Any) -> dict[str, torch.Tensor]:
        return {"y": self.shares}


def test_refusals(model: OcrModel, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"1,800 columns of the model, more than 512: cut the line"):
        model.read(str(save_image(tmp_path / "a.png", 900, 3)))
    file = masked_attention(tmp_path / "b.onnx")
    with pytest.raises(ModelError, match="does not say how it wants its images, as no ONNX file"):
        load_ocr(ModelFiles("b", file.parent, onnx=file.name))


@pytest.mark.skipif(
    not PINNED["ocr"].complete,
    reason="PP-OCR's recogniser is not in the cache: 'regard look ocr --image F' fetches it",
)
def test_the_real_one_reads_a_line(tmp_path: Path) -> None:
    from PIL import Image, ImageDraw, ImageFont

    line = Image.new("RGB", (300, 48), "white")
    ImageDraw.Draw(line).text(
        (8, 4), "read 42 lines", font=ImageFont.load_default(34), fill="black"
    )
    line.save(tmp_path / "line.png")
    model = load_ocr(find("ocr"))
    read = model.read(str(tmp_path / "line.png"))
    assert model.said[0].startswith("reads: read 42 lines ")
    assert (model.layers, read.columns) == (2, 38)
    proof = model.network.proof(x=model.line)
    assert proof.weights < 1e-5
    assert proof.outputs < 1e-4
    assert len(look(model, read.pieces).heads) == 16
