"""An image or a series read by a labeller: a label for each piece, and what it looked at."""

from __future__ import annotations

import numpy as np
import torch

from regard.errors import DataError
from regard.inside.imagemodel import open_image
from regard.models.images import cut
from regard.models.reading import LabelReading, label_pieces
from regard.pieces.image import Patches, patches
from regard.pieces.series import Series, steps
from regard.store.folder import load_labeller
from regard.store.shipped import find_folder


def label_image(name: str, file: str, *, traced: bool = False) -> tuple[Patches, LabelReading]:
    """Read ``file`` with a labeller of patches; it is made as large as the model wants."""
    model, _ = load_labeller(find_folder(name), "label-images")
    config = model.config
    grid = config.places // config.columns, config.columns
    rows, columns = (config.patch * many for many in grid)
    picture = open_image(file)
    small = picture.convert("L" if config.channels == 1 else "RGB").resize((columns, rows))
    pixels = torch.tensor(np.asarray(small, np.float32) / 255)
    image = pixels.reshape(1, rows, columns, config.channels).permute(0, 3, 1, 2)
    read = patches(np.asarray(picture), (0, 0, picture.width, picture.height), grid)
    numbers = cut(image, (config.patch, config.patch))[0]
    return read, label_pieces(model, numbers, read.pieces, traced=traced)


def label_series(
    name: str, series: Series, stop: int | None = None, *, traced: bool = False
) -> LabelReading:
    """Read the last steps of ``series``, those before row ``stop``, with a labeller of steps."""
    model, _ = load_labeller(find_folder(name), "label-series")
    config = model.config
    if len(series.channels) != config.channels:
        raise DataError(
            f"the model reads {config.channels} columns of numbers at each step, this table has "
            f"{len(series.channels)}: {', '.join(series.channels[:20])}"
        )
    stop = len(series) if stop is None else stop
    start = max(0, stop - config.places)
    if start == stop:
        raise DataError("there are no steps to read before that time")
    numbers = torch.from_numpy(series.values[start:stop]).float()
    return label_pieces(model, numbers, steps(series, start, stop), traced=traced)
