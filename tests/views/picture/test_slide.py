"""Pictures for slides."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from regard.views.picture.slide import save_slide

VALUES = np.array([[0.25, 0.75, 0.0], [0.5, 0.25, 0.25]])


@pytest.mark.parametrize("kind", ["lines", "map"])
def test_both_kinds_as_text_and_as_pixels(kind: str, tmp_path: Path) -> None:
    for file in ("svg", "png"):
        save_slide(
            tmp_path / f"x.{file}",
            file,
            kind,
            VALUES,
            rows=["first $1", "second"],
            columns=["a", "b", "c"],
            title="The title",
        )
    text = (tmp_path / "x.svg").read_text(encoding="utf-8")
    for part in ("The title", "second", ">c<"):
        assert part in text
    width, height = struct.unpack(">II", (tmp_path / "x.png").read_bytes()[16:24])
    assert (width, height) == (1920, 1080)
