"""Attention flow against networkx, against a search over all cuts, and by hand."""

from __future__ import annotations

from itertools import product

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from regard.errors import DataError
from regard.inside.measures import flow
from regard.inside.measures.flow import maximum_flows
from regard.inside.measures.measure import measured_maps
from tests.inside.measures.reference import eager


def pipes(steps: list[np.ndarray]) -> networkx.DiGraph:
    """Nodes (layer, word); pipes go down."""
    graph = networkx.DiGraph()
    for layer, step in enumerate(steps):
        for (i, j), room in np.ndenumerate(step):
            graph.add_edge((layer + 1, i), (layer, j), capacity=float(room))
    return graph


def reference(steps: list[np.ndarray]) -> np.ndarray:
    """(n, n) by networkx, in float64."""
    n, graph, top = len(steps[0]), pipes(steps), len(steps)
    found = np.zeros((n, n))
    for i, j in product(range(n), repeat=2):
        found[i, j] = networkx.maximum_flow_value(graph, (top, i), (0, j))
    return found


@pytest.mark.parametrize("family", ["Bert", "GPT2"])
def test_against_networkx(family: str) -> None:
    model, given, weights = eager(family)
    maps = measured_maps(model, lambda: model(**given), "flow")
    assert list(maps) == [(0, 0), (1, 0)]
    same = np.eye(weights.shape[-1])
    steps = [0.5 * layer.mean(0) + 0.5 * same for layer in weights]
    for layer in (0, 1):
        flows = reference(steps[: layer + 1])
        expected = flows / flows.sum(-1, keepdims=True)
        assert maps[layer, 0].dense().double().numpy() == pytest.approx(expected, abs=1e-6)


@st.composite
def networks(draw: st.DrawFn) -> list[Tensor]:
    """Three to six layers of capacities, with pipes that are closed and pipes that are alike."""
    n, layers = draw(st.sampled_from([2, 3, 5])), draw(st.integers(3, 6))
    rooms = st.lists(st.integers(0, 7), min_size=n * n, max_size=n * n)
    return [torch.tensor(draw(rooms)).double().reshape(n, n) / 8 for _ in range(layers)]


@settings(deadline=None, max_examples=25)
@given(networks())
def test_any_network(steps: list[Tensor]) -> None:
    expected = reference([step.numpy() for step in steps])
    assert maximum_flows(steps).numpy() == pytest.approx(expected, abs=1e-12)


def test_no_cut_is_narrower(monkeypatch: pytest.MonkeyPatch) -> None:
    """The maximum flow is the narrowest cut: all of them, by brute force."""
    monkeypatch.setattr(flow, "TOGETHER", 1)  # one problem at a time
    steps = [s.softmax(-1) for s in torch.randn(3, 3, 3, generator=torch.manual_seed(7)).double()]
    graph, found = pipes([step.numpy() for step in steps]), maximum_flows(steps)
    between = [(layer, word) for layer in (1, 2) for word in range(3)]
    for i, j in product(range(3), repeat=2):
        ends = {(3, i), *((0, word) for word in range(3) if word != j)}  # nothing leaves these
        cuts = []
        for ons in product((False, True), repeat=len(between)):
            side = ends | {node for node, on in zip(between, ons, strict=True) if on}
            rooms = graph.edges(data="capacity")
            cuts.append(sum(room for a, b, room in rooms if a in side and b not in side))
        assert float(found[i, j]) == pytest.approx(min(cuts), abs=1e-12)


def test_by_hand() -> None:
    """Two words that only look at the first, twice: from the second one way of ½ on the left, and
    through itself ½ again, of which the pipe to the first takes ½ and that to itself ½."""
    step = torch.tensor([[1.0, 0.0], [0.5, 0.5]]).double()
    assert maximum_flows([step]).tolist() == step.tolist()
    assert maximum_flows([step, step]).tolist() == [[1.0, 0.0], [1.0, 0.5]]


def test_a_long_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model, given, _ = eager("Bert")
    monkeypatch.setattr(flow, "MOST", 8)
    with pytest.raises(DataError, match=r"may have 8 tokens with --measure flow, this one has 9"):
        measured_maps(model, lambda: model(**given), "flow")
