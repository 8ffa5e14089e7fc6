"""Recurrence: the recurrent designs in an ONNX graph, step by step (the operation Scan).

The tapes are as long as the text from the first step on, and zero where nothing was written yet.
Weights are masked to what may be looked at; at the first word of an LSTMN that is nothing, and then
the mix is of zeros, as it should be.
"""

from __future__ import annotations

import numpy as np
from torch import Tensor

from regard.recurrent.lstmn import LSTMNLayer
from regard.recurrent.reader import Reader
from regard.recurrent.selfattentive import SelfAttentiveLayer
from regard.store.exchange.graph import HIDDEN, OnnxGraph


def read(graph: OnnxGraph, x: str, ids: str, reader: Reader) -> str:
    """The states (batch, T, hidden) of the last layer over ``x`` (batch, T, width)."""
    loops = _Loops(graph, ids, reader.hidden_size, reader.window)
    x = graph.node("Transpose", x, perm=[1, 0, 2])
    for layer in reader.layers:
        if isinstance(layer, LSTMNLayer):
            x = loops.lstmn(x, layer) if layer.attends else loops.lstm(x, layer)
        else:
            assert isinstance(layer, SelfAttentiveLayer)
            x = loops.selfattentive(x, layer) if layer.attends else loops.simple(x, layer)
    return graph.node("Transpose", x, perm=[1, 0, 2])


