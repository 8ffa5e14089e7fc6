"""Report: a run as a page of 80 columns: formulas, numbers, charts, and the answer in words."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from rich.text import Text

from regard.cost.chart import COLOURS, ChartLine, loglog
from regard.cost.result import QUESTION, Costs
from regard.cost.units import in_bytes, in_seconds

WIDTH = 78
NEAR = 0.25
"""A measured exponent this near the formula's needs no remark."""
LARGE = 2**25
"""Bytes above which an allocator such as glibc's gives memory back to the system at once."""


def format_costs(costs: Costs) -> Text:
    """The whole page; ``.plain`` is the text without its colours."""
    parts = (
        [Text(QUESTION, "bold"), Text(""), *_formulas(costs), Text("")],
        [*_numbers(costs), Text("")],
        [*_charts(costs), Text("")],
        [Text(line) for line in _wrapped(_remarks(costs))],
        [Text(line) for line in _wrapped([_answer(costs)])],
    )
    lines = [line for part in parts for line in part]
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)


def _formulas(costs: Costs) -> list[Text]:
    setting = costs.setting
    heads = "1 head" if setting.heads == 1 else f"{setting.heads} heads"
    lines = _wrapped(
        [
            f"One layer over n positions of width d = {setting.width}, {heads}; a window of "
            f"r = {setting.neighbours} positions ({setting.window} on each side and its own)."
        ]
    )
    table = [Text(line) for line in lines]
    table.append(Text(f"  {'':34}{'time':<12}{'memory':<12}steps in a row", "bold"))
    for cost, colour in zip(costs.mechanisms, COLOURS, strict=True):
        m = cost.mechanism
        formulas = f"{m.time_formula:<12}{m.memory_formula:<12}{m.sequential_steps}"
        table.append(Text.assemble((f"  {m.letter}", colour), f"  {m.name:<31}{formulas}"))
    return table


def _numbers(costs: Costs) -> list[Text]:
    """A row for each length: four times, four sizes; then the exponents fitted to them."""
    runs = costs.mechanisms
    rounds = "1 round" if costs.rounds == 1 else f"the best of {costs.rounds} rounds"
    clock = "processor time, 1 thread" if costs.threads == 1 else f"{costs.threads} threads"
    letters = "".join(f"{run.mechanism.letter:>8}" for run in runs)
    lines = [
        Text(f"Measured: {rounds}, {clock}, float32.", "bold"),
        Text(f"{'':8}{'time':>8}{'':27}{'peak memory':>11}"),
        Text(f"{'n':>8}{letters}   {letters}", "bold"),
    ]
    for i, n in enumerate(costs.lengths):
        times = (in_seconds(run.seconds[i]) for run in runs)
        sizes = (in_bytes(run.bytes[i]) for run in runs)
        lines.append(Text(_row(str(n), times, sizes)))
    powers = [run.time_exponent for run in runs], [run.memory_exponent for run in runs]
    lines.append(Text(_row("exponent", *([f"{p:.2f}" for p in side] for side in powers)), "bold"))
    lines.append(Text(_row("2n costs", *([_times(p) for p in side] for side in powers)), "bold"))
    first, last = costs.fitted[0], costs.fitted[-1]
    lines.append(Text(f"The exponents are fitted to n = {first} to {last}."))
    return lines


def _row(head: str, left: Iterable[str], right: Iterable[str]) -> str:
    sides = ("".join(f"{cell:>8}" for cell in side) for side in (left, right))
    return f"{head:>8}{'   '.join(sides)}"


def _charts(costs: Costs) -> list[Text]:
    """Time and memory side by side."""
    pairs = list(zip(costs.mechanisms, COLOURS, strict=True))
    times = [ChartLine(run.mechanism.letter, colour, run.seconds) for run, colour in pairs]
    sizes = [ChartLine(run.mechanism.letter, colour, run.bytes) for run, colour in pairs]
    left = loglog(costs.lengths, times, in_seconds, columns=29, rows=12)
    right = loglog(costs.lengths, sizes, in_bytes, columns=29, rows=12)
    lines = [Text(f"{'time over n':>19}{'':20}{'peak memory over n':>26}", "bold")]
    for a, b in zip(left, right, strict=True):
        a.pad_right(39 - len(a))
        lines.append(a + Text(" ") + b)
    return lines


def _answer(costs: Costs) -> str:
    """The question answered with this run's numbers."""
    kept, fused, windowed, recurrence = costs.mechanisms
    n = costs.lengths[-1]
    ranked = sorted(costs.mechanisms, key=lambda run: run.seconds[-1])
    order = ", ".join(f"{r.mechanism.letter} {in_seconds(r.seconds[-1])}" for r in ranked)
    return (
        "Answer: self-attention compares every position with every other, so its time is "
        f"O(n² d): here, doubling the text multiplied it by {_times(kept.time_exponent)[1:]} with "
        f"the weights kept and by {_times(fused.time_exponent)[1:]} fused. Its memory is O(n²) if "
        f"the weights are kept ({_times(kept.memory_exponent)} when n doubles, "
        f"{in_bytes(kept.bytes[-1])} at n = {n}) and O(n d) if they never are "
        f"({_times(fused.memory_exponent)}, {in_bytes(fused.bytes[-1])}). "
        f"A window makes the time O(r n d) ({_times(windowed.time_exponent)}). "
        f"Recurrence takes O(n d²) ({_times(recurrence.time_exponent)}), but in n steps that wait "
        f"for each other, where attention needs 1. From the fastest at n = {n}: {order}."
    )


def _remarks(costs: Costs) -> list[str]:
    """A sentence for each exponent that is not near the formula's."""
    remarks = []
    for run in costs.mechanisms:
        m = run.mechanism
        for what, formula, got, power in (
            ("time", m.time_formula, run.time_exponent, m.time_power),
            ("memory", m.memory_formula, run.memory_exponent, m.memory_power),
        ):
            if abs(got - power) > NEAR:
                remarks.append(
                    f"Note: the {what} of {m.letter} grew {_times(got)}, where {formula} says "
                    f"×{2**power} for long texts: {_reason(what, got < power, run.bytes[-1])}."
                )
    return remarks


def _reason(what: str, less: bool, most: int) -> str:
    """What bends a curve away from its formula, as a rule; ``most`` is the peak in bytes."""
    if what == "memory":
        fixed = "at these lengths a part of fixed size weighs in, such as a block of the mask"
        return fixed if less else "so short a text is handled in one block, with its whole mask"
    if less:
        return "at these lengths the fixed cost of a call still weighs in"
    if most > LARGE:
        return "the system hands out the memory of large arrays anew in each call, page by page"
    return "a sign of a busy machine; run it again, or with more --repeats and --budget"


def _times(power: float) -> str:
    """What doubling n multiplies the cost by."""
    return f"×{2**power:.1f}"


def _wrapped(paragraphs: Iterable[str]) -> list[str]:
    """Lines of at most ``WIDTH``, an empty one after each paragraph."""
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += [*textwrap.wrap(paragraph, WIDTH), ""]
    return lines
