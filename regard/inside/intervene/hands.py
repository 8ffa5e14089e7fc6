"""Hands: what the user asks to be changed, and which of it each layer is due as it is called."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import torch
from torch import Tensor, nn

from regard.errors import RegardError
from regard.inside.intervene.change import Change, Edit, Extent, Positions, numbers
from regard.inside.intervene.plan import CallPlan
from regard.inside.observe.call import Call
from regard.inside.observe.observation import LAYER_KINDS
from regard.inside.observe.places import LayerPlace, Places, is_cross, opened, part_of

Replacement = Literal["zero", "mean"] | Tensor
Means = Callable[[int, int, str, Iterable[Any]], Tensor]
"""The mean output (width,) of a head over texts: of (layer, head, kind, texts)."""


class Hands(Places):
    """Changes of one model, in effect while the block is open.

    Layers and heads are counted from 0. Where a model has an encoder and a decoder, ``kind`` says
    whose attention is meant: "encoder", "decoder", or "cross" between them. Positions are those of
    the padded text. ``batch`` restricts a change to one row of the batch.
    """

    def __init__(self, model: nn.Module, means: Means) -> None:
        super().__init__(model)
        self.changes: list[Change] = []
        self.paused = False
        self.meets: Callable[[LayerPlace, Extent], None] | None = None
        """Told of each call of attention, if somebody wants to know."""
        self._means = means
        self._both = {"encoder", "decoder"} <= {
            part_of(name) for name, module in model.named_modules() if is_named(module)
        }
        self._places: dict[tuple[str, int], LayerPlace] = {}
        self._ends: dict[str, int] = {}
        """By the layer's name, the position behind the last query it was asked."""
        self._first: dict[str, int] = {}
        """By part, the position of the first query of the self-attention last called."""
        self._met: set[Change] = set()
        self.plans: dict[str, CallPlan | None] = {}
        """By the layer's name, what its last call was due."""
        self._depth = 0
        """Of the modules called attention that are running."""
        self._asked: dict[int, tuple[str, int]] = {}
        """What computed attention inside the outermost of them, by id, and its place."""

    def mask(
        self,
        layer: int | None = None,
        head: Positions = None,
        query: Positions = None,
        key: Positions = None,
        *,
        renormalise: bool = True,
        kind: str = "self",
        batch: int | None = None,
    ) -> None:
        """Let ``query`` not look at ``key``; what is left out stands for all.

        The pair's score becomes −inf, so that the row's other weights grow; without
        ``renormalise`` its weight becomes 0 and the others stay. A row that then sees nothing
        mixes zeros.
        """
        queries, keys = numbers(query, "query"), numbers(key, "key")
        if queries is None and keys is None:
            raise RegardError(
                "mask wants query=, key= or both; to take a whole head away, remove it"
            )
        self._add(layer, head, kind, batch, query=queries, key=keys, renormalise=renormalise)

    def remove(
        self,
        layer: int,
        head: Positions = None,
        *,
        by: Literal["zero", "mean"] = "zero",
        texts: Iterable[Any] | None = None,
        kind: str = "self",
        batch: int | None = None,
    ) -> None:
        """Put zeros, or the mean over ``texts``, in place of what a head puts out.

        A text is what the model is called with: a mapping of keywords, or a tensor of ids.
        """
        if by not in ("zero", "mean"):
            raise RegardError(f"a head is removed by 'zero' or by 'mean', got {by!r}")
        if by == "mean" and texts is None:
            raise RegardError("remove(by='mean') wants texts=, over which the mean is taken")
        self.replace(layer, head, by=by, texts=texts, kind=kind, batch=batch)

    def replace(
        self,
        layer: int,
        head: Positions = None,
        *,
        by: Replacement | Edit,
        texts: Iterable[Any] | None = None,
        kind: str = "self",
        batch: int | None = None,
    ) -> None:
        """Put something in place of what a head mixed: "zero", "mean", a tensor, or a function.

        "mean" is that over ``texts``, or without any over the positions of each pass, padding
        included. A tensor broadcasts to (batch, heads, queries, width), and so does what a
        function makes of that.
        """
        if texts is not None and by != "mean":
            raise RegardError("texts= goes with by='mean'")
        if texts is None:
            self._add(layer, head, kind, batch, edit=_edit(by))
            return
        chosen = numbers(head, "head")
        if chosen is None:
            raise RegardError("by='mean' over texts is taken head by head: name the heads")
        several = list(texts)
        for one in chosen:
            mean = self._means(layer, one, kind, several)
            self._add(layer, one, kind, batch, edit=_edit(mean))

    def scale(
        self,
        layer: int,
        head: Positions = None,
        *,
        by: float,
        kind: str = "self",
        batch: int | None = None,
    ) -> None:
        """Multiply what a head puts out by a number."""
        if not math.isfinite(by):
            raise RegardError(f"a head is scaled by a finite number, got {by}")
        self._add(layer, head, kind, batch, edit=lambda context: context * by)

    def sharpen(
        self,
        layer: int | None = None,
        head: Positions = None,
        *,
        by: float,
        kind: str = "self",
        batch: int | None = None,
    ) -> None:
        """Multiply the scores q·k by a number: above 1 a query looks more sharply at what fits it
        best, at 0 everywhere alike. A bias that the model adds to its scores stays as it is."""
        if not (math.isfinite(by) and by >= 0):
            raise RegardError(f"attention is sharpened by a number from 0 on, got {by}")
        self._add(layer, head, kind, batch, factor=float(by))

    def tap(self, edit: Edit, kind: str = "self") -> None:
        """Let ``edit`` see, and change, what all heads of every layer of a kind put out, as each
        layer runs: (batch, heads, queries, width)."""
        self._add(None, None, kind, None, edit=edit)

    def _add(
        self, layer: int | None, head: Positions, kind: str, batch: int | None, **what: Any
    ) -> None:
        if kind not in LAYER_KINDS:
            raise RegardError(f"kind must be one of {', '.join(LAYER_KINDS)}, got {kind!r}")
        if kind == "self" and self._both:
            raise RegardError(
                "this model has an encoder and a decoder: say which with kind='encoder', "
                "kind='decoder' or kind='cross'"
            )
        number = numbers(layer, "layer")
        self.changes.append(
            Change(number[0] if number else None, kind, numbers(head, "head"), batch, **what)
        )

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of attention that can be named."""
        return ("encoder", "decoder", "cross") if self._both else ("self",)

    @contextmanager
    def held_back(self) -> Any:
        """Inside the block the model is as it was."""
        before, self.paused = self.paused, True
        try:
            yield
        finally:
            self.paused = before

    def due(self, module: nn.Module, cross: bool | None = None) -> tuple[LayerPlace, list[Change]]:
        """``module`` computes attention: the layer's place, and the changes that are for it."""
        if again := self._asked.get(id(module)):
            place = self._places[again]
            due = [] if self.paused else self._for(place)
            if due:
                raise RegardError(
                    f"{due[0].where} cannot be changed: {place.name} computes attention in parts"
                )
            return place, due
        called = self.called(module)
        if self._depth:
            self._asked[id(module)] = called
        if called not in self._places:
            crossing = is_cross(module, called[0]) if cross is None else cross
            self._places[called] = self.numbered(called[0], crossing)
        place = self._places[called]
        return place, [] if self.paused else self._for(place)

    def _for(self, place: LayerPlace) -> list[Change]:
        return [c for c in self.changes if place.answers(c.layer, c.kind)]

    def enter_attention(self) -> None:
        """A module that is called attention begins."""
        if not self._depth:
            self._asked.clear()
        self._depth += 1

    def leave_attention(self) -> bool:
        """It ends: whether it is the outermost one, and nothing that hands reach ran in it."""
        self._depth -= 1
        if self._depth:
            return False
        reached = bool(self._asked)
        self._asked.clear()
        return not reached

    def extent(
        self, place: LayerPlace, sizes: Sequence[int], device: torch.device, cached: bool = True
    ) -> Extent:
        """Of a call of (batch, heads, queries, keys); ``cached``: a text may come in steps."""
        batch, heads, queries, keys = sizes
        if place.kind == "cross":
            return Extent(batch, heads, queries, keys, self._first.get(place.part, 0), 0, device)
        first = 0
        if cached and keys > queries:
            first = self._ends.get(place.name, 0)
            if not first or keys > first + queries:
                return Extent(batch, heads, queries, keys, None, 0, device)
        self._ends[place.name] = first + queries
        self._first[place.part] = first
        return Extent(batch, heads, queries, keys, first, first + queries - keys, device)

    def note_end(self, place: LayerPlace, end: int) -> None:
        """A layer has read so many positions."""
        self._ends[place.name] = end

    def planned(
        self,
        due: tuple[LayerPlace, list[Change]],
        extent: Extent,
        allowed: Callable[[], Tensor | None],
    ) -> CallPlan | None:
        """The plan of a call; None if nothing is to be done to it."""
        if self.meets is not None:
            self.meets(due[0], extent)
        if extent.first is None and any(change.is_mask for change in due[1]):
            raise RegardError(
                f"{due[0].name} has keys of positions that were not read in this block, as with a "
                "static cache: begin the text inside the block, with the default cache"
            )
        here = [c for c in due[1] if not c.is_mask or (extent.rows(c) and extent.columns(c))]
        self._met.update(here)
        plan = self.plans[due[0].name] = CallPlan(here, extent, allowed) if here else None
        return plan

    def beside(self, module: nn.Module, reason: str) -> None:
        """``module`` computed attention where no family can change it: it is a layer all the same,
        and it is refused if a change is for it."""
        place, due = self.due(module)
        if due:
            raise RegardError(f"{due[0].where} cannot be changed: {place.name} {reason}")

    def check(self) -> None:
        """Raise for a change that met no layer or no position of what ran."""
        if not self.runs:
            return
        for change in self.changes:
            if change in self._met:
                continue
            places = [p for p in self._places.values() if p.answers(None, change.kind)]
            if not any(p.answers(change.layer, change.kind) for p in places):
                raise RegardError(
                    f"nothing was changed in {change.where}: of this kind {_count(places)} ran "
                    "inside the block"
                )
            most = max(self._ends.values(), default=0)
            raise RegardError(
                f"nothing was masked in {change.where}: query {change.query} and key {change.key} "
                f"were not both there; the text had {most} positions, from 0"
            )


