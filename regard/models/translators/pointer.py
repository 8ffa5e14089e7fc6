"""Pointer: a word is said from the vocabulary, or copied from the source (See, Liu & Manning 2017).

    g = sigmoid(u · [s ; y ; c] + b)
    p(w) = g p_vocab(w) + (1 − g) sum_j a_j [x_j = w]

s is the decoder's state, y the vector of the word it has just read, c = sum_j a_j h_j what it
looked at in the source, a_j the weights with which it did, x_j the source's tokens. Source and
target have one vocabulary, so that a token copied is a token said; EOS stands in the source and can
be copied. What the vocabulary does not know is one token, <unk>: where the source has it, it is
copied or not said.

log p stands wherever other translators have logits: its log-softmax is itself. The mixture is in
float32 at least, whatever the products before it were rounded to. n positions have rows of their
own, from any sentence.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.pieces.tokenizer import UNK
from regard.record import note, recording

LEAST = 1e-37
"""What is copied with less has no logarithm, nor a gradient; it never decides a sum."""
FAR = 40.0
"""So far below all others together is a logit that is taken out: p is 4e-18."""


class Pointed(NamedTuple):
    """Where n positions point."""

    gate: Tensor
    """log g / (1 − g) (n,): above 0 the vocabulary has the greater share."""
    weights: Tensor
    """a (n, S), which sum to 1; 0 at the padding."""
    source: Tensor
    """x (n, S): the tokens that they weigh."""


class Copied(NamedTuple):
    """What of a text that was said is copied, token by token."""

    gate: Tensor
    """g (B, T): the share that the vocabulary had in the choice of each token."""
    shares: Tensor
    """(B, T, S): the share of each token's p that came from each token of the source. What is left
    of 1 came from the vocabulary."""


class Pointer(nn.Module):
    """The gate between saying and copying; ``width`` is that of [s ; y ; c]."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, 1)
        nn.init.xavier_uniform_(self.gate.weight)
        nn.init.zeros_(self.gate.bias)

    def forward(self, known: tuple[Tensor, ...], weights: Tensor, source: Tensor) -> Pointed:
        """``known`` s, y and c (n, width of each), ``weights`` and ``source`` (n, S)."""
        # Not a product of matrices, which autocast would round.
        gate = (wide(torch.cat(known, -1)) * self.gate.weight).sum(-1) + self.gate.bias
        if recording():
            note(
                "gate",
                gate.sigmoid(),
                axes=("position",),
                formula="g = sigmoid(u · [s ; y ; c] + b)",
                meaning="The share of the vocabulary in the next word; the rest is copied.",
            )
        return Pointed(gate, wide(weights), source)


def wide(x: Tensor) -> Tensor:
    """The same in float32, or float64 if it is that."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def without_unknown(logits: Tensor, source: Tensor) -> Tensor:
    """The vocabulary's ``logits`` (n, V), <unk> taken out where the source has one: what the
    vocabulary does not know can only be copied, and then it is known from where."""
    there = (source == UNK).any(-1, keepdim=True)
    if not bool(there.any()):
        return logits
    never = logits.detach().logsumexp(-1, keepdim=True) - FAR
    unknown = torch.where(there, never, logits[:, UNK : UNK + 1])
    return torch.cat((logits[:, :UNK], unknown, logits[:, UNK + 1 :]), -1)


def log_mixture(logits: Tensor, pointed: Pointed) -> Tensor:
    """log p (n, V) of all tokens, from the vocabulary's ``logits``."""
    gate, weights, source = pointed
    own = F.logsigmoid(gate).unsqueeze(-1) + wide(logits).log_softmax(-1)
    copied = torch.zeros_like(own).scatter_add(-1, source, weights)
    return torch.logaddexp(own, F.logsigmoid(-gate).unsqueeze(-1) + _log(copied))


def mixture_loss(logits: Tensor, pointed: Pointed, wanted: Tensor, smoothing: float) -> Tensor:
    """sum_n −sum_v q[n,v] log p[n,v], q = (1 − eps) onehot(wanted) + eps / V.

    What copying adds to log g p_vocab(v) is softplus of how far it is ahead of it, and nothing
    where v is not in the source: so the mixture is made for the words of the source alone.
    """
    gate, weights, source = pointed
    logits = wide(logits)
    own = F.logsigmoid(gate) - logits.logsumexp(-1)  # plus a word's logit: log g p_vocab
    ahead = F.logsigmoid(-gate) - own
    right = logits.gather(-1, wanted.unsqueeze(-1)).squeeze(-1)
    mass = (weights * (source == wanted.unsqueeze(-1))).sum(-1)
    total = (own + right + F.softplus(ahead + _log(mass) - right)).sum()
    if not smoothing:
        return -total
    masses, times = _sums(weights, source, logits), _sums(torch.ones_like(weights), source, logits)
    added = F.softplus(ahead.unsqueeze(-1) + _log(masses) - logits.gather(-1, source))
    size = logits.shape[-1]
    every = size * own.sum() + logits.sum() + (added / times).sum()
    return -((1 - smoothing) * total + smoothing / size * every)


def copy_shares(logits: Tensor, pointed: Pointed, said: Tensor) -> Tensor:
    """(1 − g) a_j [x_j = w] / p(w) (n, S) of the tokens ``said`` w (n,): how much of each was
    copied, and from where."""
    gate, weights, source = pointed
    here = weights * (source == said.unsqueeze(-1))
    log_p = log_mixture(logits, pointed).gather(-1, said.unsqueeze(-1))
    return here * (F.logsigmoid(-gate).unsqueeze(-1) - log_p).exp()


def _sums(x: Tensor, source: Tensor, logits: Tensor) -> Tensor:
    """sum_k x_k [source_k = source_j] (n, S): x of each token of the source, at all its places."""
    return torch.zeros_like(logits).scatter_add(-1, source, x).gather(-1, source)


def _log(shares: Tensor) -> Tensor:
    """log, far below every log p where a share is 0."""
    return shares.clamp_min(LEAST).log()
