"""Figures as files: settings of their own, nothing half written, a reason if it cannot be."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from regard.errors import FileError, MissingExtraError
from regard.views.picture.file import check_picture, save_figure


def drawn() -> Figure:
    figure = Figure(figsize=(2, 1))
    figure.text(0.5, 0.5, "weights")
    return figure


def settings() -> dict[str, Any]:
    """What matplotlib is set to; it finds its backend only when it first draws."""
    return {name: mpl.rcParams[name] for name in mpl.rcParams if name != "backend"}


def test_a_png_and_an_svg_with_its_text(tmp_path: Path) -> None:
    before = settings()
    save_figure(drawn, tmp_path / "a.png", "png", 9)
    save_figure(drawn, tmp_path / "a.svg", "svg", 9)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    text = (tmp_path / "a.svg").read_text()
    assert ">weights</text>" in text
    assert "9px" in text
    save_figure(drawn, tmp_path / "b.svg", "svg", 9)
    assert text == (tmp_path / "b.svg").read_text(), "same numbers, same file"
    assert settings() == before


def test_a_drawing_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        save_figure(lambda: 1 / 0, tmp_path / "a.png", "png", 9)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileError, match="cannot write"):
        save_figure(drawn, tmp_path / "none" / "a.png", "png", 9)


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    check_picture()
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(
        MissingExtraError, match="a picture needs matplotlib: pip install matplotlib"
    ):
        check_picture()
