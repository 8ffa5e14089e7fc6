"""SelfAttentiveRNN: the simple RNN, with attention to all its states in place of the last one."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from regard.attention.score import additive, dot
from regard.errors import ConfigError
from regard.record import note, recording, scope
from regard.recurrent.convert import from_torch, to_torch
from regard.recurrent.reader import Reader, ReaderLayer
from regard.recurrent.scan.selfattentive import SelfAttentiveMatrices, SelfAttentiveScan
from regard.recurrent.tape import TapeMemory

FORMULAS = {
    "xc": "h_t = tanh(A[x_t; c_{t-1}] + b)",
    "xch": "h_t = tanh(A[x_t; c_{t-1}; h_{t-1}] + b)",
}
"""Of the state, by the form."""


class SelfAttentiveRNN(Reader):
    """The simple RNN with self-attention, the teaching form of Cheng, Dong & Lapata (2016).

        h_t = tanh(A[x_t; c_{t-1}] + b)                h_0 = c_0 = 0
        e[t,i] = v · tanh(W[h_i; h_t])                 for i = 1 … t, or (W_K h_i) · (W_Q h_t)
        c_t = sum_i softmax(e[t,:])_i h_i              so c_1 = h_1

    ``score`` is "additive" or "dot". ``form`` "xc" is the above; "xch" also reads the state
    before, A[x_t; c_{t-1}; h_{t-1}]. With a ``window`` only the last so many words are looked at,
    t included. Without ``attention`` c_t = h_t, which is ``nn.RNN``. ``dropout`` acts between
    layers. Each further layer reads the states h_t of the one below.
    """

    formula = FORMULAS["xc"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        *,
        form: Literal["xc", "xch"] = "xc",
        score: Literal["additive", "dot"] = "additive",
        batch_first: bool = False,
        dropout: float = 0.0,
        attention: bool = True,
        window: int | None = None,
    ) -> None:
        if form not in ("xc", "xch"):
            raise ConfigError(f"form is 'xc' or 'xch', got {form!r}")
        if score not in ("additive", "dot"):
            raise ConfigError(f"score is 'additive' or 'dot', got {score!r}")
        if form == "xch" and not attention:
            raise ConfigError("form='xch' needs attention: without it c and h are the same")
        self.form, self.score = form, score
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            batch_first=batch_first,
            dropout=dropout,
            attention=attention,
            window=window,
        )
        if form == "xch":
            self.formula = FORMULAS["xch"]

    def layer(self, width: int) -> SelfAttentiveLayer:
        score = self.score if self.attention else None
        return SelfAttentiveLayer(width, self.hidden_size, self.form == "xch", score)

    @classmethod
    def from_torch(cls, module: nn.RNN) -> SelfAttentiveRNN:
        """The same network as ``module``, one with tanh; its two biases become their sum."""
        if module.mode != "RNN_TANH":
            raise ConfigError("this RNN has tanh; got an nn.RNN with nonlinearity='relu'")
        return from_torch(cls, module)

    def to_torch(self) -> nn.RNN:
        """The same network as an ``nn.RNN``: only without attention."""
        made: nn.RNN = to_torch(nn.RNN, self)
        return made


class SelfAttentiveLayer(ReaderLayer):
    """``inputs`` is A's part for x_t with b, ``recurrent`` that for c_{t-1}, ``previous`` h's."""

    scan = SelfAttentiveScan

    def __init__(self, width: int, hidden: int, previous: bool, score: str | None) -> None:
        super().__init__()
        self.inputs = nn.Linear(width, hidden)
        self.recurrent = nn.Parameter(torch.empty(hidden, hidden))
        self.previous = nn.Parameter(torch.empty(hidden, hidden)) if previous else None
        nn.init.xavier_uniform_(self.inputs.weight)
        nn.init.zeros_(self.inputs.bias)
        nn.init.orthogonal_(self.recurrent)
        if self.previous is not None:
            nn.init.orthogonal_(self.previous)
        self.v: nn.Parameter | None = None
        self.attends = score is not None
        if score is not None:
            self.w_key = nn.Parameter(torch.empty(hidden, hidden))
            self.w_query = nn.Parameter(torch.empty(hidden, hidden))
            nn.init.xavier_uniform_(self.w_key)
            nn.init.xavier_uniform_(self.w_query)
        if score == "additive":
            self.v = nn.Parameter(torch.empty(hidden))
            nn.init.uniform_(self.v, -1 / math.sqrt(hidden), 1 / math.sqrt(hidden))

    def project(self, hidden: Tensor) -> Tensor | None:
        return hidden @ self.w_key.t() if self.attends else None

    def score(self, query: Tensor, key: Tensor) -> Tensor:
        if self.v is None:
            return dot(query, key)
        return additive(query, key, self.v, formula="e[t,i] = v · tanh(W[h_i; h_t])")

    def loop(
        self, x: Tensor, memory: TapeMemory, summary: Tensor, real: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        projected, c, h = self.inputs(x), summary, memory.last()
        states = []
        for t, a in enumerate(projected.unbind()):
            with scope(f"step {t + 1}"):
                a = torch.addmm(a, c, self.recurrent.t())
                if self.previous is not None:
                    a = torch.addmm(a, h, self.previous.t())
                h = torch.tanh(a)
                if recording():
                    formula = FORMULAS["xc" if self.previous is None else "xch"]
                    note("state", h, axes=("hidden",), formula=formula, meaning=_STATE)
                memory.append(h, self.project(h))
                fresh = memory.attend(h @ self.w_query.t(), self.score) if self.attends else h
            c = fresh if real is None else torch.where(real[t], fresh, c)
            states.append(h)
        return torch.stack(states) if states else projected, c

    def matrices(self) -> SelfAttentiveMatrices:
        return SelfAttentiveMatrices(
            self.inputs.weight,
            self.inputs.bias,
            self.recurrent,
            self.previous,
            self.w_key,
            self.w_query,
            self.v,
        )


_STATE = "The word just read, and what the words before it left."
