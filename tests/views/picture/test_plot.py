"""Pictures for papers: what is on the axes, and that text stays text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import regard
from regard.attention import AttentionMap
from regard.errors import RegardError
from regard.views.picture.plot import save_plot

pytest.importorskip("matplotlib", reason="the plot extra is not installed")

WEIGHTS = torch.tensor([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]])


def test_weights_and_tokens_are_on_the_axes(tmp_path: Path) -> None:
    keys = ["a$b$", "<b>", "x\u202e"]
    axes = AttentionMap.from_weights(WEIGHTS, queries=["q1", "q2"], keys=keys).plot(title="$t$")
    np.testing.assert_array_equal(axes.images[0].get_array(), WEIGHTS.numpy())
    labels = [text.get_text() for text in axes.get_xticklabels()]
    assert labels == [r"a\$b\$", "<b>", r"x\u202e"]
    save_plot(axes, str(tmp_path / "map.svg"))
    picture = (tmp_path / "map.svg").read_text()
    assert "a$b$" in picture
    assert "q2" in picture
    assert "&lt;b&gt;" in picture
    save_plot(axes, str(tmp_path / "map.pdf"))
    assert (tmp_path / "map.pdf").read_bytes().startswith(b"%PDF")


def test_a_large_map_is_pooled_and_a_difference_has_two_directions() -> None:
    large = torch.zeros(900, 900)
    large[700, 3] = 0.9
    axes = AttentionMap.from_weights(large).plot(cells=100)
    found = axes.images[0].get_array()
    assert found.shape == (100, 100)
    assert found.max() == pytest.approx(0.9)
    one, two = (AttentionMap.from_weights(w) for w in (WEIGHTS, WEIGHTS.flip(1)))
    image = one.difference(two).plot().images[0]
    assert image.norm.vmin == -image.norm.vmax


def test_steps_of_a_trace() -> None:
    with regard.record(tokens=["a", "b", "c"]) as trace:
        regard.self_attention(torch.eye(3))
    axes = trace.plot("scores")
    np.testing.assert_array_equal(axes.images[0].get_array(), np.eye(3))
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b", "c"]
    with pytest.raises(RegardError, match="a plot needs rows and columns"):
        trace.plot("weighted_values")
    with pytest.raises(RegardError, match="nothing to plot"):
        AttentionMap.from_weights(torch.zeros(0, 3)).plot()
