"""Statistics that come with the output: the kernel computes both in one pass of the model."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import regard
from regard.attention.kernel import library, run
from regard.errors import RegardError
from tests.inside.tiny import inputs, tiny

WANTED: dict[str, Any] = {"top": 3, "entropy": True, "received": True, "cells": 4}


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """A line for each run of the kernel: did it have values?"""
    if library.kernel() is None:
        pytest.skip("the native kernel is not in use here")
    seen: list[bool] = []
    original = run.run

    def counted(kernel: Any, query: Any, key: Any, value: Any, *options: Any) -> Any:
        seen.append(value is not None)
        return original(kernel, query, key, value, *options)

    monkeypatch.setattr(run, "run", counted)
    return seen


@torch.no_grad()
@pytest.mark.parametrize("family", ["Bert", "GPT2", "Llama", "Mistral"])
def test_they_come_with_the_output(family: str, passes: list[bool]) -> None:
    model = tiny(family)
    given = {name: tensor[:1] for name, tensor in inputs(family).items()}
    if "attention_mask" in given:
        given["attention_mask"] = torch.ones_like(given["attention_mask"])
    plain = model(**given)[0]
    with regard.observe(model) as before:
        assert torch.equal(model(**given)[0], plain)
    assert passes == []
    with regard.observe(model, statistics=WANTED) as observation:
        output = model(**given)[0]
    torch.testing.assert_close(output, plain, atol=1e-5, rtol=1e-5)
    layers = len(observation.layers)
    assert passes == [True] * layers
    for layer in range(layers):
        ours = observation.statistics(layer, **WANTED)
        assert len(passes) == layers  # nothing was computed again
        theirs = before.statistics(layer, **WANTED)
        passes.pop()
        for name in ("lse", "top_weights", "entropy", "received", "pooled_max", "pooled_mean"):
            torch.testing.assert_close(getattr(ours, name), getattr(theirs, name))
    only = observation.statistics(0, entropy=True)
    assert only.received is None
    assert only.entropy is not None
    assert len(passes) == layers
    observation.statistics(0, top=2)
    assert len(passes) == layers + 1  # another number of links: computed


@torch.no_grad()
def test_padding_and_chosen_heads(passes: list[bool]) -> None:
    model, given = tiny("Bert"), inputs("Bert")
    with regard.observe(model, heads=[1], statistics=True) as observation:
        model(**given)
    for batch in range(len(given["input_ids"])):
        found = observation.statistics(0, batch=batch, received=True)
        assert found.received is not None
        weights = observation.map(0, 1, batch).dense()
        torch.testing.assert_close(found.received[0], weights.sum(0), atol=1e-5, rtol=1e-5)
    assert passes.count(True) == len(observation.layers)


def test_what_is_no_statistic_is_refused() -> None:
    with (
        pytest.raises(RegardError, match="got 'entropie'; did you mean 'entropy'"),
        regard.observe(tiny("Bert"), statistics={"entropie": True}),
    ):
        pass
