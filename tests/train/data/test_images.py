"""Images from folders, IDX and npz files: read, or refused in one line."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.errors import DataError
from regard.train.data.images import LabelledImages, image_parts, read_images
from tests.pictures import huge

PIXELS = np.arange(7 * 5 * 3, dtype=np.uint8).reshape(7, 5, 3)
LABELS = np.array([3, 1, 3, 1, 2, 2, 3])


def idx(array: np.ndarray) -> bytes:
    head = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    return head + array.astype(np.uint8).tobytes()


def check(found: LabelledImages) -> None:
    np.testing.assert_array_equal(found.pixels[..., 0], PIXELS)
    assert found.labels == ["3", "1", "3", "1", "2", "2", "3"]


def test_npz_and_idx(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", images=PIXELS, labels=LABELS)
    check(read_images(tmp_path / "a.npz"))
    np.savez(tmp_path / "b.npz", images=PIXELS / 255, labels=LABELS)
    check(read_images(tmp_path / "b.npz"))
    (tmp_path / "t-images-idx3-ubyte").write_bytes(idx(PIXELS))
    (tmp_path / "t-labels-idx1-ubyte").write_bytes(idx(LABELS))
    check(read_images(tmp_path / "t-images-idx3-ubyte"))
    for name in ("images-idx3", "labels-idx1"):
        plain = (tmp_path / f"t-{name}-ubyte").read_bytes()
        (tmp_path / f"z-{name}-ubyte.gz").write_bytes(gzip.compress(plain))
    check(read_images(tmp_path / "z-images-idx3-ubyte.gz"))


def test_folders_are_labels(tmp_path: Path) -> None:
    for label in ("cat", "dog"):
        (tmp_path / label).mkdir()
        for i in range(2):
            Image.fromarray(PIXELS[i]).save(tmp_path / label / f"{i}.png")
        (tmp_path / label / "notes.txt").write_text("no image")
    found = read_images(tmp_path)
    assert found.labels == ["cat", "cat", "dog", "dog"]
    assert found.pixels.shape == (4, 5, 3, 1)  # grey
    np.testing.assert_array_equal(found.pixels[1, ..., 0], PIXELS[1])
    Image.fromarray(PIXELS[0].T).save(tmp_path / "dog" / "z.png")
    with pytest.raises(DataError, match=r"one size: '.*0\.png' has 3 x 5 pixels, '.*z\.png' 5 x 3"):
        read_images(tmp_path)


def test_equal_images_are_in_one_part() -> None:
    chance = np.random.default_rng(7)
    once = chance.integers(0, 256, (90, 3, 5, 1), dtype=np.uint8)
    parts = image_parts(np.concatenate([once, once]), 0.3, 0.2, 1, "images")
    assert parts[:90] == parts[90:]
    assert set(parts) == {"train", "valid", "test"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"images": PIXELS}, "has no 'labels'; it has images"),
        ({"images": PIXELS[:3], "labels": LABELS}, "has 3 images and 7 labels"),
        ({"images": PIXELS - 300.5, "labels": LABELS}, "go from -300.5 to"),
        ({"images": PIXELS / np.nan, "labels": LABELS}, "are no numbers, or not all of them"),
        ({"images": np.array([{}] * 7), "labels": LABELS}, "is no npz file of numbers"),
        ({"images": PIXELS[0], "labels": LABELS}, r"images are \(N, rows, columns\)"),
        ({"images": PIXELS[:0], "labels": LABELS[:0]}, "has no images"),
        ({"images": PIXELS[:, :0], "labels": LABELS}, r"has no pixels in its images: \(7, 0, "),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_refused(tmp_path: Path, content: dict[str, np.ndarray], said: str) -> None:
    np.savez(tmp_path / "a.npz", **content)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=said):
        read_images(tmp_path / "a.npz")


def test_an_image_with_too_many_pixels_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "bomb.png").write_bytes(huge())
    with pytest.raises(DataError, match=r"bomb\.png' has too many pixels: make it smaller"):
        read_images(tmp_path)


def test_what_is_no_file_of_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="there are no images at"):
        read_images(tmp_path / "none")
    with pytest.raises(DataError, match="has no images: it should have a folder for each label"):
        read_images(tmp_path)
    (tmp_path / "a-images-idx3-ubyte").write_bytes(idx(PIXELS)[:-1])
    with pytest.raises(DataError, match="is no npz file, no folder, and no IDX file of images"):
        read_images(tmp_path / "a-images-idx3-ubyte")
    (tmp_path / "a-labels-idx1-ubyte").write_bytes(idx(LABELS))
    with pytest.raises(DataError, match="should have 105 bytes"):
        read_images(tmp_path / "a-images-idx3-ubyte")
    (tmp_path / "a-images-idx3-ubyte").write_bytes(b"\0\0\x09")
    with pytest.raises(DataError, match="is no IDX file"):
        read_images(tmp_path / "a-images-idx3-ubyte")
    monkeypatch.setattr("regard.train.data.npz.MOST_BYTES", 100)
    (tmp_path / "a-images-idx3-ubyte").write_bytes(idx(PIXELS))
    with pytest.raises(DataError, match="would have 105 bytes, more than 100"):
        read_images(tmp_path / "a-images-idx3-ubyte")
