"""npz: arrays of a file by their names, never more of them than fits, never anything pickled."""

from __future__ import annotations

import math
import os
import zipfile
from typing import Any

import numpy as np
from numpy.lib.format import read_array_header_1_0, read_array_header_2_0, read_magic
from numpy.typing import NDArray

from regard.errors import DataError, first_line
from regard.files import name_of

MOST_BYTES = 2 << 30
"""Of all arrays together: more is refused before it is unpacked."""


def read_arrays(path: str | os.PathLike[str], *needed: str) -> dict[str, NDArray[Any]]:
    """The arrays of an npz file by name; those ``needed`` are among them."""
    name = name_of(path)
    try:
        with zipfile.ZipFile(path) as archive:
            check_bytes(sum(info.file_size for info in archive.infolist()), name)
            for info in archive.infolist():
                _check_claim(archive, info, name)
        with np.load(path, allow_pickle=False) as content:
            missing = [key for key in needed if key not in content.files]
            if missing:
                has = ", ".join(content.files) or "nothing"
                raise DataError(f"{name} has no {missing[0]!r}; it has {has}")
            return {key: content[key] for key in content.files}
    except (OSError, ValueError, zipfile.BadZipFile, EOFError, MemoryError) as error:
        raise DataError(f"{name} is no npz file of numbers: {first_line(error)}") from error


def _check_claim(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> None:
    """Raise if an array says that it is larger than what there is of it: room for as much as it
    says would be made before its numbers are read."""
    if not info.filename.endswith(".npy"):
        return
    with archive.open(info) as file:
        headers = {(1, 0): read_array_header_1_0, (2, 0): read_array_header_2_0}
        version = read_magic(file)
        if version not in headers:
            raise ValueError(f"{info.filename} is written in version {version[0]}, fields by name")
        shape, _, kind = headers[version](file)
    if math.prod(shape) * kind.itemsize > info.file_size and not kind.hasobject:
        raise DataError(
            f"{info.filename} in {name} says that it is {shape} of {kind}, and has "
            f"{info.file_size:,} bytes"
        )


def check_bytes(size: int, name: str) -> None:
    """Raise if what ``name`` would unpack to is too large."""
    if size > MOST_BYTES:
        raise DataError(f"{name} would have {size:,} bytes, more than {MOST_BYTES:,}")
