"""Settings of the whole process while anybody observes; compiled models."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import regard
from regard.inside.observe.switch import Switch, is_compiled
from tests.inside.tiny import inputs, tiny


def test_the_last_one_out_puts_it_back() -> None:
    told: list[Any] = []

    def change() -> int:
        told.append("changed")
        return 7

    switch = Switch(change, told.append)
    with switch.changed():
        with pytest.raises(ZeroDivisionError), switch.changed():
            raise ZeroDivisionError
        assert told == ["changed"]
    assert told == ["changed", 7]


@pytest.mark.parametrize("in_place", [False, True])
@torch.no_grad()
def test_a_compiled_model_is_observed_without_compiling_it_anew(in_place: bool) -> None:
    """Eight compilations of one function are the most that PyTorch does."""
    model, given = tiny("Llama"), inputs("Llama")
    with regard.observe(model) as expected:
        model(**given)
    graphs: list[Any] = []

    def backend(graph: Any, examples: Any) -> Any:
        graphs.append(graph)
        return graph

    compiled: Any = model if in_place else torch.compile(model, backend=backend)
    if in_place:
        model.compile(backend=backend)
    assert is_compiled(compiled)
    before = compiled(**given)[0]
    made = len(graphs)
    assert made > 0
    for _ in range(10):
        with (
            pytest.warns(UserWarning, match="LlamaModel is compiled: it runs uncompiled") as told,
            regard.observe(compiled) as observation,
        ):
            output = compiled(**given)[0]
        assert told[0].filename == __file__
    assert torch.equal(output, before)
    assert torch.equal(compiled(**given)[0], before)
    assert len(graphs) == made
    assert [layer.name for layer in observation] == ["layers.0.self_attn", "layers.1.self_attn"]
    assert torch.equal(observation[1, 3].dense(), expected[1, 3].dense())
    torch._dynamo.reset()
