"""Stored: what comes out of a model when each word is masked, and each head removed, in turn: for a
page that holds no model."""

from __future__ import annotations

from collections.abc import Iterator

from regard.inside.look.exploration import Exploration
from regard.inside.textmodel import TextModel
from regard.inside.whatif.wish import Wish
from regard.pieces.outcome import Trials
from regard.pieces.pieces import Pieces

MOST = 120
"""Passes of a model for one page: words first, then all heads if there is room for them."""


def stored_trials(model: TextModel, tokens: Pieces, said: str | None) -> Trials:
    """``said``: what a decoder is to read; None: what it writes by itself."""
    base = Exploration(model, tokens, said, tokens.text)
    base.run(lambda: None)
    assert base.outcome is not None
    carried = []
    for wish in _wishes(base):
        changed = base.changed(wish)
        changed.run(lambda: None)
        assert changed.outcome is not None
        carried.append((wish.masked, wish.removed, changed.outcome))
    return Trials(base.outcome, tuple(carried))


def _wishes(base: Exploration) -> Iterator[Wish]:
    pieces = base.tokens
    words = [word for word in pieces.words if not pieces.special[word.start]][:MOST]
    for word in words:
        yield Wish(masked=tuple(range(word.start, word.stop)))
    layers = base.observation.layers
    if len(words) + sum(layer.heads for layer in layers) > MOST:
        return
    for number, layer in enumerate(layers):
        for head in range(layer.heads):
            yield Wish(removed=((number, head),))
