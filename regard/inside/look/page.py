"""Page: what a page shows of a text that a model read, kept layer by layer as the model runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from regard.errors import RegardError
from regard.inside.observe.layer import ObservedLayer
from regard.inside.observe.observation import Observation
from regard.inside.observe.observe import observe
from regard.inside.textmodel import TextModel
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
        model: TextModel,
        tokens: Pieces,
        target: Pieces | None = None,
        layers: Sequence[int] | None = None,
    ) -> None:
        self.model, self.layers = model, layers
        self.count = len(tokens)
        self.texts = texts_of(tokens, target, model.has_both)
        self.names = names_of(tokens, target, model.has_both)
        self.sheets: list[Sheet] = []

    def add(self, observation: Observation, layer: ObservedLayer) -> None:
        """Take a layer of an observation whose tokens are ``names``."""
        if self.layers is None or layer.number in self.layers:
            self.sheets.append(observation.sheet(layer, self.texts))

    def subject(self, observation: Observation) -> Subject:
        """All that was added; raises if it is too much for a page."""
        title = self.model.title
        subject = observation.subject(
            model=title, texts=self.texts, sheets=self.sheets, notes=notes_on(title, self.texts)
        )
        _check_size(subject.numbers, self.count, len(self.sheets))
        return subject


def subject_of_text(
    model: TextModel,
    tokens: Pieces,
    target: Pieces | None = None,
    layers: Sequence[int] | None = None,
) -> Subject:
    """Run ``model`` over a text (its decoder over ``target``) and keep all that a page shows."""
    page = PageLayers(model, tokens, target, layers)
    return page.subject(_observed(page, tokens, target))


def _observed(page: PageLayers, tokens: Pieces, target: Pieces | None) -> Observation:
    """One pass; the layers are added to the page as they run."""

    def add(layer: ObservedLayer) -> None:
        page.add(observation, layer)

    network = page.model.network
    with observe(network, page.layers, tokens=page.names, each=add, values=True) as observation:
        page.model.run(tokens, target)
    return observation


def open_at(subject: Subject, look: Look, text: str, *, compared: bool = False) -> Subject:
    """The page of ``text``, opened where the look was."""
    request = look.request
    start: dict[str, Any] = {"view": "overview" if request.head is None else "head"}
    start["head"] = request.head or 0
    if look.place is not None:
        start |= {"view": "head", "query": look.place.start}
    if compared:
        start["view"] = "compare"
    subject.start = {**start, "words": request.words, "sinks": not request.no_sink}
    subject.title = title_of(text) or subject.title
    return subject


def title_of(text: str) -> str:
    """The beginning of a text in one line."""
    return " ".join(text[:200].split())


def check_page(model: TextModel, tokens: Pieces, layers: Sequence[int] | None = None) -> None:
    """Raise if the page of a long text would be too large, by the size of its beginning."""
    if len(tokens) <= TRIED or model.has_both:
        return
    beginning = tokens.beginning(TRIED)
    page = PageLayers(model, beginning, None, layers)
    _observed(page, beginning, None)
    times, numbers = len(tokens) / TRIED, 0.0
    for sheet in page.sheets:
        vectors, pairs = (sheet.query, sheet.key, sheet.value), (sheet.weights, sheet.bias)
        numbers += times * sum(part.size for part in vectors if part is not None)
        numbers += times**2 * sum(part.size for part in pairs if part is not None)
    _check_size(numbers, len(tokens), len(page.sheets))


def _check_size(numbers: float, tokens: int, layers: int) -> None:
    size = numbers * PER_NUMBER
    if size > MOST_MEGABYTES:
        raise RegardError(
            f"a page of {tokens:,} tokens and {layers} layers would have about {size:,.0f} MB, "
            f"more than {MOST_MEGABYTES}: choose one layer with --layer, or look at the text with "
            "'regard serve'"
        )


def names_of(
    tokens: Pieces, target: Pieces | None, both: bool
) -> list[str] | Mapping[str, list[str]]:
    """The tokens as an observation takes them; of encoder and decoder where there are both."""
    if not both:
        return tokens.labels
    return {"encoder": tokens.labels, "decoder": [] if target is None else target.labels}


def texts_of(tokens: Pieces, target: Pieces | None, both: bool) -> list[Pieces]:
    """What a page knows about the text that a model read, and about its decoder's."""
    source = replace(tokens, name="source" if both else "")
    return [source] if target is None else [source, replace(target, name="target")]


def notes_on(model: str, texts: Sequence[Pieces]) -> list[str]:
    """What must be said beside texts that ``model`` read."""
    note = Unknown(*texts).note(model)
    return [note] if note else []
