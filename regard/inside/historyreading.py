"""A history read by a recommender: what it recommends, what it looked at, what it depended on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.inside.ablate.measure import rank_correlation
from regard.models.language import LanguageModel
from regard.models.notedattention import ATTENTION, attention_of, of_head_if_any
from regard.pieces.ablation import Ablation, Effect
from regard.pieces.history import Catalogue, History, history_pieces
from regard.pieces.pieces import Pieces
from regard.pieces.tokenizer import SPECIAL
from regard.record import record
from regard.text import Word
from regard.trace import Array, Trace

AT_ONCE = 32
"""Histories that are read together."""


@dataclass(frozen=True)
class Recommendation:
    """What a model recommends to a user."""

    model: str
    """The design."""
    history: History
    pieces: Pieces
    """What was read of it; the first piece is <s>, a place of a piece its row of the history."""
    items: list[str]
    """All that can be recommended, the likeliest first,"""
    titles: list[str]
    """what they are called,"""
    probabilities: list[float]
    attention: Array
    """(layers, heads, pieces): of the last piece, from which all is recommended, its weight of
    every piece; no layers for a design without attention."""
    trace: Trace
    """What was noted while it was read."""

    def weights(self, layer: int | None = None, head: int | None = None) -> Array | None:
        """(pieces,) of a layer, the last if not given, and a head, the mean if not given."""
        return of_head_if_any(self.model, self.attention, layer, head)


@torch.no_grad()
def recommend(
    model: LanguageModel,
    catalogue: Catalogue,
    history: History,
    most: int,
    *,
    traced: bool = False,
) -> Recommendation:
    """Read the last ``most`` items of a history, and rank what may come next; every step of it is
    noted if ``traced``."""
    pieces = history_pieces(catalogue, history, most)
    with record(model.config.model, pieces.labels, only=None if traced else ATTENTION) as trace:
        logits = _after(model, [pieces.ids])
    shares = allowed(logits, catalogue, history)[0].softmax(-1)
    order = [i for i in shares.argsort(descending=True, stable=True).tolist() if shares[i] > 0]
    items = [catalogue.item(number) for number in order]
    return Recommendation(
        model.config.model,
        history,
        pieces,
        items,
        [catalogue.title(item) for item in items],
        shares[order].tolist(),
        attention_of(trace, pieces.words)[:, :, -1],
        trace,
    )


@torch.no_grad()
def depend(
    model: LanguageModel,
    catalogue: Catalogue,
    history: History,
    most: int,
    target: str | None = None,
) -> Ablation:
    """Erase each item of a history in turn, and see how likely ``target`` still is.

    An erased item is as if it had never been: the others move together. Without a target it is what
    the model recommends first. What a user had stays out of the ranking, the erased item too.
    """
    found = recommend(model, catalogue, history, most)
    ids = found.pieces.ids
    wanted = catalogue.number(found.items[0] if target is None else target)
    without = [ids[:place] + ids[place + 1 :] for place in range(1, len(ids))]
    base = allowed(_after(model, [ids]), catalogue, history)[0].softmax(-1)
    changed = allowed(_after(model, without), catalogue, history).softmax(-1)
    weights = found.weights()
    effects = []
    for place, shares in enumerate(changed, 1):
        first = int(shares.argmax())
        effects.append(
            Effect(
                layer=None,
                head=None,
                value=float(shares[wanted]),
                change=float(shares[wanted] - base[wanted]),
                weight=None if weights is None else float(weights[place]),
                key=Word(found.pieces.labels[place], *_row(found.pieces, place)),
                text=catalogue.title(catalogue.item(first)),
            )
        )
    sizes = [abs(effect.change) for effect in effects]
    told = [effect.weight for effect in effects if effect.weight is not None]
    return Ablation(
        found.model,
        f"user {history.user}",
        "probability",
        catalogue.title(catalogue.item(wanted)),
        float(base[wanted]),
        effects,
        rank_correlation(told, sizes) if told else None,
        kind="item",
        said=[f"user {history.user}: each of the {len(effects)} items that were read was erased"],
    )


def allowed(logits: Tensor, catalogue: Catalogue, history: History) -> Tensor:
    """Logits (rows, V) in double precision, −∞ where nothing can be recommended."""
    kept = logits.double().cpu().clone()
    kept[:, : len(SPECIAL)] = -torch.inf
    if not catalogue.again:
        had = [item for item in history.items if item in catalogue]
        kept[:, catalogue.numbers(had)] = -torch.inf
    return kept


def _row(pieces: Pieces, place: int) -> tuple[int, int]:
    (row,) = pieces.places[place]
    return row, row + 1


def _after(model: LanguageModel, rows: Sequence[list[int]]) -> Tensor:
    """Logits of what follows each of ``rows``, all equally long."""
    found = []
    for start in range(0, len(rows), AT_ONCE):
        ids = torch.tensor(rows[start : start + AT_ONCE], device=model.device)
        lengths = torch.full((len(ids),), ids.shape[1], device=model.device)
        found.append(model.eval().following(ids, lengths))
    return torch.cat(found)
