"""Beginning: a look at the beginning of a text in the first layers, by which the whole is foreseen.

All layers of a look take the same time, or kinds of them take turns; so a few tell of all, and what
is told before the work begins costs a few hundredths of it.
"""

from __future__ import annotations

import threading

from regard.inside.look.look import look
from regard.inside.realmodel import RealModel
from regard.pieces.look import Look, LookRequest
from regard.pieces.pieces import Pieces

TRIED = 8
"""Layers: a whole turn, where five look through a window and the sixth at everything."""
FEW = 64
"""Tokens by which the layers are counted."""


class Beginning:
    """Called with a number of tokens, looks at so many of them."""

    def __init__(self, model: RealModel, tokens: Pieces, request: LookRequest) -> None:
        self.model, self.tokens, self.request = model, tokens, request
        layers = max(1, look(model, tokens.beginning(FEW), request).done)
        # what a measure computes beside the layers would count as often as they
        self.tried = layers if request.measure else min(TRIED, layers)
        self.times = layers / self.tried
        """How often all layers are those that it looks at."""

    def __call__(self, count: int) -> Look:
        stop = threading.Event()

        def progress(done: int, layers: int) -> None:
            if done >= self.tried:
                stop.set()

        tokens = self.tokens.beginning(count)
        return look(self.model, tokens, self.request, progress=progress, stop=stop)
