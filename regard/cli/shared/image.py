"""``look --image``: an image read by a model of vision."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from regard.errors import RegardError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from regard.inside.imagemodel import ImageModel
    from regard.pieces.image import Patches
    from regard.pieces.look import Look, LookRequest


def read_at(at: str | None) -> tuple[float, float] | None:
    """``120,80`` as two numbers."""
    if at is None:
        return None
    found = re.fullmatch(r"\s*(\d{1,9}(?:\.\d+)?)\s*,\s*(\d{1,9}(?:\.\d+)?)\s*", at)
    if not found:
        raise RegardError(f"--at is a pixel of the image, X,Y such as 120,80; got {at!r:.60}")
    return float(found[1]), float(found[2])


def load_images(name: str) -> ImageModel:
    """The model of vision that ``name`` names."""
    from regard.cli.shared.model import noted
    from regard.inside.find import find

    with noted():
        files = find(name)
        from regard.inside.imagemodel import load_image_model

        return load_image_model(files)


def chosen_piece(image: Patches, at: tuple[float, float] | None, piece: int | None) -> int:
    """The piece that was asked for; else the class token, or the patch in the middle."""
    if piece is not None:
        if piece >= len(image.pieces):
            raise RegardError(
                f"pieces are counted from 0: there are {len(image.pieces)}, of which "
                f"{image.special} special; got {piece}"
            )
        return piece
    if at is not None:
        return image.at(*at)
    middle = image.rows // 2 * image.columns + image.columns // 2
    return 0 if image.special else middle


def look_at_image(model: ImageModel, image: Patches, request: LookRequest) -> tuple[Look, bool]:
    """Look at it, with progress; and whether Ctrl-C ended it."""
    from regard.cli.shared.model import noted
    from regard.cli.shared.progress import counted
    from regard.inside.look.look import look
    from regard.train.run.stop import stopping

    with noted(), stopping() as stop, counted("looking") as progress:
        found = look(model, image.pieces, request, progress=progress, stop=stop)
        return found, stop.is_set()


def shown_weights(found: Look) -> tuple[NDArray[np.float32], str]:
    """What the chosen piece gives to each piece, and of which heads that is the mean."""
    import numpy as np

    assert found.place is not None
    layer, head, measure = found.request.layer, found.request.head, found.request.measure
    derived = f", derived: {measure}" if measure else ""
    if measure == "rollout":  # each layer has those before it in it
        last = max(found.place.to)
        return found.place.to[last][0], f"through the layers up to {last}{derived}"
    if layer is not None and head is not None:
        return found.place.to[layer][head], f"layer {layer}, head {head}{derived}"
    whole = np.concatenate([found.place.to[number] for number in sorted(found.place.to)])
    where = f"layer {layer}" if layer is not None else f"{found.done} layers"
    return whole.mean(0), f"mean of the {len(whole)} heads of {where}{derived}"
