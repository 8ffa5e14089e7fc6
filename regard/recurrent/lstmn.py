"""LSTMN: the LSTM with a tape of all its states and cells in place of the last of each."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention.score import additive
from regard.errors import ConfigError
from regard.record import note, recording, scope
from regard.recurrent.convert import from_torch, to_torch
from regard.recurrent.reader import Reader, ReaderLayer
from regard.recurrent.scan.lstmn import LSTMNMatrices, LSTMNScan
from regard.recurrent.tape import TapeMemory

NOTES = {
    "recalled state": ("h~_t = sum_i a[t,i] h_i", "The states on the tape, mixed."),
    "recalled cell": ("c~_t = sum_i a[t,i] c_i", "The cells on the tape, mixed by the same."),
    "input gate": (
        "i_t = sigmoid(W_i[h~_t, x_t] + b_i)",
        "How much of the new candidate is written.",
    ),
    "forget gate": ("f_t = sigmoid(W_f[h~_t, x_t] + b_f)", "How much of the recalled cell stays."),
    "output gate": ("o_t = sigmoid(W_o[h~_t, x_t] + b_o)", "How much of the cell is shown."),
    "candidate": ("c^_t = tanh(W_c[h~_t, x_t] + b_c)", "What this word would write."),
    "cell": ("c_t = f_t * c~_t + i_t * c^_t", "The memory of this word."),
    "state": ("h_t = o_t * tanh(c_t)", "What this word shows of it."),
}
"""What is noted of a word: its formula and what it means."""
LAST = {"recalled state": "h~_t = h_{t-1}", "recalled cell": "c~_t = c_{t-1}"}
"""Without attention."""


class LSTMN(Reader):
    """The long short-term memory network of Cheng, Dong & Lapata (2016, section 3.1).

        e[t,i] = v · tanh(W_h h_i + W_x x_t + W_h~ h~_{t-1})     for i = 1 … t-1
        (h~_t, c~_t) = sum_i softmax(e[t,:])_i (h_i, c_i)        zeros at t = 1
        i_t, f_t, o_t = sigmoid and c^_t = tanh of W[h~_t, x_t] + b
        c_t = f_t * c~_t + i_t * c^_t
        h_t = o_t * tanh(c_t)

    With a ``window`` only the last so many words stay on the tapes. A ``recency`` is learned, and
    added to the score of the newest word, e[t,t-1]: the number given is its first value (not in the
    paper; with 6 the network begins nearly as the LSTM that it is a generalisation of). Without
    ``attention`` (h~_t, c~_t) = (h_{t-1}, c_{t-1}), which is ``nn.LSTM``. ``dropout`` acts between
    layers. Each further layer reads the states h_t of the one below.
    """

    has_cells = True
    formula = "h_t = o_t * tanh(f_t * c~_t + i_t * c^_t)"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        *,
        recency: float | None = None,
        **options: Any,
    ) -> None:
        self.recency = recency
        super().__init__(input_size, hidden_size, num_layers, **options)
        if recency is not None and not self.attention:
            raise ConfigError("without attention no word is newer than another: leave recency out")

    def layer(self, width: int) -> LSTMNLayer:
        return LSTMNLayer(width, self.hidden_size, self.attention, self.recency)

    @classmethod
    def from_torch(cls, module: nn.LSTM) -> LSTMN:
        """The same network as ``module``; its two biases become their sum."""
        return from_torch(cls, module)

    def to_torch(self) -> nn.LSTM:
        """The same network as an ``nn.LSTM``: only without attention."""
        made: nn.LSTM = to_torch(nn.LSTM, self)
        return made


class LSTMNLayer(ReaderLayer):
    """``inputs`` and ``recurrent`` are W's parts for x_t, with b, and for h~_t.

    Their rows are those of i, f, c^ and o, as in ``nn.LSTM``.
    """

    scan = LSTMNScan

    def __init__(
        self, width: int, hidden: int, attends: bool, recency: float | None = None
    ) -> None:
        super().__init__()
        self.attends = attends
        self.recency: nn.Parameter | None = None
        if recency is not None:
            self.recency = nn.Parameter(torch.tensor([float(recency)]))
        self.inputs = nn.Linear(width, 4 * hidden)
        self.recurrent = nn.Parameter(torch.empty(4 * hidden, hidden))
        for part in self.inputs.weight.data.chunk(4):
            nn.init.xavier_uniform_(part)
        for part in self.recurrent.data.chunk(4):
            nn.init.orthogonal_(part)
        nn.init.zeros_(self.inputs.bias)
        if attends:
            self.w_input = nn.Parameter(torch.empty(hidden, width))
            self.w_key = nn.Parameter(torch.empty(hidden, hidden))
            self.w_summary = nn.Parameter(torch.empty(hidden, hidden))
            self.v = nn.Parameter(torch.empty(hidden))
            for matrix in (self.w_input, self.w_key, self.w_summary):
                nn.init.xavier_uniform_(matrix)
            nn.init.uniform_(self.v, -1 / math.sqrt(hidden), 1 / math.sqrt(hidden))

    def project(self, hidden: Tensor) -> Tensor | None:
        return hidden @ self.w_key.t() if self.attends else None

    def score(self, query: Tensor, key: Tensor) -> Tensor:
        formula = "e[t,i] = v · tanh(W_h h_i + W_x x_t + W_h~ h~_{t-1})"
        e = additive(query, key, self.v, formula=formula)
        if self.recency is None:
            return e
        e = e + F.pad(self.recency, (e.shape[-1] - 1, 0))
        if recording():
            formula, meaning = (
                "e[t,t-1] + r",
                "The newest word's score is raised by what was learned.",
            )
            note("raised", e, axes=("query", "key"), formula=formula, meaning=meaning)
        return e

    def loop(
        self, x: Tensor, memory: TapeMemory, summary: Tensor, real: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        projected, width = self.inputs(x), summary.shape[-1]
        queries = x @ self.w_input.t() if self.attends else x
        states = []
        for t, (gates, query) in enumerate(zip(projected.unbind(), queries.unbind(), strict=True)):
            with scope(f"step {t + 1}"):
                if self.attends:
                    query = torch.addmm(query, summary, self.w_summary.t())
                    recalled = memory.attend(query, self.score)
                else:
                    recalled = memory.last()
                old_h, old_c = recalled.split(width, -1)
                h, c = self.update(gates, old_h, old_c)
                memory.append(torch.cat((h, c), -1), self.project(h))
            summary = old_h if real is None else torch.where(real[t], old_h, summary)
            states.append(h)
        return torch.stack(states) if states else projected[..., :width], summary

    def matrices(self) -> LSTMNMatrices:
        return LSTMNMatrices(
            self.inputs.weight,
            self.inputs.bias,
            self.recurrent,
            self.w_input,
            self.w_key,
            self.w_summary,
            self.v,
            self.recency,
        )

    def gates(self, projected: Tensor, old_h: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """i, f, c^ and o from the projected input and h~_t."""
        i, f, g, o = torch.addmm(projected, old_h, self.recurrent.t()).chunk(4, -1)
        return i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()

    def update(
        self, projected: Tensor, old_h: Tensor, old_c: Tensor, carried: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """h_t and c_t from the projected input, h~_t and c~_t.

        ``carried`` is added to the cell: what deep fusion brings from the source.
        """
        i, f, g, o = self.gates(projected, old_h)
        c = renewed(i, f, g, old_c)
        formula = NOTES["cell"][0]
        if carried is not None:
            c, formula = c + carried, "c_t = r_t * m~_t + f_t * c~_t + i_t * c^_t"
        h = shown(o, c)
        if recording():
            values = {"recalled state": old_h, "recalled cell": old_c, "input gate": i}
            values |= {"forget gate": f, "output gate": o, "candidate": g, "cell": c, "state": h}
            own = {"cell": formula} | ({} if self.attends else LAST)
            for name, value in values.items():
                how, meaning = NOTES[name]
                note(name, value, axes=("hidden",), formula=own.get(name, how), meaning=meaning)
        return h, c


def renewed(i: Tensor, f: Tensor, candidate: Tensor, old_c: Tensor) -> Tensor:
    """c_t = f_t * c~_t + i_t * c^_t."""
    return f * old_c + i * candidate


def shown(o: Tensor, c: Tensor) -> Tensor:
    """h_t = o_t * tanh(c_t)."""
    return o * c.tanh()
