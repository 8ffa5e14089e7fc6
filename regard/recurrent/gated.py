"""GatedUnit: a recurrent unit that learns what to keep and what to overwrite."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.record import note, recording
from regard.recurrent.scan.gated import gated_scan
from regard.recurrent.simple import note_input, note_states


class GatedUnit(nn.Module):
    """The gated unit of Cho et al. (2014) as Bahdanau et al. (2015, appendix A.1.1) write it.

        z_t = sigmoid(W_z x_t + U_z s_{t-1} + C_z c_t + b_z)      update gate
        r_t = sigmoid(W_r x_t + U_r s_{t-1} + C_r c_t + b_r)      reset gate
        s^_t = tanh(W x_t + U [r_t * s_{t-1}] + C c_t + b)        candidate
        s_t = (1 - z_t) * s_{t-1} + z_t * s^_t

    The reset gate acts on the state *before* the product with U, as in the papers; PyTorch's
    ``nn.GRU`` multiplies afterwards, which is another function. ``context`` > 0 gives the unit a
    second input c_t of that width (the decoders' context).

    ``inputs`` is [W_z; W_r; W] with the biases, ``context`` is [C_z; C_r; C], ``gates`` is
    [U_z; U_r] and ``candidate`` is U.
    """

    formula = "s_t = (1 - z_t) * s_{t-1} + z_t * s^_t"

    def __init__(self, width: int, hidden: int, context: int = 0) -> None:
        super().__init__()
        self.width, self.hidden, self.has_context = width, hidden, bool(context)
        self.inputs = nn.Linear(width, 3 * hidden)
        if context:
            self.context = nn.Linear(context, 3 * hidden, bias=False)
        self.gates = nn.Parameter(torch.empty(2 * hidden, hidden))
        self.candidate = nn.Parameter(torch.empty(hidden, hidden))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Xavier-uniform matrices for the inputs, orthogonal ones for the state, zero biases."""
        linears = [part for part in self.children() if isinstance(part, nn.Linear)]
        for linear in linears:
            for part in linear.weight.data.chunk(3):
                nn.init.xavier_uniform_(part)
        nn.init.zeros_(self.inputs.bias)
        for part in (*self.gates.data.chunk(2), self.candidate.data):
            nn.init.orthogonal_(part)

    @property
    def notes(self) -> dict[str, tuple[str, str]]:
        """What is noted of a step: its formula and what it means."""
        z, r, s = (f" + {c} c_t" if self.has_context else "" for c in ("C_z", "C_r", "C"))
        return {
            "update gate": (
                f"z_t = sigmoid(W_z x_t + U_z s_{{t-1}}{z} + b_z)",
                "How much of the state is overwritten.",
            ),
            "reset gate": (
                f"r_t = sigmoid(W_r x_t + U_r s_{{t-1}}{r} + b_r)",
                "How much of the state the candidate sees.",
            ),
            "candidate": (
                f"s^_t = tanh(W x_t + U [r_t * s_{{t-1}}]{s} + b)",
                "What would overwrite it.",
            ),
            "state": (self.formula, "What the unit remembers."),
        }

    def step(self, inputs: Tensor, state: Tensor) -> Tensor:
        """s_t (batch, hidden) from s_{t-1} and the projected ``inputs`` (batch, 3 · hidden)."""
        gates, candidate = inputs.split((2 * self.hidden, self.hidden), -1)
        return self.update(gates, candidate, state)

    def update(self, gates: Tensor, candidate: Tensor, state: Tensor) -> Tensor:
        """:meth:`step` with the projected inputs of the gates and of the candidate apart."""
        z, r = self.opened(gates, state)
        fresh = self.proposed(candidate, r, state)
        new = renew(state, fresh, z)
        if recording():
            for name, value in (
                ("update gate", z),
                ("reset gate", r),
                ("candidate", fresh),
                ("state", new),
            ):
                formula, meaning = self.notes[name]
                note(name, value, axes=("hidden",), formula=formula, meaning=meaning)
        return new

    def opened(self, gates: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """z_t and r_t from the projected inputs of the gates and s_{t-1}."""
        z, r = torch.addmm(gates, state, self.gates.t()).sigmoid().chunk(2, -1)
        return z, r

    def proposed(self, candidate: Tensor, reset: Tensor, state: Tensor) -> Tensor:
        """s^_t from its projected inputs, r_t and s_{t-1}."""
        return torch.addmm(candidate, reset * state, self.candidate.t()).tanh()

    def forward(
        self,
        x: Tensor,
        state: Tensor | None = None,
        *,
        context: Tensor | None = None,
        lengths: Tensor | None = None,
        backward: bool = False,
    ) -> Tensor:
        """The states (batch, n, hidden) after each position of ``x`` (batch, n, width).

        ``state`` (batch, hidden) is s_0, zeros if not given; ``context`` (batch, width of c) is a
        c that stays the same at every position. With ``backward`` the unit reads from the last
        position to the first; then ``lengths`` (batch,) says where each sequence really ends, and
        the states behind the end are zeros. Forwards, padding comes after all that is real.
        """
        projected = self.inputs(x.transpose(0, 1))
        if context is not None:
            projected = projected + self.context(context)
        first = projected.new_zeros(x.shape[0], self.hidden) if state is None else state
        padded = None
        if backward:
            projected = projected.flip(0)
            padded = None if lengths is None else _padded(lengths, x.shape[1])
        states = gated_scan(projected, first, self.gates, self.candidate, padded)
        states = (states.flip(0) if backward else states).transpose(0, 1)
        if recording():
            note_input(x)
            note_states(
                states,
                formula=self.formula,
                meaning="What the unit remembers after each position, read "
                + ("from the end." if backward else "from the start."),
            )
        return states


def renew(state: Tensor, candidate: Tensor, update: Tensor) -> Tensor:
    """s_t = (1 − z_t) * s_{t-1} + z_t * s^_t."""
    return torch.lerp(state, candidate, update)


def _padded(lengths: Tensor, n: int) -> Tensor | None:
    """For a reading from the end: (n, batch, 1), True while padding is read; None if there is none.

    Step t reads position n − 1 − t.
    """
    if int(lengths.min()) >= n:
        return None
    position = torch.arange(n - 1, -1, -1, device=lengths.device)
    return (position.unsqueeze(-1) >= lengths).unsqueeze(-1)
