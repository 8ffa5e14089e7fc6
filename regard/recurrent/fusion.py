"""Fusion: an LSTMN that also attends to the tapes of another one, as a decoder does.

Shallow fusion puts Bahdanau's attention beside the LSTMN: what it finds is one more input. Deep
fusion lets both attentions meet in the memory cell, each with a gate of its own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from regard.attention import Mask, additive, attend
from regard.record import note, recording, scope
from regard.recurrent.lstmn import LSTMNLayer


class SourceTapes(NamedTuple):
    """The tapes of what was read, for the decoder to look at."""

    tapes: Tensor
    """[g_j; m_j], states and memory cells (sentences, slots, 2 · hidden)."""
    keys: Tensor
    """W_g g_j, computed once (sentences, slots, hidden)."""
    mask: Mask | None
    """Which slots are padding."""

    def select(self, rows: Tensor) -> SourceTapes:
        """Those of these sentences."""
        allowed = None if self.mask is None else self.mask.allowed
        mask = None if allowed is None else Mask(allowed=allowed[rows])
        return SourceTapes(self.tapes[rows], self.keys[rows], mask)


class FusionState(NamedTuple):
    """Where the decoder of N texts stands: what it has written, and what it found last."""

    tapes: Tensor
    """[h_i; c_i] (N, slots, 2 · hidden)."""
    keys: Tensor
    """W_h h_i (N, slots, hidden)."""
    summary: Tensor
    """h~_{t-1} (N, hidden)."""
    found: Tensor
    """g~_{t-1} (N, hidden)."""

    def select(self, rows: Tensor) -> FusionState:
        """Those of these texts."""
        return FusionState(*(part.index_select(0, rows) for part in self))


class FusionStep(NamedTuple):
    """One step, or all of them with an axis in front."""

    state: Tensor
    """h_t (N, hidden)."""
    found: Tensor
    """g~_t (N, hidden), what the source gave."""
    weights: Tensor
    """Where in the source (N, slots)."""


class Fusion(nn.Module, ABC):
    """An LSTMN layer ``own`` with an attention to a source (Cheng, Dong & Lapata 2016, section 4).

    Its own tapes begin with the source's last state and cell; h~_0 = g~_0 = 0. ``w_source`` is
    W_g and ``u`` the vector of the inter-attention.
    """

    asks: ClassVar[str]
    """The score of the inter-attention."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.own = LSTMNLayer(width, hidden, attends=True)
        self.w_source = _matrix(hidden, hidden)
        self.u = nn.Parameter(torch.empty(hidden))
        nn.init.uniform_(self.u, -1 / math.sqrt(hidden), 1 / math.sqrt(hidden))

    @abstractmethod
    def step(
        self, x: Tensor, written: FusionState, source: SourceTapes
    ) -> tuple[FusionStep, FusionState]:
        """Read one word ``x`` (N, width) of each of N texts, N = sentences × texts of each."""

    def forward(self, x: Tensor, written: FusionState, source: SourceTapes) -> FusionStep:
        """Read ``x`` (n, N, width) word by word; all results with an axis n in front."""
        steps = []
        for t, x_t in enumerate(x.unbind()):
            with scope(f"step {t}"):
                step, written = self.step(x_t, written, source)
            steps.append(step)
        return FusionStep(*(torch.stack(parts) for parts in zip(*steps, strict=True)))

    def source(self, tapes: Tensor, mask: Mask | None) -> SourceTapes:
        """The ``tapes`` [g_j; m_j] (sentences, slots, 2 · hidden), ready to be looked at."""
        return SourceTapes(tapes, tapes[..., : self.hidden] @ self.w_source.t(), mask)

    def start(self, last: Tensor) -> FusionState:
        """Nothing written yet; ``last`` (N, 2 · hidden) is the source's last slot."""
        zeros = last.new_zeros(last.shape[0], self.hidden)
        key = last[:, : self.hidden] @ self.own.w_key.t()
        return FusionState(last.unsqueeze(1), key.unsqueeze(1), zeros, zeros)

    def inter(self, query: Tensor, source: SourceTapes) -> tuple[Tensor, Tensor, Tensor]:
        """g~_t, m~_t and the weights: what the source gives to ``query`` (N, hidden)."""
        with scope("inter-attention"):
            mixed, weights = attend(
                query.view(source.tapes.shape[0], -1, self.hidden),
                source.keys,
                source.tapes,
                score=lambda q, k: additive(q, k, self.u, formula=self.asks),
                mask=source.mask,
                need_weights=True,
            )
        assert weights is not None
        state, cell = mixed.flatten(0, 1).chunk(2, -1)
        return state, cell, weights.flatten(0, 1)

    def intra(self, x: Tensor, written: FusionState) -> tuple[Tensor, Tensor]:
        """h~_t and c~_t: what was written before gives to ``x`` (N, width)."""
        query = x @ self.own.w_input.t() + written.summary @ self.own.w_summary.t()
        with scope("intra-attention"):
            mixed, _ = attend(query.unsqueeze(1), written.keys, written.tapes, score=self.own.score)
        state, cell = mixed.squeeze(1).chunk(2, -1)
        return state, cell

    def write(
        self, written: FusionState, h: Tensor, c: Tensor, summary: Tensor, found: Tensor
    ) -> FusionState:
        """One slot more: h_t and c_t."""
        slot, key = torch.cat((h, c), -1), h @ self.own.w_key.t()
        return FusionState(
            torch.cat((written.tapes, slot.unsqueeze(1)), 1),
            torch.cat((written.keys, key.unsqueeze(1)), 1),
            summary,
            found,
        )


