"""Observation: what observing a model gave, a map for each layer and head."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from regard.attention.map import AttentionMap
from regard.attention.wanted import Statistics, Wanted
from regard.errors import RegardError
from regard.inside.observe.layer import ObservedLayer
from regard.inside.observe.sheets import sheet_of
from regard.pieces.pieces import Pieces
from regard.pieces.sheet import Subject, as_array

Tokens = Sequence[str] | Sequence[Sequence[str]]
LAYER_KINDS = ("self", "cross", "encoder", "decoder")


class Observation:
    """Layers in the order in which they ran; ``observation[layer, head]`` is a map.

    ``tokens`` gives the maps' texts: a list, a list for each batch item, or either of them under
    "encoder" and "decoder". A list is as long as the padded text or as the text without padding.
    """

    def __init__(
        self,
        *,
        layers: Sequence[int] | None = None,
        heads: Sequence[int] | None = None,
        dtype: torch.dtype | None = None,
        tokens: Tokens | Mapping[str, Tokens] | None = None,
        wanted: Wanted | None = None,
        values: bool = False,
    ) -> None:
        self.layers: list[ObservedLayer] = []
        self.unseen: dict[str, str] = {}
        """Attention modules that ran and could not be told, by name, each with the reason."""
        self.chosen_layers = None if layers is None else frozenset(layers)
        self.chosen_heads = None if heads is None else tuple(heads)
        self.dtype = dtype
        self.tokens = tokens
        self.wanted = wanted
        self.values = values

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[ObservedLayer]:
        return iter(self.layers)

    def __getitem__(self, place: tuple[int, int]) -> AttentionMap:
        """Self-attention of the first batch item; see :meth:`map` for all others."""
        if not isinstance(place, tuple) or len(place) != 2:
            raise RegardError(f"write observation[layer, head], got observation[{place!r}]")
        return self.map(*place)

    def map(self, layer: int, head: int, batch: int = 0, kind: str = "self") -> AttentionMap:
        """The map of one head of one batch item, padding removed.

        ``kind``: "self", "cross", or, where a model has both, the self-attention of its
        "encoder" or "decoder". Layers are counted from 0 in each.
        """
        found = self.layer(layer, kind)
        return found.map(head, batch, *self.texts_of(found, batch))

    def texts_of(self, layer: ObservedLayer, batch: int = 0) -> tuple[list[str], list[str]]:
        """The tokens of a layer's queries and of its keys, empty where they are not known."""
        item = layer.item(batch)
        if layer.kind == "cross" and not isinstance(self.tokens, Mapping):
            return [], []  # which of the two texts a single list is, is not said
        side = "encoder" if layer.kind == "cross" else layer.part
        queries = self._texts(layer.part, batch, item.rows, layer.query.shape[-2])
        return queries, self._texts(side, batch, item.columns, layer.key.shape[-2])

    def statistics(
        self, layer: int, *, batch: int = 0, kind: str = "self", **wanted: Any
    ) -> Statistics:
        """Statistics of all heads of a layer in one pass: see regard.attention.statistics.

        Nothing is computed if they came with the model's output: ``observe(statistics=…)``.
        """
        item, asked = self.layer(layer, kind).item(batch), Wanted.of(wanted)
        if item.found is not None and self.wanted is not None and self.wanted.covers(asked):
            return item.found.only(asked)
        return item.statistics(asked)

    def layer(self, number: int, kind: str = "self") -> ObservedLayer:
        """A layer by its number and kind."""
        if kind not in LAYER_KINDS:
            raise RegardError(f"kind must be one of {', '.join(LAYER_KINDS)}, got {kind!r}")
        wanted = "cross" if kind == "cross" else "self"
        found = [layer for layer in self.layers if layer.kind == wanted]
        parts = {layer.part for layer in found}
        if kind in ("encoder", "decoder"):
            found = [layer for layer in found if layer.part == kind]
        elif kind == "self" and {"encoder", "decoder"} <= parts:
            raise RegardError(
                "this model has an encoder and a decoder: say which with "
                "map(layer, head, kind='encoder') or kind='decoder'"
            )
        elif len(parts) > 1:  # two towers: counted in the order in which they ran
            found = found[number : number + 1] if number >= 0 else []
            number = found[0].number if found else number
        for layer in found:
            if layer.number == number:
                return layer
        known = sorted(layer.number for layer in found)
        raise RegardError(
            f"no layer {number} of kind {kind!r} was observed; there are {known}{self.not_seen}"
        )

    @property
    def not_seen(self) -> str:
        """A sentence on the modules that were not seen; empty if there are none."""
        if not self.unseen:
            return ""
        (name, reason), more = next(iter(self.unseen.items())), len(self.unseen) - 1
        others = f" and {more} more (observation.unseen)" if more else ""
        return f"; not seen: {name}, because {reason}{others}"

    def _texts(self, part: str, batch: int, kept: Tensor, whole: int) -> list[str]:
        tokens = self.tokens
        if isinstance(tokens, Mapping):
            tokens = tokens.get(part)
        if not tokens:
            return []
        texts = list(tokens if isinstance(tokens[0], str) else tokens[batch])
        if len(texts) == len(kept):
            return [str(text) for text in texts]
        if len(texts) != whole:
            raise RegardError(
                f"tokens must be one for each of {whole} positions, or of {len(kept)} without "
                f"padding, got {len(texts)}"
            )
        return [str(texts[i]) for i in kept.tolist()]

    def subject(
        self,
        title: str = "",
        *,
        batch: int = 0,
        model: str = "",
        start: dict[str, Any] | None = None,
    ) -> Subject:
        """What a page shows: every layer that was observed, for one batch item."""
        texts: list[Pieces] = []
        sheets = [
            sheet_of(layer, batch, self.texts_of(layer, batch), texts) for layer in self.layers
        ]
        words = " ".join(texts[0].labels) if texts else ""
        shown = title or words[:200] or "Attention"
        start = dict(start or {})
        return Subject(shown, texts, sheets, model, "observed", start=start)

    def save_html(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "",
        model: str = "",
        batch: int = 0,
        compare: Mapping[str, Observation] | None = None,
    ) -> None:
        """Write a page that shows all of it and opens from disk (docs/page.md).

        ``compare``: others, of another text or another model, by the names that they go by; the
        page opens where they are compared.
        """
        from regard.show import save_subjects

        start = {"view": "compare"} if compare else None
        subjects = [self.subject(title, batch=batch, model=model, start=start)]
        subjects += [o.subject(batch=batch, model=name) for name, o in (compare or {}).items()]
        save_subjects(path, *subjects)

    def _repr_html_(self) -> str:
        """In a notebook: the page."""
        from regard.show import subjects_in_notebook

        subject = self.subject()
        if self.layers:
            first = self.layers[0]
            subject.picture = as_array(first.map((first.chosen or (0,))[0]).pooled())
        return subjects_in_notebook(subject)

    def plot(self, layer: int, head: int, axes: Any = None, **options: Any) -> Any:
        """Draw one head on matplotlib axes."""
        return self[layer, head].plot(axes, **options)

    def __repr__(self) -> str:
        kinds = [f"{layer.part} {layer.kind}".strip() for layer in self.layers]
        counted = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        return f"Observation({counted or 'nothing yet'})"
