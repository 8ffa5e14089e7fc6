"""In a notebook: an isolated frame, and a picture where scripts are off."""

from __future__ import annotations

import base64
import io
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import torch

import regard
from regard.attention import AttentionMap
from regard.views.page.frame import frame_html, png_of, pooled
from regard.views.page.maps import subject_of_map
from regard.views.terminal.numbers import RAMP
from tests.views.page.cases import HOSTILE, observed


def test_the_picture_shows_the_weights() -> None:
    """A pixel of the brightest colour for each 1, of the darkest for each 0."""
    from matplotlib.image import imread

    with regard.record(tokens=["a", "b", "c"]) as trace:
        regard.self_attention(torch.eye(3) * 100)
    head = AttentionMap.from_vectors(torch.eye(3) * 100, torch.eye(3) * 100)
    for thing in (trace, head, AttentionMap.from_weights(torch.eye(3))):
        found = re.search(r'src="data:image/png;base64,([^"]+)"', thing._repr_html_())
        assert found is not None
        image = imread(io.BytesIO(base64.b64decode(found[1])))[::85, ::85] * 255
        bright, dark = image[0, 0], image[0, 1]
        np.testing.assert_allclose(bright, RAMP[-1], atol=1)
        np.testing.assert_allclose(dark, RAMP[0], atol=1)
        expected = np.where(np.eye(3, dtype=bool)[..., None], bright, dark)
        np.testing.assert_allclose(image, expected, atol=1)


def test_a_subject_without_a_picture_has_none() -> None:
    text = frame_html(subject_of_map(AttentionMap.from_weights(torch.eye(2))))
    assert text.startswith("<iframe")
    assert "<img" not in text[: text.index("srcdoc")]


def test_a_thin_peak_survives_in_the_picture() -> None:
    weights = np.zeros((700, 300))
    weights[433, 7] = 1
    small = pooled(weights, 256)
    assert small.shape == (234, 150)
    assert small.max() == 1


def test_the_picture_is_a_png() -> None:
    from matplotlib.image import imread

    image = imread(io.BytesIO(png_of(np.array([[0.0, 1.0], [0.5, 0.0], [0.0, 0.0]]))))
    assert image.shape == (3, 2, 3)
    np.testing.assert_allclose(image[0, 1] * 255, (253, 231, 37), atol=1)


def test_the_frame_runs_apart_from_the_notebook(browser: Any, tmp_path: Path) -> None:
    text = observed(HOSTILE)._repr_html_()
    (source,) = re.findall(r'srcdoc="([^"]*)"', text)
    inside = unescape(source)
    assert inside.startswith("<!doctype html>")
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><meta charset=utf-8><h1>cell</h1>{text}")
    page = browser.new_context(viewport={"width": 1000, "height": 900}).new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(notebook.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(timeout=20000)
    assert "<img src=x onerror=window.hit=2>" in frame.locator(".words.from").inner_text()
    assert page.evaluate("window.hit") is None
    assert errors == []
    page.context.close()
