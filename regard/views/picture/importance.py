"""The importance of all heads as PNG or SVG: a square for each, layer by layer."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from regard.pieces.importance import Importance
from regard.text import number_of, visible
from regard.views.picture.file import save_figure


def save_importance(found: Importance, path: str | os.PathLike[str], kind: str) -> None:
    """Draw and write; ``kind`` is ``png`` or ``svg``."""
    save_figure(lambda: draw_importance(found), path, kind, 9)


def draw_importance(found: Importance) -> Any:
    """The darker, the more the output changes without the head."""
    from matplotlib.figure import Figure

    layers = max(layer for layer, _ in found.heads) + 1
    heads = max(head for _, head in found.heads) + 1
    sizes = np.full((layers, heads), np.nan)
    for place, effect in found.heads.items():
        sizes[place] = effect.size
    figure = Figure(figsize=(1.8 + 0.45 * heads, 1.2 + 0.35 * layers), layout="constrained")
    axes = figure.subplots()
    shown = axes.imshow(sizes, cmap="viridis_r", vmin=0, aspect="auto")
    figure.colorbar(shown, ax=axes, label=f"mean |change| of {found.metric}")
    axes.set_xticks(range(heads))
    axes.set_yticks(range(layers))
    axes.set_xlabel("head")
    axes.set_ylabel("layer")
    axes.set_title(f"{visible(found.model)}: {number_of(found.texts, 'text')}", fontsize=9)
    return figure
