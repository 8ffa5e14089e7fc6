"""What a labeller is told apart by, and its page of an image; the rest is run in
tests/train/tasks/test_labelpieces.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from regard.cli.shared.labels import task_of
from regard.errors import FileError
from regard.inside.labelreading import label_image
from regard.models.reading import LabelReading
from regard.store.folder import RunFolder
from regard.store.weights import named_weights, write_weights
from tests.browser import Open
from tests.cli.run import regard
from tests.inside.test_labelreading import saved


def test_the_task_of_a_model(tmp_path: Path) -> None:
    assert task_of("lstmn") == "lm"
    RunFolder(tmp_path).write_config({"task": "label-images"})
    assert task_of(str(tmp_path)) == "label-images"
    with pytest.raises(FileError, match="neither a folder nor a model"):
        task_of("nowhere")


def sharp_labeller(run: Path, file: Path) -> LabelReading:
    """A labeller that looks sharply, and gives half of the patches of ``file`` each label."""
    model = saved(run, "label-images", channels=1, places=6, patch=2, columns=3)
    weights = {k: v.detach() * (4 if v.ndim == 2 else 1) for k, v in named_weights(model).items()}
    write_weights(run / "model.safetensors", weights)
    _, found = label_image(str(run), str(file))
    first, second = np.log(found.probabilities.T)
    weights["output.bias"] += torch.tensor([0, float(np.median(first - second))])
    write_weights(run / "model.safetensors", weights)
    return label_image(str(run), str(file))[1]


def test_the_page_of_a_labelled_image(tmp_path: Path, opened: Open) -> None:
    """The image, a label on each patch, and what the patch at a pixel looked at in each head."""
    pixels = np.random.default_rng(5).integers(0, 256, (20, 30), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "own.png")
    found = sharp_labeller(tmp_path / "run", tmp_path / "own.png")
    assert sorted(found.said) == [*"aaabbb"]
    asked = ("--model", "run", "--image", "own.png", "--at", "15,5", "--html", "o.html")
    done = regard("read", *asked, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    sheet = opened(tmp_path / "o.html", reduced_motion="reduce")
    page = sheet.page
    assert page.inner_text("#tab-sentence") == "Image"
    names = [f"patch {i // 3},{i % 3} ({label})" for i, label in enumerate(found.said)]
    boxes = page.locator(".pieces.from .box")
    assert [boxes.nth(i).get_attribute("aria-label") for i in range(boxes.count())] == names
    assert page.locator(".box.chosen").get_attribute("aria-label") == names[1]
    drawn = page.evaluate(
        """() => {
            const image = document.querySelector(".behind img");
            const canvas = document.createElement("canvas");
            [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
            const brush = canvas.getContext("2d");
            brush.drawImage(image, 0, 0);
            const { data } = brush.getImageData(0, 0, canvas.width, canvas.height);
            return [canvas.width, [...data].filter((_, i) => i % 4 === 0)];
        }"""
    )
    assert drawn == [30, pixels.ravel().tolist()]
    for layer, head in ((0, 0), (1, 3)):
        sheet.choose(layer=layer, head=head)
        row = found.attention[layer, head, 1]
        heat = boxes.evaluate_all("all => all.map(box => +box.style.getPropertyValue('--weight'))")
        assert heat == pytest.approx((row / row.max()).tolist(), abs=2e-3)
    sheet.clean()