class _Loops:
    """The loop of each design, over ``x`` (T, batch, width), in one graph."""

    def __init__(self, graph: OnnxGraph, ids: str, hidden: int, window: int | None) -> None:
        self.graph, self.hidden, self.window = graph, hidden, window
        self.one = graph.number([1], np.int64)
        batch = graph.node("Shape", ids, start=0, end=1)
        side, width = graph.length(ids), graph.number([hidden], np.int64)
        zero = graph.number(0.0)
        self.nothing = graph.node("Expand", zero, graph.node("Concat", batch, width, axis=0))
        tape = graph.node("Concat", batch, side, width, axis=0)
        self.tape = graph.node("Expand", zero, tape)
        count = graph.node("Squeeze", side, graph.number([0], np.int64))
        first, by = graph.number(0, np.int64), graph.number(1, np.int64)
        places = graph.node("Range", first, count, by)
        column = graph.node("Unsqueeze", places, self.one)
        self.distance = graph.node("Sub", column, places)
        """(T, T): how many words ago word i was, at word t."""
        self.here = self.at(0)

    def at(self, distance: int) -> str:
        """1 where a word was so many words ago, else 0."""
        same = self.graph.node("Equal", self.distance, self.graph.number(distance, np.int64))
        return self.graph.node("Cast", same, to=self.graph.onnx.TensorProto.FLOAT)

    def visible(self, first: int) -> str:
        """0 where a word is ``first`` or more words ago and within the window, else HIDDEN."""
        graph = self.graph
        near = graph.node("GreaterOrEqual", self.distance, graph.number(first, np.int64))
        if self.window is not None:
            far = graph.number(first + self.window, np.int64)
            near = graph.node("And", near, graph.node("Less", self.distance, far))
        return graph.node("Where", near, graph.number(0.0), graph.number(HIDDEN))

    def times(self, x: str, matrix: Tensor) -> str:
        """x Wᵀ"""
        return self.graph.node("MatMul", x, self.graph.number(matrix.t()))

    def plus(self, x: str, y: str, matrix: Tensor) -> str:
        """x + y Wᵀ"""
        return self.graph.node("Add", x, self.times(y, matrix))

    def written(self, tape: str, here: str, value: str) -> str:
        """The tape (batch, T, hidden) with ``value`` (batch, hidden) ``here``."""
        graph = self.graph
        place = graph.node("Unsqueeze", here, self.one)
        new = graph.node("Mul", place, graph.node("Unsqueeze", value, self.one))
        return graph.node("Add", tape, new)

    def weights(self, query: str, keys: str, v: Tensor | None, mask: str) -> str:
        """softmax(v · tanh(query + keys) + mask), or of query · keys without v: (batch, 1, T)"""
        graph, wide = self.graph, self.graph.node("Unsqueeze", query, self.one)
        if v is None:
            last = graph.number([2], np.int64)
            scores = graph.node("ReduceSum", graph.node("Mul", wide, keys), last, keepdims=0)
        else:
            together = graph.node("Tanh", graph.node("Add", wide, keys))
            scores = graph.node("MatMul", together, graph.number(v))
        found = graph.node("Softmax", graph.node("Add", scores, mask), axis=-1)
        return graph.node("Unsqueeze", found, self.one)

    def mixed(self, weights: str, tape: str) -> str:
        return self.graph.node("Squeeze", self.graph.node("MatMul", weights, tape), self.one)

    def simple(self, x: str, layer: SelfAttentiveLayer) -> str:
        """h_t = tanh(A[x_t; h_{t-1}] + b)"""

        def step(states: list[str], rows: list[str]) -> tuple[list[str], str]:
            h = self.graph.node("Tanh", self.plus(rows[0], states[0], layer.recurrent))
            return [h], h

        return self.graph.scan([self.nothing], [self.graph.linear(x, layer.inputs)], step)

    def selfattentive(self, x: str, layer: SelfAttentiveLayer) -> str:
        """h_t = tanh(A[x_t; c_{t-1}] + b), c_t = sum_i softmax(e[t,:])_i h_i"""

        def step(states: list[str], rows: list[str]) -> tuple[list[str], str]:
            (c, h, tape, keys), (a, here, mask) = states, rows
            a = self.plus(a, c, layer.recurrent)
            if layer.previous is not None:
                a = self.plus(a, h, layer.previous)
            h = self.graph.node("Tanh", a)
            tape = self.written(tape, here, h)
            keys = self.written(keys, here, self.times(h, layer.w_key))
            found = self.weights(self.times(h, layer.w_query), keys, layer.v, mask)
            return [self.mixed(found, tape), h, tape, keys], h

        begin = [self.nothing, self.nothing, self.tape, self.tape]
        rows = [self.graph.linear(x, layer.inputs), self.here, self.visible(0)]
        return self.graph.scan(begin, rows, step)

    def lstm(self, x: str, layer: LSTMNLayer) -> str:
        """The LSTM, which recalls the last state and the last cell."""

        def step(states: list[str], rows: list[str]) -> tuple[list[str], str]:
            h, c = self.renewed(rows[0], states[0], states[1], layer)
            return [h, c], h

        begin = [self.nothing, self.nothing]
        return self.graph.scan(begin, [self.graph.linear(x, layer.inputs)], step)

    def lstmn(self, x: str, layer: LSTMNLayer) -> str:
        """The same with the states and cells on the tapes, mixed."""

        def step(states: list[str], rows: list[str]) -> tuple[list[str], str]:
            (summary, tape, cells, keys), (gates, query, here, mask) = states, rows
            found = self.weights(self.plus(query, summary, layer.w_summary), keys, layer.v, mask)
            summary = self.mixed(found, tape)
            h, c = self.renewed(gates, summary, self.mixed(found, cells), layer)
            keys = self.written(keys, here, self.times(h, layer.w_key))
            return [summary, self.written(tape, here, h), self.written(cells, here, c), keys], h

        mask = self.visible(1)
        if layer.recency is not None:
            newest = self.graph.node("Mul", self.at(1), self.graph.number(layer.recency))
            mask = self.graph.node("Add", mask, newest)
        begin = [self.nothing, self.tape, self.tape, self.tape]
        rows = [self.graph.linear(x, layer.inputs), self.times(x, layer.w_input), self.here, mask]
        return self.graph.scan(begin, rows, step)

    def renewed(self, gates: str, old_h: str, old_c: str, layer: LSTMNLayer) -> tuple[str, str]:
        """h_t and c_t of the projected input and what was recalled."""
        graph = self.graph
        together = self.plus(gates, old_h, layer.recurrent)
        ends = [graph.number([n * self.hidden], np.int64) for n in range(5)]
        i, f, g, o = (
            graph.node("Slice", together, ends[n], ends[n + 1], self.one) for n in range(4)
        )
        i, f, o = (graph.node("Sigmoid", gate) for gate in (i, f, o))
        new = graph.node("Mul", i, graph.node("Tanh", g))
        c = graph.node("Add", graph.node("Mul", f, old_c), new)
        return graph.node("Mul", o, graph.node("Tanh", c)), c