def hands_on(module: nn.Module) -> list[Hands]:
    """The open hands of this thread or task whose model has ``module``."""
    return [some for some in opened() if isinstance(some, Hands) and id(module) in some.names]


def seen_through(module: nn.Module, call: Call) -> Call:
    """What is to be observed of the call that ``module`` has just made, as hands changed it."""
    for hands in hands_on(module):
        plan = hands.plans.get(hands.names[id(module)])
        call = call if plan is None else plan.seen(call)
    return call


def is_named(module: nn.Module) -> bool:
    """Whether a module is called attention, by its class."""
    name = type(module).__name__.lower()
    return ("attention" in name or "attn" in name) and not hasattr(module, "from_pretrained")


def _edit(by: Any) -> Edit:
    if isinstance(by, Tensor):
        return lambda context: by.to(context.device, context.dtype).expand_as(context)
    if callable(by):
        return by  # type: ignore[no-any-return]
    if by == "zero":
        return torch.zeros_like
    if by == "mean":
        return _mean_of_pass
    raise RegardError(f"a head is replaced by 'zero', 'mean', a tensor or a function, got {by!r}")


def _mean_of_pass(context: Tensor) -> Tensor:
    if context.shape[-2] == 1:
        raise RegardError(
            "by='mean' without texts= is the mean over the positions of a pass, and this pass has "
            "one, as a step of generate: give texts="
        )
    return context.mean(-2, keepdim=True).expand_as(context)


def _count(places: Sequence[LayerPlace]) -> str:
    if not places:
        return "no layer"
    return f"layer 0 to {len(places) - 1}" if len(places) > 1 else "layer 0 alone"


def run_on(model: nn.Module, text: Any) -> None:
    """Run a model on what it is called with."""
    with torch.no_grad():
        model(**text) if isinstance(text, Mapping) else model(text)
