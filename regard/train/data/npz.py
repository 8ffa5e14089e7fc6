"""npz: arrays of a file by their names, never more of them than fits, never anything pickled."""

from __future__ import annotations

import os
import zipfile
from typing import Any

import numpy as np
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
            size = sum(info.file_size for info in archive.infolist())
        check_bytes(size, name)
        with np.load(path, allow_pickle=False) as content:
            missing = [key for key in needed if key not in content.files]
            if missing:
                has = ", ".join(content.files) or "nothing"
                raise DataError(f"{name} has no {missing[0]!r}; it has {has}")
            return {key: content[key] for key in content.files}
    except (OSError, ValueError, zipfile.BadZipFile, EOFError, MemoryError) as error:
        raise DataError(f"{name} is no npz file of numbers: {first_line(error)}") from error


def check_bytes(size: int, name: str) -> None:
    """Raise if what ``name`` would unpack to is too large."""
    if size > MOST_BYTES:
        raise DataError(f"{name} would have {size:,} bytes, more than {MOST_BYTES:,}")
