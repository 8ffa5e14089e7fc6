"""SimpleRNN: each state is made from the word just read and the state before it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.errors import RegardError, ShapeError
from regard.record import note, recording, scope

_STATE = "The word just read, and what the words before it left."


class SimpleRNN(nn.Module):
    """h_t = tanh(A[x_t; h_{t-1}] + b), h_0 = 0  (Elman 1990).

    ``A`` is kept as its two halves: ``inputs`` (hidden, width) with the bias b, and ``recurrent``
    (hidden, hidden), so that A x_t + b of all positions is one product before the loop.
    """

    formula = "h_t = tanh(A[x_t; h_{t-1}] + b)"

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.width, self.hidden = width, hidden
        self.inputs = nn.Linear(width, hidden)
        self.recurrent = nn.Parameter(torch.empty(hidden, hidden))
        nn.init.xavier_uniform_(self.inputs.weight)
        nn.init.zeros_(self.inputs.bias)
        nn.init.orthogonal_(self.recurrent)

    def forward(self, x: Tensor, state: Tensor | None = None) -> Tensor:
        """The states (batch, n, hidden) after each position of ``x`` (batch, n, width).

        ``state`` (batch, hidden) is h_0, zeros if not given.
        """
        self._check(x, state)
        projected = self.inputs(x.transpose(0, 1))
        h = projected.new_zeros(x.shape[0], self.hidden) if state is None else state
        note_input(x)
        states = []
        for t, step in enumerate(projected.unbind()):
            h = torch.tanh(torch.addmm(step, h, self.recurrent.t()))
            states.append(h)
            if recording():
                with scope(f"step {t + 1}"):
                    note("state", h, axes=("hidden",), formula=self.formula, meaning=_STATE)
        all_states = torch.stack(states, 1) if states else projected.transpose(0, 1)
        if recording():
            note_states(
                all_states,
                formula=self.formula,
                meaning="What is remembered after each position, all that came before squeezed in.",
            )
        return all_states

    def _check(self, x: Tensor, state: Tensor | None) -> None:
        if x.dim() != 3 or x.shape[-1] != self.width:
            raise ShapeError(
                f"the input must be (batch, n, width) with width {self.width}, got {tuple(x.shape)}"
            )
        if state is None:
            return
        wanted = (x.shape[0], self.hidden)
        if state.shape != wanted:
            raise ShapeError(f"the first state must be {wanted} here, got {tuple(state.shape)}")
        if (state.dtype, state.device) != (x.dtype, x.device):
            raise RegardError(
                f"the first state must have the input's dtype and device, {x.dtype} on {x.device}, "
                f"got {state.dtype} on {state.device}; move it with .to(…)"
            )


def note_input(x: Tensor) -> None:
    """Note what is read."""
    given = "One vector for each position."
    note("input", x, axes=("position", "width"), formula="x_t", meaning=given)


def note_states(states: Tensor, *, formula: str, meaning: str) -> None:
    """Note the state after each position."""
    note("states", states, axes=("position", "hidden"), formula=formula, meaning=meaning)
