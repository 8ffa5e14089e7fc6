"""What an action looked at, on a terminal: a line for returns, one for states, one for actions."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.text import Text

from regard.pieces.episode import KINDS
from regard.pieces.pieces import Pieces
from regard.text import cut, visible
from regard.trace import Array
from regard.views.terminal.numbers import colour
from regard.views.terminal.series import BLOCKS, MARGIN

STRONGEST = 5
SHARE = 6
"""Columns behind a line: what its pieces have together."""
WIDEST = 3
"""Columns of a step at most."""


def print_act(pieces: Pieces, weights: Array, console: Console) -> None:
    """The weights of pieces along the steps, then the strongest pieces by name."""
    most = float(weights.max()) or 1.0
    steps = -(-len(pieces) // len(KINDS))
    room = max(1, min(console.width - MARGIN - SHARE, WIDEST * steps))
    for number, kind in enumerate(KINDS):
        own = weights[number :: len(KINDS)]
        line = Text(f"{kind:>{MARGIN - 1}} ")
        for column in range(room):  # of more steps than columns, the most of those in each
            share = own[column * steps // room : max(1, -(-(column + 1) * steps // room))]
            part = float(share.max(initial=0)) / most
            line.append(BLOCKS[round(8 * part)], style="rgb({},{},{})".format(*colour(part)))
        line.append(f"{float(own.sum()):>{SHARE}.0%}", style="dim")
        console.print(line, no_wrap=True, overflow="crop")
    for i in np.argsort(-weights, kind="stable")[:STRONGEST].tolist():
        label = cut(visible(pieces.labels[i]), console.width - 11)
        console.print(Text(f"  {weights[i]:.4f}  {label}"), no_wrap=True, overflow="crop")
