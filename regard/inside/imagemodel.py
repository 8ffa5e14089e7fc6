"""ImageModel: a real model of vision with its processor, ready to read an image and be observed."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.errors import DataError, MissingExtraError, ModelError, first_line
from regard.files import read_bytes
from regard.inside.find import ModelFiles
from regard.inside.realmodel import title_of
from regard.inside.textmodel import quiet
from regard.pieces.image import Box, Patches, patches
from regard.pieces.pieces import Pieces

MOST_PIXELS = 50_000_000
"""Of an image: a larger one is refused before it is unpacked."""
MOST_FILE = 200 << 20
"""Bytes of its file."""
FRONT = {
    "cls_token": "[CLS]",
    "class_embedding": "[CLS]",
    "distillation_token": "[DIST]",
    "register_tokens": "[REG]",
}
"""Parameters that are pieces of their own, in the order in which models put them in front."""


@dataclass
class ImageModel:
    """A model that reads images, and the image that it is about to read."""

    name: str
    network: nn.Module
    processor: Any
    """Of transformers: how the model wants its images."""
    image: Tensor | None = None
    """As the model reads it, (1, 3, height, width)."""
    has_both = False
    row = 0

    @property
    def title(self) -> str:
        return title_of(self.name)

    @property
    def layers(self) -> int:
        config: Any = self.network.config
        return int(config.num_hidden_layers)

    def read(self, file: str) -> Patches:
        """The image of ``file`` cut into the patches that the model reads."""
        picture = open_image(file)
        made = self.processor(images=picture, return_tensors="pt")["pixel_values"]
        if made.ndim != 4 or made.shape[0] != 1:
            raise ModelError(
                f"the processor of {self.name!r} makes {tuple(made.shape)} of an image; regard "
                "takes models that read one image as one grid of patches"
            )
        self.image = made
        size: Any = getattr(self.network.config, "patch_size", None)
        if not isinstance(size, int):
            raise ModelError(f"{self.name!r} does not say in its config how large a patch is")
        grid = made.shape[2] // size, made.shape[3] // size
        pixels = np.asarray(picture)
        return patches(pixels, seen(self.processor, picture.size), grid, self._front())

    def run(self, tokens: Pieces, target: Pieces | None = None) -> None:
        """One pass over the image that was read last."""
        with torch.inference_mode():
            self.network(pixel_values=self.image)

    def _front(self) -> list[str]:
        """The names of the special pieces."""
        shapes = {name.rpartition(".")[2]: p.shape for name, p in self.network.named_parameters()}
        names = []
        for parameter, name in FRONT.items():
            if parameter in shapes:
                shape = shapes[parameter]
                count = shape[-2] if len(shape) > 1 else 1
                names += [name] if count == 1 else [f"{name[:-1]}{i}]" for i in range(count)]
        return names


def load_image_model(found: ModelFiles) -> ImageModel:
    """A folder with a model of vision and its processor (preprocessor_config.json)."""
    try:
        import transformers
    except ImportError as error:
        raise MissingExtraError(f"the model {found.name!r}", "transformers") from error
    if not (found.folder / "preprocessor_config.json").is_file():
        raise ModelError(
            f"{found.name!r} has no preprocessor_config.json, which says how the model wants its "
            "images; --image is for models of vision (ViT, DeiT, DINOv2, CLIP, SigLIP)"
        )
    folder = str(found.folder)
    try:
        with quiet(transformers), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make: Any = transformers.AutoImageProcessor
            processor = make.from_pretrained(folder)
            network = transformers.AutoModel.from_pretrained(
                folder, dtype=torch.float32, use_safetensors=True
            ).eval()
    except (ImportError, OSError, ValueError, KeyError, RuntimeError, AttributeError) as error:
        raise ModelError(
            f"{found.name!r} is no model of vision that transformers can load without running "
            f"code of its own: {first_line(error)}"
        ) from error
    vision = getattr(network, "vision_model", network)  # of a model of images and texts
    return ImageModel(found.name, vision, processor)


def open_image(file: str) -> Any:
    """A Pillow image in red, green and blue."""
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError as error:
        raise MissingExtraError("--image", "pillow") from error
    import io

    content = io.BytesIO(read_bytes(file, MOST_FILE))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its own bound, which is not ours
            picture = Image.open(content)
            width, height = picture.size
            if width * height > MOST_PIXELS:
                raise DataError(
                    f"{file!r} has {width:,} x {height:,} pixels, more than {MOST_PIXELS:,} in "
                    "all: make it smaller"
                )
            return ImageOps.exif_transpose(picture).convert("RGB")
    except Image.DecompressionBombError as error:  # Pillow's own bound, which is above ours
        raise DataError(
            f"{file!r} has more than {MOST_PIXELS:,} pixels in all: make it smaller"
        ) from error
    except UnidentifiedImageError as error:
        raise DataError(f"{file!r} is no image that Pillow reads: PNG, JPEG, …") from error
    except (OSError, ValueError, SyntaxError) as error:
        raise DataError(f"{file!r} is a damaged image: {first_line(error)}") from error


def seen(processor: Any, size: tuple[int, int]) -> Box:
    """The part of an image of ``size`` (width, height) that a processor leaves of it."""
    width, height = size
    if getattr(processor, "do_pad", False):
        raise ModelError(
            "the model's processor adds a border to images; regard has no place for it"
        )
    if not getattr(processor, "do_center_crop", False):
        return 0, 0, width, height
    crop = _edges(processor.crop_size)
    scaled = _scaled(processor, size)
    if crop[0] > round(scaled[0]) or crop[1] > round(scaled[1]):
        raise DataError(
            f"the image has {width} x {height} pixels, less than the {crop[0]} x {crop[1]} that "
            "the model's processor cuts out of it: give a larger one"
        )
    across, down = crop[0] / scaled[0] * width, crop[1] / scaled[1] * height
    left, top = round((width - across) / 2), round((height - down) / 2)
    return left, top, round(left + across), round(top + down)


def _scaled(processor: Any, size: tuple[int, int]) -> tuple[float, float]:
    """Width and height after the processor's resizing."""
    wanted = dict(processor.size)
    if not processor.do_resize:
        return size
    if "shortest_edge" in wanted:
        times = wanted["shortest_edge"] / min(size)
        return size[0] * times, size[1] * times
    return _edges(wanted)


def _edges(size: Any) -> tuple[int, int]:
    sizes = dict(size)
    return int(sizes["width"]), int(sizes["height"])
