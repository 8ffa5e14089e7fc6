"""Picture: a run drawn with matplotlib, time and memory side by side on log-log axes."""

from __future__ import annotations

from typing import Any

from regard.cost.chart import COLOURS
from regard.cost.result import QUESTION, Costs
from regard.cost.units import in_bytes, in_seconds

MARKERS = ("o", "s", "^", "D")
LINES = ("-", "--", "-.", ":")


def draw_costs(costs: Costs) -> Any:
    """The figure; ``regard.views.picture.file`` writes it."""
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
