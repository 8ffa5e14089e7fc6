"""The page's worked examples (script/worked) are the twin of regard.worked: every step of every
mechanism, and what follows from any change, is what Python computes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from regard.trace import Trace
from regard.views.page.inline import script
from regard.worked.example import Example
from regard.worked.given import given_data
from regard.worked.source import ExampleFile, plain, shipped
from regard.worked.stage import weights_of
from regard.worked.stages import compute, stages
from tests.worked.cases import called, generated, variants

Numbers = np.ndarray[Any, Any]
SOLVE = """
cases => {
  SCRIPT
  return cases.map(([given, changes]) => {
    const each = Object.entries(changes).map(([name, own]) => [
      name, new Map(Object.entries(own).map(([at, to]) => [Number(at), to]))]);
    const { steps, fixed } = of_solve.solve(given, new Map(each));
    const found = [...steps].map(([name, { shape, data }]) => [name, [shape, Array.from(data)]]);
    return { steps: Object.fromEntries(found), fixed: [...fixed] };
  });
}
"""
MORE: dict[str, dict[str, Any]] = {
    "grouped": {
        "queries": [[[1, 0], [0, 2]], [[2, 1], [1, 1]]],
        "keys": [[[1, 2], [0, 1], [3, 0]]],
        "values": [[[1], [2], [5]]],
        "mechanism": "multihead",
        "heads": 2,
        "key_heads": 1,
        "w_o": [[1, 2, 3], [0, 1, 1]],
        "mask": {"causal": True, "window": 1},
    },
    "a row that sees nothing": {
        "scores": [[1, 2], [3, 4]],
        "scale": 0.25,
        "values": [[1, 2], [3, 5]],
        "mask": [[True, False], [False, False]],
    },
    "places": {"x": [[1, 2, 3]], "mechanism": "simple", "positions": "sinusoidal"},
    "a table alone": {"mechanism": "sinusoidal", "length": 3, "width": 5, "first": 7},
    "rows are outputs": {
        "mechanism": "lstm",
        "x": [[1, 0], [2, 1]],
        **{key: [[1, 2, 3]] for key in ("w_i", "w_f", "w_o", "w_c")},
        "h_0": [0.5],
    },
    "a masked block": {
        "mechanism": "encoder-block",
        "x": [[1, 2], [0, 1]],
        **{key: [[1, 2], [3, 1]] for key in ("w_q", "w_k", "w_v", "w_o", "w_1", "w_2")},
        "mask": "causal",
    },
}


@functools.cache
def examples() -> dict[str, tuple[Example, Trace]]:
    """Every mechanism with every choice, the collection, and what these do not have."""
    made = {called(variant): generated(variant, 5) for variant in variants()}
    made |= {name: Example.from_file(ExampleFile.read(path)) for name, path in shipped().items()}
    made |= {name: Example.from_dict(plain(content)) for name, content in MORE.items()}
    return {name: (example, compute(example)) for name, example in made.items()}


Solved = Callable[[list[tuple[str, dict[str, dict[int, float]]]]], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def solved(browser: Any) -> Iterator[Solved]:
    """What the script makes of examples by name, each with changes: {step: {place: number}}."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    code = SOLVE.replace("SCRIPT", script("solve"))
    yield lambda cases: page.evaluate(
        code, [[given_data(*examples()[name]), changes] for name, changes in cases]
    )
    context.close()


def values(trace: Trace) -> dict[str, Numbers]:
    return {step.path: np.asarray(step.value) for step in trace}


def same(found: dict[str, Any], expected: dict[str, Numbers], name: str) -> None:
    assert found.keys() == expected.keys(), name
    for path, value in expected.items():
        shape, numbers = found[path]
        assert tuple(shape) == value.shape, (name, path)
        np.testing.assert_allclose(
            numbers, value.ravel(), rtol=1e-12, atol=1e-12, err_msg=f"{name}: {path}"
        )


def test_every_step_of_every_mechanism(solved: Solved) -> None:
    assert len(examples()) > 40
    found = solved([(name, {}) for name in examples()])
    for (name, (_, trace)), own in zip(examples().items(), found, strict=True):
        same(own["steps"], values(trace), name)


def test_what_follows_from_another_number_that_is_given(solved: Solved) -> None:
    rng = np.random.default_rng(11)
    cases, changed = [], []
    for name, (example, _) in examples().items():
        for key in rng.choice(list(example.given), min(2, len(example.given)), replace=False):
            other = example.given[str(key)].copy()
            at = int(rng.integers(other.size))
            other.flat[at] += 0.5
            cases.append((name, {str(key): {at: float(other.flat[at])}}))
            changed.append(replace(example, given={**example.given, str(key): other}))
    for (name, _), example, own in zip(cases, changed, solved(cases), strict=True):
        same(own["steps"], values(compute(example)), name)


def followed(name: str, path: str, at: int, to: float) -> dict[str, Numbers]:
    """Every step again, one number of one of them replaced, by the stages of the mechanism."""
    example, trace = examples()[name]
    true = {path: torch.from_numpy(v.astype(np.float64)) for path, v in values(trace).items()}
    known = {**weights_of(example), **true}
    made = set[str]()
    for stage in stages(example):
        if stage.name in made or stage.name not in true:
            continue
        made.add(stage.name)
        value = (true[stage.name] if stage.name in example.given else stage.run(known)).contiguous()
        if stage.name == path:
            value = value.clone()
            value.view(-1)[at] = to
        known[stage.name] = value
    return {path: known[path].numpy() for path in true}


def test_what_follows_from_another_number_of_a_step(solved: Solved) -> None:
    """The steps that only show others again are left alone: nothing follows from them."""
    rng = np.random.default_rng(13)
    cases = []
    for name, found in zip(examples(), solved([(n, {}) for n in examples()]), strict=True):
        example, trace = examples()[name]
        own = {stage.name for stage in stages(example)} - set(found["fixed"])
        paths = [step.path for step in trace if step.path in own]
        for path in rng.choice(paths, min(3, len(paths)), replace=False):
            at, to = int(rng.integers(trace.value(str(path)).size)), float(rng.uniform(0, 2))
            cases.append((name, {str(path): {at: to}}))
    for (name, changes), made in zip(cases, solved(cases), strict=True):
        ((path, change),) = changes.items()
        ((at, to),) = change.items()
        same(made["steps"], followed(name, path, at, to), f"{name}, {path}")
