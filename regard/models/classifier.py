"""Classifier: which label a sequence has, and what of it the decision was read from.

Shapes::

    ids (B, n) token ids, or vectors (B, n, width) of other pieces, padded behind; lengths (B,)
    logits (B, labels); weights (B, n)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import attend, dot, padding
from regard.models.config import TokenConfig, whole
from regard.models.design import DESIGNS, DesignConfig, shape
from regard.models.padding import check_batch
from regard.models.sequence import SequenceModel
from regard.record import note, recording, scope

CLASSIFIERS = ("words", *DESIGNS)
"""The averaged word vectors, and every design that reads."""
READOUTS = ("attention", "mean", "last")


@dataclass(frozen=True)
class ClassifierConfig(DesignConfig, TokenConfig):
    """The shape of a classifier. With a vocabulary of 0 it reads vectors, not tokens."""

    labels: tuple[str, ...] = ()
    """The names of the classes."""
    readout: str = ""
    """What is decided from: "attention" (a learned mix of all states), their "mean", the "last"."""

    what = "a classifier"
    designs = CLASSIFIERS

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))  # JSON has lists
        super().__post_init__()

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.vocabulary != 0:
            yield from whole("vocabulary", self.vocabulary, 5)
        if len(self.labels) < 2 or len(set(self.labels)) < len(self.labels):
            yield f"labels must be at least two different ones, got {list(self.labels)}"
        if self.readout not in READOUTS:
            yield f"readout must be one of {', '.join(READOUTS)}, got {self.readout!r}"
        elif self.readout == "last" and self.model in ("words", "transformer"):
            yield f"{self.model} sees all words at once: readout must be attention or mean"

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"labels": list(self.labels)}


class Decision(NamedTuple):
    """``logits`` (B, labels) and the ``weights`` (B, n) of each word in them; padding has 0."""

    logits: Tensor
    weights: Tensor


def sized(
    model: str, size: str, vocabulary: int, labels: tuple[str, ...], **changes: Any
) -> ClassifierConfig:
    """The config of design ``model`` in a named ``size``; ``changes`` replace single settings."""
    own = shape(model, size, CLASSIFIERS)
    own |= {"readout": "mean" if model == "words" else "attention", "dropout": 0.4}
    return ClassifierConfig(model=model, vocabulary=vocabulary, labels=labels, **(own | changes))


class Classifier(SequenceModel):
    """p(label | w_1 … w_n) = softmax(W_o r + b), r read out of the states h_j of the words.

        attention   k_j = tanh(W_k h_j + b_k),  a = softmax(q · k_j),  r = sum_j a_j h_j
        mean        r = sum_j h_j / n
        last        r = h_n

    The attention is that of Yang et al. (2016, section 2.2): one learned query q for all sentences.
    h_j is what the stack gives: in a recurrent design all that was read up to word j, in the
    Transformer word j as it stands among all others, for ``words`` the word's own vector. The words
    may be any pieces: :meth:`decide` takes their vectors.
    """

    def __init__(self, config: ClassifierConfig) -> None:
        super().__init__(config, config.vocabulary, forwards=False)
        self.config, features = config, config.features
        if config.readout == "attention":
            self.key = nn.Linear(features, features)
            self.query = nn.Parameter(torch.randn(features) * features**-0.5)
        self.output = nn.Linear(features, len(config.labels))

    def forward(self, ids: Tensor, lengths: Tensor) -> Decision:
        """The labels' scores, and how much of each word's state is in what decided."""
        return self.decide(self.embed(ids), lengths)

    def decide(self, vectors: Tensor, lengths: Tensor) -> Decision:
        """:meth:`forward` from the ``vectors`` (B, n, width) of any pieces."""
        check_batch(vectors[..., 0], lengths)
        states = vectors if self.body is None else self.body(vectors, lengths).features
        with scope("readout"):
            read, weights = self._read(states, lengths)
        logits = self.output(self.dropout(read))
        if recording():
            for name, value, formula, meaning in (
                ("logits", logits, "W_o r + b", "How much speaks for each label."),
                ("probabilities", logits.softmax(-1), "softmax(W_o r + b)", "Their shares."),
            ):
                note(name, value, axes=("label",), formula=formula, meaning=meaning)
        return Decision(logits, weights)

    def _read(self, states: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """r (B, width), and the weights (B, n) it was mixed with."""
        n = states.shape[1]
        place = torch.arange(n, device=states.device)
        inside = place < lengths.unsqueeze(-1)
        if self.config.readout == "attention":
            query = self.query.expand(states.shape[0], 1, -1)
            keys = torch.tanh(self.key(states)).to(states.dtype)  # in autocast a product is rounded
            mask = padding(lengths, n)
            found = attend(query, keys, states, score=dot, mask=mask, need_weights=True)
            assert found.weights is not None
            return found.context.squeeze(1), found.weights.squeeze(1)
        if self.config.readout == "last":
            weights = (place == lengths.unsqueeze(-1) - 1).to(states.dtype)
        else:
            weights = inside.to(states.dtype) / lengths.unsqueeze(-1)
        return torch.einsum("bn,bnd->bd", weights, states), weights

    def loss(self, ids: Tensor, lengths: Tensor, labels: Tensor, smoothing: float = 0.0) -> Tensor:
        """The sum of the cross-entropies of the right ``labels`` (B,)."""
        logits = self(ids, lengths).logits
        return F.cross_entropy(logits, labels, reduction="sum", label_smoothing=smoothing)
