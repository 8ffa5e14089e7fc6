"""Picture: a run as PNG or SVG, time and memory side by side on log-log axes."""

from __future__ import annotations

import os
from typing import Any

from regard.cost.chart import COLOURS
from regard.cost.result import QUESTION, Costs
from regard.cost.units import in_bytes, in_seconds
from regard.errors import MissingExtraError
from regard.files import replacing

MARKERS = ("o", "s", "^", "D")
LINES = ("-", "--", "-.", ":")


def check_picture() -> None:
    """Raise if there is nothing to draw with; asked before minutes of measuring."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingExtraError("a picture", "plot") from None


def save_picture(costs: Costs, path: str | os.PathLike[str], kind: str) -> None:
    """Draw and write, atomically; ``kind`` is ``png`` or ``svg`` (its text stays text)."""
    check_picture()
    import matplotlib as mpl

    # The settings hold for this picture only: a user's own figures are not touched.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "regard", "font.size": 11}):
        figure = _figure(costs)
        with replacing(path) as temporary:
            date = {"Date": None} if kind == "svg" else {}  # same numbers, same file
            figure.savefig(temporary, format=kind, dpi=150, metadata=date)


def _figure(costs: Costs) -> Any:
    from matplotlib.figure import Figure  # not pyplot: no window, no global state

    figure = Figure(figsize=(11, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for axes, what in ((left, "time"), (right, "memory")):
        for cost, *style in zip(costs.mechanisms, COLOURS, MARKERS, LINES, strict=True):
            m = cost.mechanism
            values = cost.seconds if what == "time" else cost.bytes
            power = cost.time_exponent if what == "time" else cost.memory_exponent
            formula = m.time_formula if what == "time" else m.memory_formula
            colour, marker, line = style
            label = f"{m.name}: {formula}, measured n^{power:.2f}"
            axes.plot(costs.lengths, values, line, color=colour, marker=marker, label=label)
    _axes(left, costs, "time (best of the rounds)", in_seconds)
    _axes(right, costs, "peak memory of tensors", in_bytes)
    first, last = costs.fitted[0], costs.fitted[-1]
    figure.suptitle(
        f"{QUESTION}\nwidth d = {costs.setting.width}, window r = {costs.setting.neighbours}; "
        f"exponents fitted to n = {first} to {last}"
    )
    return figure


def _axes(axes: Any, costs: Costs, label: str, unit: Any) -> None:
    """Log-log with each length and each power of ten named."""
    from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

    axes.set(xscale="log", yscale="log", xlabel="n, positions in the text", ylabel=label)
    axes.set_xticks(costs.lengths, [str(n) for n in costs.lengths])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: unit(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    # Above the curves' lower end, where a power law leaves room.
    axes.legend(loc="upper left", fontsize=8.5, framealpha=1, edgecolor="none")
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** 0.35)
