"""An image on a terminal, two pixels a sign, and beside it what a patch attends to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from regard.pieces.image import Patches
from regard.text import visible
from regard.views.terminal.numbers import colour

SIGN = "▀"
"""Its upper half is the foreground, its lower half the background: two pixels."""


def print_image(
    image: Patches, weights: NDArray[np.float32], chosen: int | None, title: str, console: Console
) -> None:
    """The image with the ``chosen`` piece marked, and the weights of its patches beside it, or
    below it if it is wide."""
    grid = image.grid(weights)
    most = float(grid.max())
    name = "" if chosen is None else f"{visible(image.pieces.labels[chosen])}: "
    console.print()
    console.print(Text(f"{name}{title}", style="bold"))
    shares = f"{float(grid.sum()):.1%} of the weight goes to patches; brightest {most:.4f}"
    console.print(Text(shares, style="dim"))
    if not console.is_terminal:
        _print_strongest(image, weights, console)
        return
    marked, glowing = _marked(image, chosen), _glowing(image, grid / most if most else grid)
    if image.wide:
        for pixels in (marked, glowing):
            for line in half_blocks(_small(pixels, console.width - 1)):
                console.print(line, no_wrap=True, overflow="crop")
    else:
        sides = [
            half_blocks(_small(pixels, (console.width - 4) // 2)) for pixels in (marked, glowing)
        ]
        for one, other in zip(*sides, strict=True):
            console.print(one.append("  ").append(other), no_wrap=True, overflow="crop")
    _print_strongest(image, weights, console)


def half_blocks(pixels: NDArray[np.uint8]) -> list[Text]:
    """Two rows of pixels a line."""
    lines = []
    for upper, lower in zip(pixels[::2], pixels[1::2], strict=True):
        line = Text()
        for above, below in zip(upper, lower, strict=True):
            line.append(SIGN, style=f"{_rgb(above)} on {_rgb(below)}")
        lines.append(line)
    return lines


def _print_strongest(
    image: Patches, weights: NDArray[np.float32], console: Console, shown: int = 5
) -> None:
    for i in np.argsort(-weights, kind="stable")[:shown].tolist():
        place = image.pieces.places[i]
        where = f"x {place[0]}–{place[2]}, y {place[1]}–{place[3]}" if place else ""
        label = visible(image.pieces.labels[i])
        console.print(Text(f"  {label:<8} {weights[i]:.4f}  {where}".rstrip()))


def _marked(image: Patches, chosen: int | None) -> NDArray[np.uint8]:
    """The image, the chosen patch in yellow; a special piece has no place in it."""
    pixels = image.pixels.copy()
    place = () if chosen is None else image.pieces.places[chosen]
    if place:
        left, top, right, bottom = place
        pixels[top:bottom, left:right] = colour(1.0)
    return pixels


def _glowing(image: Patches, shares: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Every patch in the colour of its share of the largest weight."""
    pixels = np.zeros_like(image.pixels)
    places = image.pieces.places[image.special :]
    for place, share in zip(places, shares.ravel().tolist(), strict=True):
        left, top, right, bottom = place
        pixels[top:bottom, left:right] = colour(share)
    return pixels


def _small(pixels: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    """The image ``width`` signs wide, an even number of rows: the nearest pixel of each."""
    height, wide = pixels.shape[:2]
    tall = max(2, round(width * height / wide) // 2 * 2)
    rows = ((np.arange(tall) + 0.5) * height / tall).astype(int)
    columns = ((np.arange(width) + 0.5) * wide / width).astype(int)
    small: NDArray[np.uint8] = pixels[rows][:, columns]
    return small


def _rgb(pixel: NDArray[np.uint8]) -> str:
    r, g, b = (int(part) for part in pixel)
    return f"rgb({r},{g},{b})"
