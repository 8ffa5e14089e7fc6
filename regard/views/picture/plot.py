"""Plot: attention maps on matplotlib axes; in SVG and PDF files text stays text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from regard.errors import MissingExtraError, RegardError
from regard.pieces.sheet import as_array
from regard.text import cut, visible
from regard.trace import Array, Step, Trace

if TYPE_CHECKING:
    from regard.attention.map import AttentionMap

MOST_LABELS = 80
"""Tokens on an axis up to which they are written."""
AS_TEXT: Any = {"svg.fonttype": "none", "pdf.fonttype": 42}


def plot_map(
    attention: AttentionMap,
    axes: Any = None,
    *,
    cells: int = 512,
    colours: str = "viridis",
    log: bool = False,
    title: str = "",
) -> Any:
    """Draw a map on ``axes`` (new ones if None) and return them.

    A map of more than ``cells`` tokens on a side is drawn from ``pooled(cells)``, each cell the
    largest weight under it. Differences have a scale of their own, from orange to blue.
    """
    queries, keys = attention.shape
    if not queries or not keys:
        raise RegardError("there is nothing to plot: the map has no weights")
    small = max(queries, keys) <= cells
    weights = as_array(attention.dense() if small else attention.pooled(cells))
    return plot_weights(
        weights,
        axes,
        queries=attention.queries,
        keys=attention.keys,
        size=(queries, keys),
        colours=colours,
        log=log,
        title=title,
    )


def plot_weights(
    weights: Array,
    axes: Any = None,
    *,
    queries: list[str],
    keys: list[str],
    size: tuple[int, int] | None = None,
    colours: str = "viridis",
    log: bool = False,
    title: str = "",
) -> Any:
    """Draw weights (queries, keys) with a label for each token where there is room."""
    axes = axes if axes is not None else new_axes(weights.shape)
    from matplotlib.colors import LogNorm, TwoSlopeNorm

    down, across = size or (weights.shape[0], weights.shape[1])
    most = float(np.abs(weights).max()) or 1.0
    norm: Any = None
    if float(weights.min()) < 0:
        norm, colours = TwoSlopeNorm(0, -most, most), "PuOr"
    elif log:
        norm = LogNorm(max(1e-5, most * 1e-5), most, clip=True)
    limits = {} if norm is not None else {"vmin": 0, "vmax": most}
    image = axes.imshow(
        weights,
        cmap=colours,
        norm=norm,
        aspect="equal" if down == across else "auto",
        interpolation="nearest",
        extent=(-0.5, across - 0.5, down - 0.5, -0.5),
        **limits,
    )
    _label(axes.xaxis, keys, across, rotation=90)
    _label(axes.yaxis, queries, down, rotation=0)
    axes.set_xlabel("attended to")
    axes.set_ylabel("attends")
    if title:
        axes.set_title(visible(title), parse_math=False)
    axes.figure.colorbar(image, ax=axes, label="weight", fraction=0.046, pad=0.04)
    return axes


def plot_step(trace: Trace, step: Step, head: int, axes: Any = None, **options: Any) -> Any:
    """Draw a step whose last axes are queries and keys, such as the weights."""
    value, names = step.value, list(step.axes)
    while names and names[0].startswith("batch"):
        value, names = value[0], names[1:]
    if len(names) == 3 and names[0] == "head":
        value, names = value[head], names[1:]
    if len(names) != 2 or value.dtype.kind != "f":
        raise RegardError(
            f"a plot needs rows and columns of numbers, such as 'weights'; {step.path!r} has "
            f"{step.size}"
        )
    labels = [
        step.labels.get(name, trace.tokens if len(trace.tokens) == count else [])
        for name, count in zip(names, value.shape, strict=True)
    ]
    finite = np.where(np.isfinite(value), value, 0)
    return plot_weights(finite, axes, queries=labels[0], keys=labels[1], **options)


def save_plot(axes: Any, path: str) -> None:
    """Save the figure; in SVG and PDF files text stays text."""
    import matplotlib

    with matplotlib.rc_context(AS_TEXT):
        axes.figure.savefig(path, bbox_inches="tight")


def new_axes(shape: tuple[int, ...]) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("a plot", "matplotlib") from error
    side = [min(12.0, max(3.0, 0.22 * n)) for n in shape]
    figure = Figure(figsize=(side[1] + 1.6, side[0] + 1.0), layout="constrained")
    return figure.add_subplot()


def _label(axis: Any, tokens: list[str], count: int, rotation: int) -> None:
    if not tokens or count > MOST_LABELS or len(tokens) != count:
        return
    # A token is data: a dollar sign in it begins no formula.
    texts = [cut(visible(token), 24).replace("$", r"\$") for token in tokens]
    axis.set_ticks(range(count), texts, rotation=rotation, fontsize=8)
