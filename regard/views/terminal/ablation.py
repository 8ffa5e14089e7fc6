"""What was taken away and what that did, on the terminal."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from regard.pieces.ablation import Ablation, Effect
from regard.pieces.importance import Importance
from regard.text import cut, number_of, visible
from regard.views.terminal.numbers import bar

TOLD = {
    "probability": "probability",
    "logprob": "log-probability",
    "cosine": "cosine to the unchanged vector",
}


def print_ablation(found: Ablation, console: Console, shown: int) -> None:
    """A line for each effect, the strongest first; then whether the weights told so."""
    title = Text(visible(found.model), style="bold")
    title.append(f": {TOLD[found.metric]}", style="default")
    if found.target:
        title.append(f" of {cut(visible(found.target), 40)!r}", style="default")
    title.append(f", unchanged {found.base:.4f}", style="default")
    console.print(title)
    for line in found.said:
        console.print(visible(line), style="dim")
    console.print()
    guessed = None if found.estimate is None else found.estimate.effects
    below = guessed is None and _too_long(found, shown, console.width)
    table = _table(found, shown, not below) if guessed is None else None
    console.print(_estimates(found, guessed, shown) if guessed is not None else table)
    if below:
        console.print()
        console.print(_texts(found, shown))
    count = len(found.effects if guessed is None else guessed)
    if count > shown:
        console.print(f"… {count - shown} more (--top, --json)", style="dim")
    console.print()
    for line in verdict(found):
        console.print(line, markup=False, highlight=False)


def verdict(found: Ablation) -> list[str]:
    """Whether the weights told of the effects, what chance does, how good an estimate is."""
    lines = []
    items = found.kind == "item"
    count = sum((items or e.head is not None) and e.weight is not None for e in found.effects)
    if found.correlation is not None:
        told = _told(found.correlation)
        what = {"link": "links", "item": "items"}.get(found.kind, "heads")
        lines.append(
            f"Rank correlation of weight and |change| over {count} {what}: "
            f"{found.correlation:+.2f}. {told}"
        )
    if found.baseline is not None:
        base = found.baseline
        lines.append(
            f"By chance: taking away {base.what} changes it by {base.mean:+.4f} "
            f"(spread {base.spread:.4f}, {number_of(len(base.changes), 'draw')})."
        )
    if found.estimate is not None:
        guess = found.estimate
        how = "-" if guess.correlation is None else f"{guess.correlation:+.2f}"
        over = number_of(guess.sample, "head")
        lines.append(f"Rank correlation of estimate and measured change over {over}: {how}.")
    return lines


def _told(correlation: float) -> str:
    size = abs(correlation)
    if size < 0.3:
        return "Here the weight does not say what matters."
    if correlation < 0:
        return "Here the larger weights matter less."
    return "Here the weight says " + ("much" if size >= 0.7 else "something") + " of what matters."


def _estimates(found: Ablation, effects: list[Effect], shown: int) -> Table:
    """All heads by their estimated change; beside it the measured one of those in the sample."""
    measured = {(e.part, e.layer, e.head): e for e in found.effects}
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("taken away", style="cyan", no_wrap=True)
    table.add_column("change, estimated", justify="right")
    table.add_column("measured", justify="right")
    table.add_column("")
    effects = sorted(effects, key=lambda e: -abs(e.change))
    most = abs(effects[0].change) or 1.0
    for effect in effects[:shown]:
        exact = measured.get((effect.part, effect.layer, effect.head))
        beside = "-" if exact is None else f"{exact.change:+.4f}"
        drawn = bar(abs(effect.change) / most, 16)
        table.add_row(name(effect), f"{effect.change:+.4f}", beside, drawn)
    return table


THEN = {"item": "then first"}
"""What a changed output is headed by, by what was taken away; else it is what is then written."""
NUMBERS = 46
"""Columns that the numbers of an effect take."""


def _too_long(found: Ablation, shown: int, width: int) -> bool:
    """Whether what is then written has no room in a line beside the numbers."""
    effects = found.ranked()[:shown]
    longest = max((cell_len(visible(e.text)) for e in effects if e.text is not None), default=0)
    return longest + NUMBERS + max((cell_len(name(e)) for e in effects), default=0) > width


def _texts(found: Ablation, shown: int) -> Table:
    """What is then written, in lines of its own."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("taken away", style="cyan", no_wrap=True, max_width=40)
    table.add_column(THEN.get(found.kind, "then it writes"))
    for effect in found.ranked()[:shown]:
        if effect.text is not None:
            table.add_row(name(effect), cut(visible(effect.text), 400))
    return table


def _table(found: Ablation, shown: int, beside: bool) -> Table:
    """``beside``: what is then written, if anything is, stands in the last column."""
    effects = found.ranked()
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("taken away", style="cyan", no_wrap=True, max_width=40)
    kl = any(e.kl is not None for e in effects)
    for column in ("weight", found.metric, "change", *(["KL"] if kl else [])):
        table.add_column(column, justify="right", no_wrap=True)
    texts = beside and any(e.text is not None for e in effects)
    table.add_column(
        THEN.get(found.kind, "then it writes") if texts else ""
    )  # the one that wraps where it is narrow
    most = max((abs(e.change) for e in effects), default=0.0) or 1.0
    for effect in effects[:shown]:
        weight = "-" if effect.weight is None else f"{effect.weight:.3f}"
        item = effect.key if found.kind == "item" else None
        taken = name(effect) if item is None else visible(item.text)
        cells = [taken, weight, f"{effect.value:.4f}", f"{effect.change:+.4f}"]
        if kl:
            cells.append("-" if effect.kl is None else f"{effect.kl:.4f}")
        last = cut(visible(effect.text), 200) if effect.text is not None else ""
        drawn = bar(abs(effect.change) / most, 16) if beside else ""
        table.add_row(*cells, last if texts else drawn)
    return table


def print_importance(found: Importance, console: Console, shown: int) -> None:
    """The heads by how much the output changes without them."""
    title = Text(visible(found.model), style="bold")
    kind = "" if found.part == "self" else f" of its {found.part} attention"
    title.append(
        f": {number_of(len(found.heads), 'head')}{kind}, {number_of(found.texts, 'text')}, ",
        "default",
    )
    title.append(f"{number_of(found.tokens, 'token')}; change of {TOLD[found.metric]}", "default")
    console.print(title)
    console.print()
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("head", style="cyan", justify="right")
    for column in ("mean |change|", "mean change", "spread"):
        table.add_column(column, justify="right")
    table.add_column("")
    ranked = found.ranked()
    most = found.heads[ranked[0]].size or 1.0
    for place in ranked[:shown]:
        one = found.heads[place]
        numbers = (f"{one.size:.5f}", f"{one.change:+.5f}", f"{one.spread:.5f}")
        table.add_row(f"L{place[0]}H{place[1]}", *numbers, bar(one.size / most, 16))
    console.print(table)


def name(effect: Effect) -> str:
    """``L3H1``, ``layer 3``, ``it → animal in L3H1``, ``animal everywhere``."""
    where = "everywhere"
    if effect.head is not None:
        where = f"L{effect.layer}H{effect.head}"
    elif effect.layer is not None:
        where = f"layer {effect.layer}"
    elif effect.heads:
        where = number_of(effect.heads, "head")
    where = f"{effect.part} {where}" if effect.part else where
    if effect.key is None and effect.query is None:
        return where
    words = " → ".join(visible(w.text) for w in (effect.query, effect.key) if w is not None)
    inner = where if where.endswith("everywhere") else f"in {where}"
    return f"{words} {inner}"
