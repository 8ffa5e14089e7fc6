"""A run folder reads an image: made as large as the model wants, its patches those of the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from regard.errors import FileError
from regard.inside.imagereading import judge_image
from regard.models.images import ImageClassifier, sized_images
from regard.store.folder import RunFolder


@pytest.mark.parametrize(("model", "channels"), [("patches", 1), ("patches", 3), ("conv", 1)])
def test_the_model_s_own_probabilities(tmp_path: Path, model: str, channels: int) -> None:
    torch.manual_seed(3)
    config = sized_images(
        model, "tiny", rows=12, columns=8, channels=channels, labels=("a", "b", "c")
    )
    classifier = ImageClassifier(config).eval()
    RunFolder(tmp_path).write_config({"task": "images", "model": config.to_dict()})
    save_file(classifier.state_dict(), tmp_path / "model.safetensors")
    chance = np.random.default_rng(5)
    pixels = chance.integers(0, 256, (12, 8, 3), dtype=np.uint8)
    pixels = pixels if channels == 3 else np.repeat(pixels[..., :1], 3, -1)
    Image.fromarray(pixels).save(tmp_path / "own.png")
    verdict = judge_image(str(tmp_path), str(tmp_path / "own.png"))
    images = torch.tensor(pixels[..., :channels] / 255, dtype=torch.float32).permute(2, 0, 1)
    expected = classifier(images.unsqueeze(0)).logits.softmax(-1)[0]
    assert verdict.probabilities == sorted(verdict.probabilities, reverse=True)
    shares = dict(zip(verdict.labels, verdict.probabilities, strict=True))
    assert [shares[label] for label in "abc"] == pytest.approx(expected.tolist(), abs=1e-6)
    if model == "conv":
        assert verdict.image is None
    else:
        assert verdict.image is not None
        assert len(verdict.weights) == len(verdict.image.pieces) == 24
        assert verdict.image.pieces.places[-1] == (6, 10, 8, 12)


def test_another_kind_of_run(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="holds no image classifier but a language model"):
        judge_image("lstmn", str(tmp_path / "own.png"))


def test_the_trace_has_every_layer_and_what_decided(tmp_path: Path) -> None:
    image = tmp_path / "own.png"
    Image.fromarray(np.tile(np.arange(28, dtype=np.uint8) * 9, (28, 1))).save(image)
    assert not judge_image("fashion", str(image)).trace.steps
    verdict = judge_image("fashion", str(image), traced=True)
    steps = {step.path: step for step in verdict.trace}
    layers = [path for path in steps if path.endswith("self-attention/weights")]
    assert layers == [f"layer {k}/self-attention/weights" for k in range(3)]
    assert steps["readout/weights"].value[0, 0] == pytest.approx(verdict.weights, abs=1e-6)
    assert sum(verdict.probabilities) == pytest.approx(1, abs=1e-6)
