"""Page: what a page shows of a text that a model read, kept layer by layer as the model runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from regard.errors import RegardError
from regard.inside.look.measured import PageMeasures, measured_numbers
from regard.inside.observe.layer import ObservedLayer
from regard.inside.observe.observe import observe
from regard.inside.observe.sheets import sheet_of
from regard.inside.realmodel import RealModel
from regard.pieces.look import Look
from regard.pieces.pieces import Pieces
from regard.pieces.sheet import Sheet, Subject
from regard.pieces.unknown import Unknown

MOST_MEGABYTES = 256
"""The largest page that is written."""
PER_NUMBER = 2.2e-6
"""Megabytes of a page for each number that it carries in half precision."""
TRIED = 64
"""Tokens of a long text by which the size of its page is foreseen."""


class PageLayers:
    """Layers as sheets: :meth:`add` takes each as it runs, :meth:`subject` gives all of them."""

    def __init__(
        self,
        model: RealModel,
        tokens: Pieces,
        target: Pieces | None = None,
        layers: Sequence[int] | None = None,
        measures: PageMeasures | None = None,
    ) -> None:
        self.model, self.tokens, self.target, self.layers = model, tokens, target, layers
        self.measures = measures
        self.texts = [replace(tokens, name="source" if model.has_both else "")]
        if target is not None:
            self.texts.append(replace(target, name="target"))
        self.sheets: list[Sheet] = []

    def add(self, layer: ObservedLayer) -> None:
        """Take a layer while its queries, keys and values are there."""
        sheet = self._sheet(layer)
        if sheet is not None:
            self.sheets.append(sheet)
        if self.measures is not None:
            self.measures.add(layer, sheet)

    def _sheet(self, layer: ObservedLayer) -> Sheet | None:
        """None of a layer that was not asked for."""
        if self.layers is not None and layer.number not in self.layers:
            return None
        queries = keys = self.tokens
        if self.target is not None and layer.part == "decoder":
            queries = self.target
            keys = self.tokens if layer.kind == "cross" else self.target
        names = queries.labels, keys.labels
        return sheet_of(layer, 0, names, self.texts)

    def subject(self, text: str = "") -> Subject:
        """All that was added, under the beginning of ``text`` or of its tokens."""
        title, model = title_of(text or " ".join(self.tokens.labels)), self.model.title
        unknown = Unknown(*self.texts).note(model)
        notes = [unknown] if unknown else []
        subject = Subject(title, self.texts, self.sheets, model, "observed", notes)
        if self.measures is not None:
            subject.measures = list(self.measures.found.values())
        return subject

    def check(self) -> None:
        """Raise if it is too much for a page."""
        _check_size(self.subject().numbers, len(self.tokens), len(self.sheets))


def subject_of_text(
    model: RealModel,
    tokens: Pieces,
    target: Pieces | None = None,
    layers: Sequence[int] | None = None,
    measures: PageMeasures | None = None,
) -> Subject:
    """Run ``model`` over a text (its decoder over ``target``) and keep all that a page shows."""
    page = PageLayers(model, tokens, target, layers, measures)
    _run(page)
    page.check()
    return page.subject()


def _run(page: PageLayers) -> None:
    """One pass; the layers are added to the page as they run."""
    layers = None if page.measures is not None else page.layers  # rollout goes through all of them
    with observe(page.model.network, layers, each=page.add, values=True):
        page.model.run(page.tokens, page.target)


def open_at(subject: Subject, look: Look, text: str, *, compared: bool = False) -> Subject:
    """The page of ``text``, opened where the look was."""
    request = look.request
    start: dict[str, Any] = {"view": "compare"} if compared else {}
    if request.head is not None:
        start["head"] = request.head
    if look.place is not None:
        start["query"] = look.place.start
    if request.measure:
        start["measure"] = request.measure
    subject.start = start | {"sinks": not request.no_sink}
    subject.title = title_of(text) or subject.title
    return subject


def title_of(text: str) -> str:
    """The beginning of a text in one line."""
    return " ".join(text[:200].split())


def check_page(
    model: RealModel,
    tokens: Pieces,
    layers: Sequence[int] | None = None,
    measures: Sequence[str] = (),
) -> None:
    """Raise if the page of a long text would be too large, by the size of its beginning."""
    if len(tokens) <= TRIED or model.has_both:
        return
    page = PageLayers(model, tokens.beginning(TRIED), None, layers)
    _run(page)
    times, numbers = len(tokens) / TRIED, 0.0
    for sheet in page.sheets:
        vectors, pairs = (sheet.query, sheet.key, sheet.value), (sheet.weights, sheet.bias)
        numbers += times * sum(part.size for part in vectors if part is not None)
        numbers += times**2 * sum(part.size for part in pairs if part is not None)
        numbers += measured_numbers(len(sheet.heads), len(tokens), measures)
    _check_size(numbers, len(tokens), len(page.sheets))


def _check_size(numbers: float, tokens: int, layers: int) -> None:
    size = numbers * PER_NUMBER
    if size > MOST_MEGABYTES:
        raise RegardError(
            f"a page of {tokens:,} tokens and {layers} layers would have about {size:,.0f} MB, "
            f"more than {MOST_MEGABYTES}: choose one layer with --layer, or look at the text with "
            "'regard serve'"
        )
