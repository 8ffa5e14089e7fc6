"""Small models of vision with random weights, and an image, as folders and files."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

TINY: dict[str, Any] = {
    "hidden_size": 26,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 31,
    "image_size": 40,
    "patch_size": 8,
}


def save_vit(folder: Path) -> Path:
    """A ViT that stretches an image to 40 x 40: five rows and columns, and [CLS]."""
    from transformers import ViTConfig, ViTImageProcessorPil, ViTModel

    config = ViTConfig(**TINY, initializer_range=0.3)
    return save(ViTModel, config, ViTImageProcessorPil(size={"height": 40, "width": 40}), folder)


def save_dino(folder: Path) -> Path:
    """A DINOv2 with two registers that cuts 40 x 40 out of the middle of an image."""
    from transformers import (
        BitImageProcessorPil,
        Dinov2WithRegistersConfig,
        Dinov2WithRegistersModel,
    )

    sizes = {k: v for k, v in TINY.items() if k != "intermediate_size"}
    config = Dinov2WithRegistersConfig(**sizes, num_register_tokens=2)
    crop = {"height": 40, "width": 40}
    processor = BitImageProcessorPil(size={"shortest_edge": 48}, crop_size=crop)
    return save(Dinov2WithRegistersModel, config, processor, folder)


def save(kind: Any, config: Any, processor: Any, folder: Path) -> Path:
    with torch.random.fork_rng():
        torch.manual_seed(5)
        kind(config).save_pretrained(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        processor.save_pretrained(folder)
    return folder


def save_image(file: Path, width: int = 120, height: int = 90) -> Path:
    """Colours that change from left to right and from top to bottom, and a red square."""
    from PIL import Image

    y, x = np.mgrid[:height, :width]
    pixels = np.stack([x * 2, y * 2, 128 + 0 * x], -1).astype(np.uint8)
    pixels[30:60, 40:80] = (240, 60, 30)
    Image.fromarray(pixels).save(file)
    return file
