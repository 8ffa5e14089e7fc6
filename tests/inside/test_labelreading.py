"""An image or a series read by a labeller: what `read` shows is what the network says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from regard.errors import DataError
from regard.inside.labelreading import label_image, label_series
from regard.models.guesses import LinearGuesses
from regard.models.labeller import Labeller, sized_labeller
from regard.pieces.clock import Clock
from regard.pieces.series import Series
from regard.store.folder import RunFolder
from regard.store.weights import named_weights, write_weights


def saved(path: Path, task: str, **reads: int) -> Labeller:
    """A run folder with a labeller of fresh weights."""
    torch.manual_seed(0)
    model = Labeller(sized_labeller("transformer", "tiny", ("a", "b"), **reads)).eval()
    run = RunFolder(path)
    run.write_config({"task": task, "data": {}, "model": model.config.to_dict()})
    write_weights(run.model, {k: v.detach().clone() for k, v in named_weights(model).items()})
    run.baselines.write_text(LinearGuesses(0, np.zeros((2, 2))).to_text())
    return model


def test_an_image(tmp_path: Path) -> None:
    model = saved(tmp_path, "label-images", channels=1, places=6, patch=2, columns=3)
    pixels = np.arange(24, dtype=np.uint8).reshape(4, 6) * 10
    Image.fromarray(pixels).save(tmp_path / "own.png")
    image, found = label_image(str(tmp_path), str(tmp_path / "own.png"))
    assert (image.rows, image.columns) == (2, 3)
    assert found.attention.shape == (2, 4, 6, 6)
    cut = torch.tensor(pixels).reshape(2, 2, 3, 2).permute(0, 2, 1, 3).reshape(1, 6, 4) / 255
    with torch.no_grad():
        expected = model(cut, torch.tensor([6])).softmax(-1)[0].numpy()
    assert found.probabilities == pytest.approx(expected, abs=1e-6)
    assert found.said == ["ab"[i] for i in expected.argmax(-1)]


def test_a_series(tmp_path: Path) -> None:
    model = saved(tmp_path, "label-series", channels=2, places=5)
    values = np.random.default_rng(0).normal(size=(9, 2))
    series = Series(Clock([str(i) for i in range(9)], []), ["x", "y"], values)
    found = label_series(str(tmp_path), series)
    assert found.words == ["4", "5", "6", "7", "8"]
    with torch.no_grad():
        logits = model(torch.tensor(values[None, 4:]).float(), torch.tensor([5]))
    assert found.probabilities == pytest.approx(logits.softmax(-1)[0].numpy(), abs=1e-6)
    assert label_series(str(tmp_path), series, 3).words == ["0", "1", "2"]
    with pytest.raises(DataError, match="no steps to read before that time"):
        label_series(str(tmp_path), series, 0)
    one = Series(series.clock, ["x"], values[:, :1])
    with pytest.raises(
        DataError, match="reads 2 columns of numbers at each step, this table has 1"
    ):
        label_series(str(tmp_path), one)