class ShallowFusion(Fusion):
    """The LSTMN as a module of its own, and Bahdanau's attention beside it.

        b[t,j] = u · tanh(W_g g_j + W_s h_{t-1})            inter-attention (Bahdanau et al. 2015)
        g~_t = sum_j softmax(b[t,:])_j g_j
        h_t, c_t = LSTMN([x_t; g~_t])                       with its intra-attention

    The paper leaves this form to words: inter-attention is triggered when the decoder reads a
    word, similar to Bahdanau's. So, as there, it asks with the state before, and what it finds
    goes into the update.
    """

    asks = "b[t,j] = u · tanh(W_g g_j + W_s h_{t-1})"

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__(width + hidden, hidden)
        self.w_before = _matrix(hidden, hidden)

    def step(
        self, x: Tensor, written: FusionState, source: SourceTapes
    ) -> tuple[FusionStep, FusionState]:
        before = written.tapes[:, -1, : self.hidden]
        found, _, weights = self.inter(before @ self.w_before.t(), source)
        x = torch.cat((x, found), -1)
        old_h, old_c = self.intra(x, written)
        h, c = self.own.update(self.own.inputs(x), old_h, old_c)
        return FusionStep(h, found, weights), self.write(written, h, c, old_h, found)


class DeepFusion(Fusion):
    """Inter- and intra-attention meet in the memory cell.

    b[t,j] = u · tanh(W_g g_j + W_x x_t + W_g~ g~_{t-1})       inter-attention
    (g~_t, m~_t) = sum_j softmax(b[t,:])_j (g_j, m_j)
    r_t = sigmoid(W_r[g~_t, x_t] + b_r)
    c_t = r_t * m~_t + f_t * c~_t + i_t * c^_t                 all else as in the LSTMN
    """

    asks = "b[t,j] = u · tanh(W_g g_j + W_x x_t + W_g~ g~_{t-1})"

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__(width, hidden)
        self.w_input = _matrix(hidden, width)
        self.w_found = _matrix(hidden, hidden)
        self.gate = nn.Linear(hidden + width, hidden)
        nn.init.xavier_uniform_(self.gate.weight)
        nn.init.zeros_(self.gate.bias)

    def step(
        self, x: Tensor, written: FusionState, source: SourceTapes
    ) -> tuple[FusionStep, FusionState]:
        query = x @ self.w_input.t() + written.found @ self.w_found.t()
        found, cell, weights = self.inter(query, source)
        old_h, old_c = self.intra(x, written)
        r = self.gate(torch.cat((found, x), -1)).sigmoid()
        if recording():
            note("source gate", r, axes=("hidden",), formula=_R, meaning=_GATE)
        h, c = self.own.update(self.own.inputs(x), old_h, old_c, carried=r * cell)
        return FusionStep(h, found, weights), self.write(written, h, c, old_h, found)


def _matrix(rows: int, columns: int) -> nn.Parameter:
    return nn.Parameter(nn.init.xavier_uniform_(torch.empty(rows, columns)))


_R = "r_t = sigmoid(W_r[g~_t, x_t] + b_r)"
_GATE = "How much of the source's memory, m~_t, goes into the cell."
