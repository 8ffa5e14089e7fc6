"""An image on a terminal: the chosen patch, and the weights beside it."""

from __future__ import annotations

import io

import numpy as np
from rich.console import Console

from regard.pieces.image import Patches, patches
from regard.views.terminal.image import print_image
from regard.views.terminal.numbers import colour


def two_by_two() -> Patches:
    pixels = np.full((20, 20, 3), 100, np.uint8)
    return patches(pixels, (0, 0, 20, 20), (2, 2), ["[CLS]"])


def shown(weights: list[float], chosen: int, *, terminal: bool) -> str:
    out = io.StringIO()
    console = Console(
        file=out, width=24, force_terminal=terminal, color_system="truecolor" if terminal else None
    )
    print_image(two_by_two(), np.array(weights, np.float32), chosen, "layer 0, head 1", console)
    return out.getvalue()


def test_a_pipe_gets_the_strongest_patches_with_their_boxes() -> None:
    said = shown([0.1, 0.2, 0.0, 0.6, 0.1], 1, terminal=False)
    assert "▀" not in said
    assert "0,0: layer 0, head 1" in said
    assert "90.0% of the weight" in said
    assert "1,0 0.6000 x 0–10, y 10–20" in " ".join(said.split())


def test_a_terminal_gets_two_pictures_in_colours() -> None:
    said = shown([0.1, 0.2, 0.0, 0.6, 0.1], 4, terminal=True)
    rows = [line for line in said.splitlines() if "▀" in line]
    assert [line.count("▀") for line in rows] == [20] * 5
    brightest, darkest = ("{};{};{}".format(*colour(share)) for share in (1.0, 0.0))
    left, right = rows[-1].split("▀")[0:10], rows[-1].split("▀")[10:20]
    assert brightest in "".join(left)  # the chosen patch, below on the right
    assert brightest in right[0]  # where 0.6 goes: below on the left
    assert darkest in "".join(rows[0].split("▀")[10:20])
