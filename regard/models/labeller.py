"""Labeller: a label for each piece: of a word, a patch of an image, a step of a series.

Shapes::

    pieces (B, n) token ids, or (B, n, numbers) of other pieces, padded behind; lengths (B,)
    words (B, n): the number of the word that each piece belongs to, −1 behind the end
    logits (B, m, labels): of m words; of m = n pieces, if each is labelled
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.errors import DataError
from regard.models.config import whole
from regard.models.design import DESIGNS, DesignConfig, shape, widest
from regard.models.padding import check_batch
from regard.models.sequence import SequenceModel
from regard.record import note, recording

LABELLERS = ("alone", "conv", *DESIGNS)
"""Each piece alone; each among its neighbours; every design that reads."""
NO_LABEL = -100
"""In the place of a label, of what is padding."""
DROPOUT = 0.2


@dataclass(frozen=True)
class LabellerConfig(DesignConfig):
    """The shape of a labeller: of tokens (``vocabulary``), or of pieces that are numbers."""

    labels: tuple[str, ...] = ()
    """The names of the labels."""
    vocabulary: int = 0
    """Of words: how many tokens there are; 0: pieces are numbers."""
    channels: int = 0
    """Numbers of a step of a series, or of a pixel of an image."""
    places: int = 0
    """Of pieces that are numbers: how many of them are read at once."""
    patch: int = 0
    """Of an image: pixels on a side of a patch."""
    columns: int = 0
    """Of an image: patches that stand in a row."""

    what = "a labeller"
    designs = LABELLERS
    always = ("dropout",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))  # JSON has lists
        super().__post_init__()

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.vocabulary != 0:
            yield from whole("vocabulary", self.vocabulary, 5)
            numbers: tuple[str, ...] = ()
        else:
            numbers = ("channels", "places", *(("patch", "columns") if self.patch else ()))
        for name in ("channels", "places", "patch", "columns"):
            if name in numbers:
                yield from whole(name, getattr(self, name), 1)
            elif getattr(self, name) != 0:
                yield f"there is no {name} here: leave it out, got {getattr(self, name)!r}"
        if len(self.labels) < 2 or len(set(self.labels)) < len(self.labels):
            yield f"labels must be at least two different ones, got {list(self.labels)}"

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"labels": list(self.labels)}

    @property
    def across(self) -> int:
        return self.columns

    @property
    def numbers(self) -> int:
        """How many numbers a piece has that is no token."""
        return self.channels * max(1, self.patch) ** 2


def sized_labeller(
    model: str, size: str, labels: tuple[str, ...], **settings: Any
) -> LabellerConfig:
    """The config of a design in a named ``size``; ``settings`` say what it reads, and replace
    single numbers. ``conv`` gets as many hidden units as give it the Transformer's parameters."""
    own = shape(model, size, LABELLERS) | {"dropout": DROPOUT, "labels": labels} | settings
    if model == "conv" and "hidden" not in own:
        reads = {k: v for k, v in settings.items() if k in READS}
        full = sized_labeller("transformer", size, labels, **reads)
        own["hidden"] = widest(
            lambda hidden: parameters(LabellerConfig(model=model, hidden=hidden, **own)),
            parameters(full),
        )
    return LabellerConfig(model=model, **own)


READS = ("vocabulary", "channels", "places", "patch", "columns")
"""Settings that say what is read, whatever the design."""


def parameters(config: LabellerConfig) -> int:
    """How many numbers are learned."""
    with torch.device("meta"):
        return sum(p.numel() for p in Labeller(config).parameters())


class Labeller(SequenceModel):
    """p(label of word w | all that was read) = softmax(W_o s_w + b), s_w = mean of h_j, j in w.

    h_j is what the design makes of piece j: ``alone`` its own vector; ``conv`` that of the piece
    and its neighbours; in a recurrent design all that was read up to it, nothing of what comes
    behind; in the Transformer the piece as it stands among all others. A piece that is no token
    but numbers has the vector W (x_j − mean) / spread + p_j, with a learned p_j for each place.
    """

    mean: Tensor
    """(numbers,) of a piece that is numbers: what is taken from them,"""
    spread: Tensor
    """and what they are divided by; 0 and 1 unless :meth:`set_scale` said otherwise."""

    def __init__(self, config: LabellerConfig) -> None:
        super().__init__(config, config.vocabulary, forwards=False)
        self.config = config
        if not config.vocabulary:
            self.numbers = nn.Linear(config.numbers, config.width)
            self.places = nn.Parameter(torch.randn(config.places, config.width) * 0.02)
            self.register_buffer("mean", torch.zeros(config.numbers))
            self.register_buffer("spread", torch.ones(config.numbers))
        self.output = nn.Linear(config.features, len(config.labels))

    def forward(self, pieces: Tensor, lengths: Tensor, words: Tensor | None = None) -> Tensor:
        """The scores of every label for each word, or for each piece without ``words``."""
        vectors = self.embed(pieces) if self.config.vocabulary else self._vectors(pieces)
        check_batch(vectors[..., 0], lengths)
        states = vectors if self.body is None else self.body(vectors, lengths).features
        if words is not None:
            states = by_word(states, words)
        logits: Tensor = self.output(self.dropout(states))
        if recording():
            note(
                "probabilities",
                logits.softmax(-1),
                axes=("word" if words is not None else "piece", "label"),
                formula="softmax(W_o s_w + b)",
                meaning="How likely each label is.",
            )
        return logits

    def _vectors(self, pieces: Tensor) -> Tensor:
        n = pieces.shape[1]
        if n > self.config.places:
            raise DataError(f"this model reads {self.config.places} pieces at once, got {n}")
        scaled = (pieces - self.mean) / self.spread
        return self.dropout(self.numbers(scaled) + self.places[:n])

    def set_scale(self, mean: NDArray[np.float64], spread: NDArray[np.float64]) -> None:
        """The numbers of a piece come in any unit: theirs in training."""
        self.mean.copy_(torch.from_numpy(mean))
        self.spread.copy_(torch.from_numpy(spread))

    def loss(
        self,
        pieces: Tensor,
        lengths: Tensor,
        labels: Tensor,
        words: Tensor | None = None,
        smoothing: float = 0.0,
    ) -> Tensor:
        """The sum of the cross-entropies of the right ``labels`` (B, m); NO_LABEL has none."""
        logits = self(pieces, lengths, words)
        return F.cross_entropy(
            logits.flatten(0, 1),
            labels.flatten(),
            reduction="sum",
            label_smoothing=smoothing,
            ignore_index=NO_LABEL,
        )


def by_word(states: Tensor, words: Tensor) -> Tensor:
    """(B, m, width): the mean of the states (B, n, width) of the pieces of each word."""
    count = int(words.max()) + 1
    belongs = words.unsqueeze(1) == torch.arange(count, device=words.device).view(1, -1, 1)
    share = belongs.to(states.dtype) / belongs.sum(-1, keepdim=True).clamp(min=1)
    return torch.bmm(share, states)
