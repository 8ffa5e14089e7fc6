"""One recurrent step on one screen: what it begins with, what it looks at, what becomes of it, and
what is predicted from that.

The scores, weights and weighted values of the words that it looks at share one table; all else is a
vector. Every number is read from the trace.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from regard.pieces.whole import Predicted
from regard.text import number_of, visible
from regard.trace import Step, Trace
from regard.views.terminal.focus import MOST_WORDS, plain_table
from regard.views.terminal.lines import print_heading, print_vectors
from regard.views.terminal.numbers import bar, number, vector
from regard.views.terminal.predictions import print_predictions

TABLED = ("scores", "raised", "weights", "weighted_values")
"""A number or a vector for each word that is looked at."""
HIDDEN = ("values", "mask")
"""What the table has no column for."""
ENDING = ("logits", "probabilities")
"""A number for each word that may be predicted, in one table."""
SHORT = {"scores": "score", "raised": "raised", "weights": "weight"}
LONGEST_BAR = 14


@dataclass
class RecurrentStepView:
    """A step's trace, on a console."""

    trace: Trace
    console: Console
    everything: bool = False
    """Whether vectors are printed in full."""
    predicted: Predicted | None = None
    """What is predicted from the step, if it is shown."""
    count: int = field(default=0, init=False)

    def heading(self, step: Step, meaning: bool = True) -> int:
        """Print the next heading; its number."""
        where = f"{step.scope}: " if step.scope else ""
        title = f"{where}{step.name.replace('_', ' ')}"
        said = step.meaning if meaning else ""
        self.count += 1
        title = title[0].upper() + title[1:]
        print_heading(self.console, self.count, title, step.formula, said)
        return self.count


def print_recurrent_step(view: RecurrentStepView) -> None:
    """Print the steps in their order."""
    for step in view.trace:
        if step.name == "scores":
            _table(view, step.scope)
        elif step.name in ENDING:
            view.heading(step)
            if step.name == ENDING[-1] and view.predicted is not None:
                print_predictions(view.predicted, view.console)
                view.console.print()
        elif step.name not in (*TABLED, *HIDDEN):
            view.heading(step)
            symbol = step.formula.partition(" = ")[0]
            rows = [(symbol, step.value)]
            print_vectors(view.console, rows, everything=view.everything)
            view.console.print()


def _table(view: RecurrentStepView, scope: str) -> None:
    """What the step looks at: a line for each word."""
    inside = {step.name: step for step in view.trace if step.scope == scope}
    shown = [inside[name] for name in TABLED if name in inside]
    places = [view.heading(step, meaning=step.name != "weighted_values") for step in shown]
    names = [f"{n} {SHORT[s.name]}" for n, s in zip(places, shown, strict=True) if s.name in SHORT]
    keys = [visible(key) for key in inside["weights"].labels["key"]]
    weights, products = inside["weights"].value, inside["weighted_values"].value
    label = min(max(map(cell_len, keys)), view.console.width // 4)
    taken = 3 + label + sum(2 + len(name) for name in names) + 4
    width = min(LONGEST_BAR, max(1, view.console.width - taken))
    room = view.console.width - taken - width - 2
    last = [f"{places[-1]} weight × value ({products.shape[-1]})"] if room > 20 else []
    table = plain_table("", *names, "", *last, right=tuple(range(1, len(names) + 1)))
    rows = sorted(sorted(range(len(keys)), key=lambda j: (-weights[j], j))[:MOST_WORDS])
    for j in rows:
        word = Text(keys[j])
        word.truncate(label, overflow="ellipsis")
        cells = [number(float(s.value[j]), 3) for s in shown if s.name in ("scores", "raised")]
        product = [vector(products[j], room, 3, counted=False)] if last else []
        share = float(weights[j])
        table.add_row(word, *cells, f"{share:.4f}", bar(share, width), *product)
    view.console.print(Padding(table, (0, 0, 0, 3), expand=False))
    hidden = len(keys) - len(rows)
    rest = f"and {number_of(hidden, 'more word')}; " if hidden else ""
    view.console.print(Text(f"   {rest}weights sum to {math.fsum(weights):.4f}", style="dim"))
    if view.everything:
        found = [(f"{weights[j]:.4f} v of {keys[j]}", products[j]) for j in rows]
        print_vectors(view.console, found, everything=True)
    view.console.print()
