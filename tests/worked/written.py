"""A worked example written to a file, and read."""

from __future__ import annotations

from pathlib import Path

from regard.worked.example import Example

GOOD = "x = [[1, 0], [0, 1], [1, 1]]\n"


MATRICES = "w_q = [[1, 0], [0, 1]]\nw_k = [[1, 0], [0, 1]]\nw_v = [[1, 0], [0, 1]]\n"


def load(tmp_path: Path, text: str) -> Example:
    file = tmp_path / "worked.toml"
    file.write_text(text, encoding="utf-8")
    return Example.load(file)
