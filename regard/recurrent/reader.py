"""Reader: what recurrent networks with a tape share: layers, lengths, batch orders, states."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.errors import ConfigError, ShapeError
from regard.record import note, recording, scope
from regard.recurrent.scan.tape import TapeDesign, TapeLimits, TapeStart, tape_scan
from regard.recurrent.tape import TapeMemory, Tapes, aligned, check_lengths


class Reading(NamedTuple):
    """What reading a text gives."""

    output: Tensor
    """h_t of the last layer, in the order of the input; zeros behind a sequence's end."""
    state: Tapes
    """What to pass on to read the next piece."""
    weights: tuple[Tensor, ...] | None
    """Of each layer, if asked for: (batch, t, i), the attention of word t to word i."""


class ReaderLayer(nn.Module, ABC):
    """One layer: its own weights, and a loop over the words."""

    scan: ClassVar[type[TapeDesign]]
    """:meth:`loop` with its gradient written out."""
    attends: bool
    inputs: nn.Linear
    recurrent: nn.Parameter

    @abstractmethod
    def matrices(self) -> tuple[Tensor | None, ...]:
        """The weights, as :attr:`scan` takes them."""

    @abstractmethod
    def project(self, hidden: Tensor) -> Tensor | None:
        """The keys of the states ``hidden`` (batch, m, hidden); None without attention."""

    @abstractmethod
    def loop(
        self, x: Tensor, memory: TapeMemory, summary: Tensor, real: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """:meth:`forward`, word by word, every value noted."""

    def forward(
        self, x: Tensor, memory: TapeMemory, summary: Tensor, real: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Read ``x`` (n, batch, width) onto ``memory``: outputs (n, batch, hidden), summary.

        ``real`` (n, batch, 1) is False at padding, where the summary stays what it was.
        """
        if not self.attends or memory.attended is not None or not len(x):
            return self.loop(x, memory, summary, real)
        lengths = None if real is None else real.sum((0, 2))
        limits = TapeLimits(memory.allowed, lengths, memory.window)
        start = TapeStart(limits, x, *memory.start(), summary)
        read = tape_scan(self.scan, start, self.matrices())
        memory.fill(read.tape, read.keys)
        return read.states, read.summary


class Reader(nn.Module, ABC):
    """Layers of recurrence over a tape, with the arguments of ``nn.LSTM``."""

    has_cells = False
    formula = ""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        *,
        batch_first: bool = False,
        dropout: float = 0.0,
        attention: bool = True,
        window: int | None = None,
    ) -> None:
        super().__init__()
        for name, size in (
            ("input_size", input_size),
            ("hidden_size", hidden_size),
            ("num_layers", num_layers),
            ("window", 1 if window is None else window),
        ):
            if size < 1:
                raise ConfigError(f"{name} must be at least 1, got {size}")
        if not 0 <= dropout <= 1:
            raise ConfigError(f"dropout is the share of values to drop, 0 to 1, got {dropout}")
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.batch_first, self.dropout = batch_first, dropout
        self.attention, self.window = attention, window
        widths = [input_size] + [hidden_size] * (num_layers - 1)
        self.layers = nn.ModuleList(self.layer(width) for width in widths)

    @abstractmethod
    def layer(self, width: int) -> ReaderLayer:
        """A layer for inputs of this width."""

    def parts(self) -> list[ReaderLayer]:
        """The layers, from the lowest."""
        return [layer for layer in self.layers if isinstance(layer, ReaderLayer)]

    def forward(
        self,
        x: Tensor,
        state: Tapes | None = None,
        *,
        lengths: Tensor | None = None,
        need_weights: bool = False,
    ) -> Reading:
        """Read ``x`` (n, batch, width), or (batch, n, width) with ``batch_first``.

        ``state`` is what an earlier call returned, nothing at the start of a text; ``lengths``
        (batch,) says how many positions of each sequence are real, the padding behind them. The
        weights' last axis counts the slots of the state first, then the words of ``x``.
        """
        steps = self._steps(x)
        n, batch, _ = steps.shape
        before = self._start(steps, state)
        real = None
        if lengths is not None:
            check_lengths(lengths, batch, n, "positions")
            lengths = lengths.to(steps.device)
            real = (torch.arange(n, device=x.device).unsqueeze(1) < lengths).unsqueeze(-1)
            steps = steps.masked_fill(~real, 0)  # whatever is there, NaN too
        if need_weights and not self.attention:
            raise ConfigError("a reader with attention=False has no weights to give")
        output, after, weights = self._read(steps, before, lengths, real, need_weights)
        if self.batch_first:
            output = output.transpose(0, 1)
        return Reading(output, after, tuple(weights) if need_weights else None)

    def step(self, x: Tensor, state: Tapes | None = None) -> tuple[Tensor, Tapes]:
        """Read one word ``x`` (batch, width): h_t of the last layer (batch, hidden), and state."""
        if x.dim() != 2:
            raise ShapeError(f"one word of each sequence is (batch, width), got {tuple(x.shape)}")
        axis = 1 if self.batch_first else 0
        reading = self(x.unsqueeze(axis), state)
        return reading.output.squeeze(axis), reading.state

    def _steps(self, x: Tensor) -> Tensor:
        """``x`` as (n, batch, width)."""
        order = "(batch, n, width)" if self.batch_first else "(n, batch, width)"
        if x.dim() != 3 or x.shape[-1] != self.input_size:
            raise ShapeError(
                f"the input must be {order} with width {self.input_size}, got {tuple(x.shape)}"
            )
        return x.transpose(0, 1) if self.batch_first else x

    def _start(self, steps: Tensor, state: Tapes | None) -> Tapes:
        batch, layers, hidden = steps.shape[1], self.num_layers, self.hidden_size
        if state is not None:
            state.check(steps, layers, batch, hidden, self.has_cells)
            return state._replace(lengths=state.lengths.to(steps.device))
        empty = steps.new_zeros(layers, batch, 0, hidden)
        none = torch.zeros(batch, dtype=torch.long, device=steps.device)
        cells = empty if self.has_cells else None
        return Tapes(empty, cells, steps.new_zeros(layers, batch, hidden), none)

    def _read(
        self,
        x: Tensor,
        before: Tapes,
        lengths: Tensor | None,
        real: Tensor | None,
        need_weights: bool,
    ) -> tuple[Tensor, Tapes, list[Tensor]]:
        n, keep = x.shape[0], self.window if self.attention else 1
        tapes, summaries, keys, weights = [], [], [], []
        for k, (layer, memory) in enumerate(self._memories(before, n)):
            if self.attention and (need_weights or recording()):
                memory.attended = []
            with scope(f"layer {k}"):
                x, summary = layer(x, memory, before.summary[k], real)
                x = x if real is None else x.masked_fill(~real, 0)
                if memory.attended is not None:
                    attended = memory.weights()
                    if real is not None:
                        attended = attended.masked_fill(~real.transpose(0, 1), 0)
                    weights.append(attended)
                if recording():
                    self._note(x, weights)
            tapes.append(aligned(memory.values.since(0), before.lengths, lengths, n, keep))
            if memory.keys is not None and not torch.is_grad_enabled():
                keys.append(aligned(memory.keys.since(0), before.lengths, lengths, n, keep))
            summaries.append(summary)
            if self.dropout and self.training and k + 1 < self.num_layers:
                x = F.dropout(x, self.dropout)
        words = before.lengths + (n if lengths is None else lengths)
        return x, self._state(tapes, summaries, keys, words), weights

    def _memories(self, before: Tapes, n: int) -> Iterator[tuple[ReaderLayer, TapeMemory]]:
        """Each layer with its tape, which has room for n words more."""
        values = before.values()
        slot = torch.arange(values.shape[2], device=values.device)
        unused = slot < (len(slot) - before.lengths).unsqueeze(1)
        values = values.masked_fill(unused.unsqueeze(-1), 0)
        for k, layer in enumerate(self.parts()):
            keys = None if before.keys is None or torch.is_grad_enabled() else before.keys[k]
            if keys is None:
                keys = layer.project(values[k, ..., : self.hidden_size])
            yield layer, TapeMemory(values[k], keys, before.lengths, n, self.window)

    def _state(
        self, tapes: list[Tensor], summaries: list[Tensor], keys: list[Tensor], words: Tensor
    ) -> Tapes:
        tape = _stacked(tapes)
        hidden, cells = tape, None
        if self.has_cells:
            hidden, cells = tape.split(self.hidden_size, -1)
        return Tapes(
            hidden,
            cells,
            _stacked(summaries),
            words.clamp(max=tape.shape[2]),
            _stacked(keys) if keys else None,
        )

    def _note(self, h: Tensor, weights: list[Tensor]) -> None:
        if weights:
            note(
                "attention",
                weights[-1],
                axes=("query", "key"),
                formula="a[t,i]",
                meaning="How much of its attention each word gives to each word it can see.",
            )
        note(
            "states",
            h.transpose(0, 1),
            axes=("position", "hidden"),
            formula=self.formula,
            meaning="What is remembered at each position; all of them stay on the tape.",
        )


def _stacked(layers: list[Tensor]) -> Tensor:
    """(layers, …); one layer is not copied."""
    return torch.stack(layers) if len(layers) > 1 else layers[0].unsqueeze(0)
