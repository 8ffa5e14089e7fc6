"""File: figures of matplotlib as PNG or SVG."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from regard.errors import MissingExtraError
from regard.files import replacing


def check_picture() -> None:
    """Raise if there is nothing to draw with; asked before the work that is to be drawn."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingExtraError("a picture", "matplotlib") from None


def save_figure(
    draw: Callable[[], Any], path: str | os.PathLike[str], kind: str, size: int
) -> None:
    """Draw and write, atomically; ``kind`` is ``png`` or ``svg`` (its text stays text).

    ``size`` is that of the letters, in points. It holds, as all settings here, for this picture
    only: a user's own figures are not touched.
    """
    check_picture()
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "regard", "font.size": size}):
        figure = draw()
        with replacing(path) as temporary:
            date = {"Date": None} if kind == "svg" else {}  # same numbers, same file
            figure.savefig(temporary, format=kind, dpi=150, metadata=date)
