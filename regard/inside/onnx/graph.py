"""Graph: where attention is in an ONNX graph.

A softmax is attention if its rows then mix values, weights · v; one that gives the probabilities
of an answer is not. From its scores the graph is walked back to the product of queries and keys:

    scores = q · kᵀ, times or divided by numbers, plus what is added, hidden where a mask says so

Who runs the graph holds what was found to the graph's own weights: what does not give these, as in
8 bits, is not used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

AFTER = {"Identity", "Dropout", "Cast", "Where", "DynamicQuantizeLinear"}
AFTER |= {"QuantizeLinear", "DequantizeLinear"}
"""What weights may pass before they mix the values."""
PRODUCTS = {"MatMul", "MatMulInteger", "QLinearMatMul"}
"""Products; their first input is the left side."""
FUSED = {"Attention", "MultiHeadAttention", "GroupQueryAttention", "QAttention"}
"""Operations that are attention as a whole and show nothing of it."""


@dataclass(frozen=True)
class Softmax:
    """The attention around one softmax of a graph, by the names of its values."""

    weights: str
    value: str = ""
    """What the weights mix, and"""
    context: str = ""
    """what comes out; both empty where values are whole numbers of 8 bits."""
    query: str = ""
    key: str = ""
    """Transposed, as the product takes it; both empty where they were not found."""
    reason: str = ""
    """Why not."""
    changes: tuple[tuple[str, str, bool], ...] = ()
    """From the product to the softmax: what is done to scores, Mul, Div, Add or Where, the name of
    the other side, and whether scores are the side of a Where that is taken where it is true."""

    @property
    def wanted(self) -> list[str]:
        """All that must be known of it when the graph runs."""
        return [
            name for name in (self.weights, self.value, self.context, self.query, self.key) if name
        ] + [name for _, name, _ in self.changes]


@dataclass
class Found:
    """What a graph has of attention."""

    attention: list[Softmax] = field(default_factory=list)
    fused: int = 0
    """Operations that are attention and show nothing of it."""


class Graph:
    """The nodes of an ONNX graph by what they make and by what they take."""

    def __init__(self, graph: Any) -> None:
        self.makers = {name: node for node in graph.node for name in node.output}
        self.takers: dict[str, list[Any]] = {}
        for node in graph.node:
            for name in node.input:
                self.takers.setdefault(name, []).append(node)
        self.nodes = list(graph.node)
        self.fixed = {tensor.name for tensor in graph.initializer}

    def find(self) -> Found:
        """Every attention, in the order in which it is computed."""
        found = Found()
        for node in self.nodes:
            if node.op_type == "Softmax":
                product = self._mixing(node.output[0])
                if product is not None:
                    found.attention.append(self._around(node, product))
            elif node.op_type in FUSED:
                found.fused += 1
        return found

    def _mixing(self, name: str) -> Any:
        """The product whose left side is ``name``, or what that becomes; None if there is none."""
        for node in self.takers.get(name, []):
            if node.op_type in PRODUCTS and node.input[0] == name:
                return node
            if node.op_type in AFTER and (found := self._mixing(node.output[0])) is not None:
                return found
        return None

    def _around(self, softmax: Any, product: Any) -> Softmax:
        plain = product.op_type == "MatMul"
        value = product.input[1] if plain else ""
        context = product.output[0] if plain else ""
        scores = self._scores(softmax.input[0])
        if scores is None or not plain:
            reason = "its scores or its mix are computed in another way, such as in 8 bits"
            return Softmax(softmax.output[0], value, context, reason=reason)
        (query, key), changes = scores
        return Softmax(softmax.output[0], value, context, query, key, changes=tuple(changes))

    def _scores(self, name: str) -> tuple[tuple[str, str], list[tuple[str, str, bool]]] | None:
        """Queries and keys of the scores ``name``, and what was done to their product, in order."""
        node = self.makers.get(name)
        if node is None:
            return None
        if node.op_type == "MatMul":
            both = (node.input[0], node.input[1])
            return None if self.fixed & set(both) else (both, [])
        if node.op_type in ("Identity", "Cast"):
            return self._scores(node.input[0])
        sides = {"Mul": (0, 1), "Add": (0, 1), "Div": (0,), "Where": (1, 2)}.get(node.op_type, ())
        for side in sides:
            found = self._scores(node.input[side])
            if found is not None:
                other = 0 if node.op_type == "Where" else 1 - side
                found[1].append((node.op_type, node.input[other], side == 1))
                return found
        return None
