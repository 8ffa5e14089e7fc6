"""Measured: the layers of a page with a measure in place of their weights, for whoever asks for it.

Weights stay what a page opens with. What costs no more than another pass is added to the page of a
short text unasked; the rest where it was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from torch import Tensor

from regard.errors import DataError, RegardError
from regard.inside.measures.measure import Measure, measure_of
from regard.inside.observe.layer import Item, ObservedLayer
from regard.inside.realmodel import RealModel
from regard.inside.textmodel import TextModel
from regard.pieces.measures import MEASURES
from regard.pieces.pieces import Pieces
from regard.pieces.sheet import MeasureSheets, Sheet, as_array

UNASKED = ("norm", "rollout")
"""Measures that are added to the page of a text of up to SHORT tokens."""
SHORT = 64
BY_HEAD = ("norm", "gradient")
"""Measures with a map for every head; the others have one for a layer."""


def start_measure(
    name: str, model: RealModel, tokens: Pieces, target: Pieces | None, goal: str | None = None
) -> tuple[Measure, str]:
    """A measure of what ``model`` does with a text; of a gradient also the number that it is of."""
    scored = ""

    def score() -> Tensor:
        from regard.inside.ablate.loading import trial_of  # brings every model that regard trains

        nonlocal scored
        if not isinstance(model, TextModel):
            raise RegardError("--measure gradient is of what a model says of a text")
        number, scored = trial_of(model, tokens, goal).score()
        return number

    again = score if name == "gradient" else partial(model.run, tokens, target)
    return Remembered(measure_of(name, model.network, again)), scored


@dataclass
class Remembered:
    """A measure that is asked twice about a layer, by a look and by its page."""

    measure: Measure
    last: tuple[ObservedLayer, Item] | None = None

    def __call__(self, layer: ObservedLayer) -> Item:
        if self.last is None or self.last[0] is not layer:
            self.last = layer, self.measure(layer)
        return self.last[1]


class PageMeasures:
    """The measures of a page: :meth:`add` takes each layer as it runs."""

    def __init__(
        self,
        model: RealModel,
        tokens: Pieces,
        target: Pieces | None = None,
        asked: Sequence[str] = (),
        goal: str | None = None,
        unasked: Sequence[str] = UNASKED,
    ) -> None:
        """``asked`` are those that must be there; ``goal`` is what a gradient is of."""
        self.asked = tuple(asked)
        self.found = {name: MeasureSheets(name) for name in MEASURES}
        self.running: dict[str, Measure] = {}
        wanted = {*self.asked, *(unasked if len(tokens) <= SHORT else ())}
        for name in MEASURES:
            if name in wanted:
                try:
                    started = start_measure(name, model, tokens, target, goal)
                except RegardError as error:
                    self._fails(name, error)
                else:
                    self.running[name], self.found[name].scored = started

    def add(self, layer: ObservedLayer, sheet: Sheet | None) -> None:
        """All measures of a layer, of which ``sheet`` is on the page; None: it is not."""
        for name, measure in list(self.running.items()):
            item = None
            if layer.kind == "self":
                try:
                    item = _square(measure(layer))
                except RegardError as error:
                    self._fails(name, error)
                    continue
            if sheet is not None:
                made = None if item is None else measured_sheet(sheet, item)
                self.found[name].sheets.append(made)

    def _fails(self, name: str, error: RegardError) -> None:
        """What was asked for must be there; of the rest the page says why it is not."""
        if name in self.asked:
            raise error
        self.running.pop(name, None)
        self.found[name] = MeasureSheets(name, reason=str(error))


def measured_numbers(heads: int, tokens: int, measures: Sequence[str]) -> int:
    """Numbers of the measures of a layer."""
    return tokens**2 * sum(heads if name in BY_HEAD else 1 for name in measures)


def measured_sheet(sheet: Sheet, item: Item) -> Sheet:
    """A layer of a page with what was measured in place of its weights."""
    assert item.weights is not None
    weights = as_array(item.weights)
    heads = sheet.heads if len(weights) == len(sheet.heads) else range(len(weights))
    places = sheet.queries, sheet.keys, sheet.kind, sheet.part
    return Sheet(sheet.name, sheet.number, *places, heads, weights=weights)


def _square(item: Item) -> Item:
    if len(item.rows) != len(item.columns):
        raise DataError(
            f"a measure is of words that attend to the same words: {len(item.rows)} of them attend "
            f"to {len(item.columns)}"
        )
    return item
