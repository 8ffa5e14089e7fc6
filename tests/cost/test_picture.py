"""The picture, of numbers that are made up."""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from regard.cost.picture import draw_costs
from regard.errors import FileError, MissingExtraError
from regard.views.picture.file import save_figure
from tests.cost.madeup import made_up


def test_a_png_is_a_png(tmp_path: Path) -> None:
    save_figure(lambda: draw_costs(made_up()), tmp_path / "cost.png", "png", 11)
    content = (tmp_path / "cost.png").read_bytes()
    assert content.startswith(b"\x89PNG\r\n")
    assert content.endswith(b"IEND\xaeB`\x82")
    assert [file.name for file in tmp_path.iterdir()] == ["cost.png"]


def test_an_svg_has_its_text_as_text_and_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        save_figure(lambda: draw_costs(made_up()), tmp_path / name, "svg", 11)
    content = (tmp_path / "a.svg").read_text()
    words = [e.text for e in ET.fromstring(content).iter("{http://www.w3.org/2000/svg}text")]
    assert "n, positions in the text" in words
    assert any("recurrence (tanh RNN): O(n d²), measured n^1.00" in word for word in words if word)
    assert content == (tmp_path / "b.svg").read_text()


def test_a_picture_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileError, match="cannot write"):
        save_figure(lambda: draw_costs(made_up()), tmp_path / "none" / "cost.png", "png", 11)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(
        MissingExtraError, match="a picture needs matplotlib: pip install matplotlib"
    ):
        save_figure(lambda: draw_costs(made_up()), tmp_path / "cost.png", "png", 11)
