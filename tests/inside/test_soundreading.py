"""A run folder reads a sound: its own probabilities, the weights of its spans, every step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from regard.errors import FileError
from regard.inside.soundreading import judge_sound
from regard.models.images import ImageClassifier, sized_images
from regard.models.spectrogram import spectrogram
from regard.pieces.wave import read_wave
from regard.store.folder import RunFolder
from tests.sounds import save_tone


def save_model(folder: Path, model: str = "patches") -> ImageClassifier:
    """A run folder of a model of 8 bands and 15 frames, fresh weights."""
    torch.manual_seed(3)
    config = sized_images(
        model, "tiny", rows=8, columns=15, channels=1, labels=("a", "b", "c"), sides=(8, 5)
    )
    classifier = ImageClassifier(config).eval()
    RunFolder(folder).write_config({"task": "sounds", "model": config.to_dict()})
    save_file(classifier.state_dict(), folder / "model.safetensors")
    return classifier


@pytest.mark.parametrize("model", ["patches", "average", "conv"])
def test_the_model_s_own_probabilities(tmp_path: Path, model: str) -> None:
    classifier = save_model(tmp_path, model)
    save_tone(tmp_path / "own.wav", 700, 0.12)
    verdict = judge_sound(str(tmp_path), str(tmp_path / "own.wav"))
    image = spectrogram(read_wave(tmp_path / "own.wav"), 8, 15)
    expected = classifier(torch.tensor(image / 255, dtype=torch.float32)[None, None])
    shares = dict(zip(verdict.labels, verdict.probabilities, strict=True))
    own = expected.logits.softmax(-1)[0].tolist()
    assert [shares[label] for label in "abc"] == pytest.approx(own, abs=1e-6)
    assert [verdict.seconds, verdict.read] == pytest.approx([0.12, 0.15])
    if model == "conv":
        assert verdict.pieces is None
        return
    assert verdict.pieces is not None
    assert verdict.pieces.labels == ["0.00–0.05 s", "0.05–0.10 s", "0.10–0.15 s"]
    np.testing.assert_allclose(verdict.weights, expected.weights[0].detach(), atol=1e-6)
    assert verdict.silent == 0
    save_tone(tmp_path / "short.wav", 700, 0.05)
    short = judge_sound(str(tmp_path), str(tmp_path / "short.wav"))
    assert short.silent == pytest.approx(float(short.weights[1:].sum()))


def test_the_trace_has_what_decided(tmp_path: Path) -> None:
    save_model(tmp_path)
    save_tone(tmp_path / "own.wav", 700)
    assert not judge_sound(str(tmp_path), str(tmp_path / "own.wav")).trace.steps
    verdict = judge_sound(str(tmp_path), str(tmp_path / "own.wav"), traced=True)
    steps = {step.path: step for step in verdict.trace}
    assert "layer 1/self-attention/weights" in steps
    assert steps["readout/weights"].value[0, 0] == pytest.approx(verdict.weights, abs=1e-6)


def test_another_kind_of_run() -> None:
    with pytest.raises(FileError, match="holds no sound classifier but an image classifier"):
        judge_sound("fashion", "own.wav")
