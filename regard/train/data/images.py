"""Images with labels: of folders, of IDX files, of an npz file."""

from __future__ import annotations

import gzip
import hashlib
import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError, MissingExtraError, first_line
from regard.files import name_of
from regard.train.data.npz import check_bytes, read_arrays
from regard.train.data.split import Part, places

KINDS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".pgm", ".ppm")
IDX_BYTES = 0x08
"""An IDX file's code for numbers from 0 to 255."""


@dataclass(frozen=True)
class LabelledImages:
    """Images of one size and the label of each."""

    pixels: NDArray[np.uint8]
    """(N, rows, columns, channels)"""
    labels: list[str]
    shortened: int = 0
    """Of sounds as images: how many were longer than what was read of them."""

    def __len__(self) -> int:
        return len(self.labels)

    def some(self, rows: Sequence[int]) -> LabelledImages:
        """Those of these places."""
        return LabelledImages(self.pixels[list(rows)], [self.labels[i] for i in rows])

    def digest(self) -> str:
        """A fingerprint of the images and labels in their order."""
        found = hashlib.sha256("\n".join(self.labels).encode())
        found.update(repr(self.pixels.shape).encode())
        found.update(np.ascontiguousarray(self.pixels).data)
        return found.hexdigest()

    def kinds(self) -> set[str]:
        """The labels that occur."""
        return set(self.labels)


def image_parts(
    pixels: NDArray[np.uint8], valid: float, test: float, seed: int, what: str
) -> list[Part]:
    """Which part each image is for; an image that occurs twice is in one part."""
    names = [hashlib.sha256(image.tobytes()).hexdigest() for image in pixels]
    return places(names, valid, test, seed, what)


def read_images(path: str | os.PathLike[str]) -> LabelledImages:
    """A folder with a folder a label; an IDX file of images beside that of its labels; an npz
    file with ``images`` and ``labels``."""
    name = name_of(path)
    if os.path.isdir(path):
        return _of_folders(Path(path))
    if not os.path.isfile(path):
        raise DataError(f"there are no images at {name}: a folder, an IDX file or an npz file")
    if str(path).endswith(".npz"):
        content = read_npz(path)
        pixels, labels = content["images"], content["labels"]
    else:
        found, labels = _of_idx(Path(path))
        pixels = with_channels(found, labels, name)
    return LabelledImages(pixels, [str(label) for label in labels.tolist()])


def with_channels(pixels: NDArray[np.uint8], labels: NDArray[Any], name: str) -> NDArray[np.uint8]:
    """Images (N, rows, columns, channels), of which ``name`` has as many as labels."""
    if pixels.ndim == 3:
        pixels = pixels[..., None]
    if pixels.ndim != 4 or pixels.shape[-1] not in (1, 3):
        raise DataError(
            f"images are (N, rows, columns) or (N, rows, columns, 3); {name} has {pixels.shape}"
        )
    if len(pixels) != len(labels):
        raise DataError(f"{name} has {len(pixels):,} images and {len(labels):,} labels")
    if not pixels.size:
        what = "images" if not len(pixels) else f"pixels in its images: {pixels.shape}"
        raise DataError(f"{name} has no {what}")
    return pixels


def read_npz(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """The arrays of an npz file by name; ``images`` and ``labels`` are among them."""
    name, found = name_of(path), read_arrays(path, "images", "labels")
    images = _bytes(found["images"], name)
    return found | {"images": with_channels(images, found["labels"], name)}


def _bytes(images: NDArray[Any], name: str) -> NDArray[np.uint8]:
    """Pixels from 0 to 255; decimals from 0 to 1 are taken for shares of it."""
    if images.dtype == np.uint8:
        return images
    if not np.issubdtype(images.dtype, np.number) or not np.isfinite(images).all():
        raise DataError(f"the images of {name} are no numbers, or not all of them")
    least, most = float(images.min()), float(images.max())
    if np.issubdtype(images.dtype, np.floating) and least >= 0 and most <= 1:
        return (images * 255).round().astype(np.uint8)
    if least >= 0 and most <= 255 and np.equal(np.mod(images, 1), 0).all():
        return images.astype(np.uint8)
    raise DataError(
        f"pixels are whole numbers from 0 to 255, or decimals from 0 to 1; those of {name} go "
        f"from {least:g} to {most:g}"
    )


def _of_idx(path: Path) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    name = path.name.replace("images", "labels").replace("idx3", "idx1")
    labels = path.with_name(name)
    if name == path.name or not labels.is_file():
        raise DataError(
            f"{name_of(path)} is no npz file, no folder, and no IDX file of images with its labels "
            f"beside it (…-images-idx3-ubyte and …-labels-idx1-ubyte)"
        )
    return _idx(path), _idx(labels)


def _idx(path: Path) -> NDArray[np.uint8]:
    """An IDX file: two zeros, the type, the number of axes, their sizes, then the bytes."""
    name = name_of(path)
    try:
        opened: Any = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rb") as file:
            return _idx_array(file, name)
    except (OSError, EOFError, struct.error) as error:
        raise DataError(f"{name} is no IDX file: {first_line(error)}") from error


def _idx_array(file: IO[bytes], name: str) -> NDArray[np.uint8]:
    zeros, kind, axes = struct.unpack(">HBB", file.read(4))
    if zeros != 0 or kind != IDX_BYTES or not 1 <= axes <= 4:
        raise DataError(f"{name} is no IDX file of bytes")
    shape = struct.unpack(f">{axes}I", file.read(4 * axes))
    size = int(np.prod(shape, dtype=object))
    check_bytes(size, name)
    content = file.read(size + 1)
    if len(content) != size:
        raise DataError(f"{name} should have {size:,} bytes of {shape} and has other ones")
    return np.frombuffer(content, np.uint8).reshape(shape)


def _of_folders(folder: Path) -> LabelledImages:
    """Every folder in ``folder`` is a label; the images in it may have any name."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise MissingExtraError("a folder of images", "pillow") from error
    files = [
        (label.name, file)
        for label in sorted(p for p in folder.iterdir() if p.is_dir())
        for file in sorted(label.iterdir())
        if file.suffix.lower() in KINDS
    ]
    if not files:
        raise DataError(
            f"{str(folder)!r} has no images: it should have a folder for each label, and images in "
            f"it ({', '.join(KINDS)})"
        )
    found: list[NDArray[np.uint8]] = []
    for _, file in files:
        try:
            with Image.open(file) as image:
                check_bytes(image.width * image.height * 3 * len(files), repr(str(folder)))
                found.append(np.asarray(image.convert("RGB")))
        except Image.DecompressionBombError as error:
            raise DataError(f"{str(file)!r} has too many pixels: make it smaller") from error
        except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
            raise DataError(f"{str(file)!r} is no image, or a damaged one") from error
        if found[-1].shape != found[0].shape:
            raise DataError(
                f"all images must have one size: {str(files[0][1])!r} has {_size(found[0])} "
                f"pixels, {str(file)!r} {_size(found[-1])}"
            )
    pixels = np.stack(found)
    grey = bool((pixels == pixels[..., :1]).all())
    return LabelledImages(pixels[..., :1] if grey else pixels, [label for label, _ in files])


def _size(image: NDArray[np.uint8]) -> str:
    return f"{image.shape[1]} x {image.shape[0]}"
