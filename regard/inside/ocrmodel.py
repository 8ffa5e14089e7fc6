"""OcrModel: PP-OCR's recogniser of one line of text, an ONNX graph, ready to be observed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError, ModelError
from regard.inside.find import ModelFiles
from regard.inside.imagemodel import open_image
from regard.inside.onnx.network import OnnxNetwork
from regard.pieces.image import Patches, patches
from regard.pieces.pieces import Pieces
from regard.text import Word

HEIGHT = 48
"""Pixels that a line is made high,"""
COLUMN = 8
"""and pixels of it that are one column of the model."""
MOST_COLUMNS = 512
BLANK = 0
"""The sign that stands for none: a letter is said where it changes to it."""


@dataclass
class OcrModel:
    """A recogniser, and the line that it is about to read."""

    name: str
    network: OnnxNetwork
    line: NDArray[np.float32] | None = None
    """As the model reads it, (1, 3, HEIGHT, width)."""
    said: list[str] = field(default_factory=list)
    """What it read, and how far regard's attention is from onnxruntime's."""
    has_both = False
    row = 0

    @property
    def title(self) -> str:
        return self.name.rsplit("/", 1)[-1]

    @property
    def layers(self) -> int:
        return len(self.network.attention)

    def read(self, file: str) -> Patches:
        """The line of ``file`` in the columns that the model reads, each named by its number and
        the letter that is said there."""
        picture = open_image(file)
        width, height = picture.size
        columns = max(2, math.ceil(HEIGHT * width / height / COLUMN))
        if columns > MOST_COLUMNS:
            raise DataError(
                f"{file!r} has {width:,} x {height:,} pixels, {columns:,} columns of the model, "
                f"more than {MOST_COLUMNS}: cut the line into parts"
            )
        pixels = np.asarray(picture)
        small = np.asarray(picture.resize((columns * COLUMN, HEIGHT), 2), np.float32)  # bilinear
        # Blue before red, as the model was trained; from -1 to 1.
        self.line = (small[..., ::-1] / 127.5 - 1).transpose(2, 0, 1)[np.newaxis].copy()
        signs, shares = self._signs()
        text = "".join(sign for sign in signs if sign)
        sure = [share for sign, share in zip(signs, shares, strict=True) if sign]
        self.said = [
            f"reads: {text}   (letters {np.mean(sure):.1%} sure on average)"
            if text
            else "reads: –",
            self._proof(),
        ]
        return _named(patches(pixels, (0, 0, width, height), (1, len(signs))), signs)

    def run(self, tokens: Pieces, target: Pieces | None = None) -> None:
        """One pass over the line that was read last."""
        self.network(**self._given())

    def _given(self) -> dict[str, Any]:
        return {self.network.inputs[0]: self.line}

    def _signs(self) -> tuple[list[str], list[float]]:
        """The letter that is said at each column, empty where it is none or goes on; how sure."""
        (found,) = self.network(**self._given()).values()
        shares, best = found[0].max(-1)
        known = ["", *self.network.characters, " "]
        ids = best.tolist()
        signs = [
            known[sign] if sign != BLANK and (i == 0 or ids[i - 1] != sign) else ""
            for i, sign in enumerate(ids)
        ]
        return signs, shares.tolist()

    def _proof(self) -> str:
        found = self.network.proof(**self._given())
        return (
            "proof: run by regard's own attention and by onnxruntime: no weight differs by more "
            f"than {found.weights:.0e}, no probability by more than {found.outputs:.0e}"
        )


def load_ocr(found: ModelFiles) -> OcrModel:
    """An ONNX file with PP-OCR's recogniser: it names its signs and reads lines 48 pixels high."""
    assert found.onnx is not None
    network = OnnxNetwork(found.folder / found.onnx)
    shape = [d.dim_value for d in network.model.graph.input[0].type.tensor_type.shape.dim]
    if not network.characters or len(network.inputs) != 1 or shape[1:3] != [3, HEIGHT]:
        raise ModelError(
            f"{found.name!r} does not say how it wants its images, as no ONNX file does: --image "
            "takes PP-OCR's recognisers, which name their characters; observe any other from "
            "Python ('regard docs ocr')"
        )
    return OcrModel(found.name, network)


def _named(image: Patches, signs: list[str]) -> Patches:
    labels = [f"{i} {sign}".strip() for i, sign in enumerate(signs)]
    words = [Word(label, i, i + 1) for i, label in enumerate(labels)]
    return replace(image, pieces=replace(image.pieces, labels=labels, words=words, noun="column"))
