"""Image classifiers: patches by hand, equal sizes, and every setting checked."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from regard.errors import ConfigError
from regard.models.images import ImageClassifier, ImageConfig, cut, sized_images, usual_patch

SHAPE: dict[str, Any] = {"rows": 28, "columns": 28, "channels": 1, "labels": ("0", "1", "2")}


def size(model: ImageClassifier) -> int:
    return sum(p.numel() for p in model.parameters())


def test_patches_row_by_row() -> None:
    image = torch.arange(24.0).reshape(1, 1, 4, 6)
    assert cut(image, (2, 2))[0].tolist() == [
        [0, 1, 6, 7],
        [2, 3, 8, 9],
        [4, 5, 10, 11],
        [12, 13, 18, 19],
        [14, 15, 20, 21],
        [16, 17, 22, 23],
    ]


def test_the_usual_patch() -> None:
    assert [usual_patch(*sides) for sides in ((28, 28), (8, 8), (32, 24), (224, 224), (7, 3))] == [
        4,
        2,
        4,
        14,
        1,
    ]


@pytest.mark.parametrize("name", ["tiny", "small", "base"])
def test_conv_has_as_many_parameters_as_patches(name: str) -> None:
    patches, conv = (ImageClassifier(sized_images(m, name, **SHAPE)) for m in ("patches", "conv"))
    assert abs(size(conv) / size(patches) - 1) < 0.06


@pytest.mark.parametrize("model", ["patches", "conv", "average"])
def test_logits_and_weights(model: str) -> None:
    torch.manual_seed(3)
    built = ImageClassifier(sized_images(model, "tiny", **SHAPE)).eval()
    logits, weights = built(torch.rand(5, 1, 28, 28))
    assert logits.shape == (5, 3)
    if model == "conv":
        assert weights.shape == (5, 0)
    else:
        torch.testing.assert_close(weights.sum(-1), torch.ones(5))
    again = ImageConfig.from_dict(built.config.to_dict())
    assert again == built.config


def test_where_a_patch_stands_counts_for_patches_alone() -> None:
    """The mean of the patches does not change if two of them are exchanged."""
    torch.manual_seed(3)
    image = torch.rand(1, 1, 28, 28)
    moved = image.clone()
    moved[..., :4, :4], moved[..., :4, 4:8] = image[..., :4, 4:8], image[..., :4, :4]
    for model, same in (("average", True), ("patches", False)):
        built = ImageClassifier(sized_images(model, "tiny", **SHAPE)).eval()
        close = torch.allclose(built(image).logits, built(moved).logits, atol=1e-6)
        assert close is same


def test_products_in_half_the_bits_give_nearly_the_same() -> None:
    torch.manual_seed(5)
    model = ImageClassifier(sized_images("patches", "tiny", **SHAPE)).eval()
    images = torch.rand(3, 1, 28, 28)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = model(images).logits
    assert torch.allclose(rounded.float(), model(images).logits, atol=0.05)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"patch": 5}, "patch must divide the image, 28 x 28 pixels; got 5"),
        ({"heads": 3}, "heads must divide width, got 3 and 32"),
        ({"hidden": 7}, "patches has no hidden: leave it out, got 7"),
        ({"dropout": 1.5}, "dropout must be at least 0 and less than 1"),
    ],
)
def test_settings_that_do_not_fit(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as error:
        sized_images("patches", "tiny", **SHAPE, **changes)
    assert said in str(error.value)
