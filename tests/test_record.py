"""record(): which values each mechanism notes, that they are right, and that off means off."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import regard
from regard.attention import (
    Additive,
    Bilinear,
    KeyValueCache,
    MultiHeadAttention,
    attend,
    causal,
    dot,
    mix,
    padding,
    self_attention,
)
from regard.record import leading, note, record, recording, scope
from regard.trace import Derived, Trace
from regard.vectors.positions import Rotary
from tests.attention.cases import Case, cases, numpy_attend

QUERY_KEY = ("query", "key")
QUERY_WIDTH = ("query", "width")
QUERY_KEY_WIDTH = ("query", "key", "width")


def steps(trace: Trace) -> list[tuple[str, tuple[str, ...]]]:
    return [(step.name, step.axes) for step in trace]


def rand(*shape: int) -> Tensor:
    torch.manual_seed(0)
    return torch.randn(*shape, dtype=torch.float64)


def test_attend() -> None:
    with record() as trace:
        attend(rand(3, 5), rand(4, 5), rand(4, 2), mask=causal())
    assert steps(trace) == [
        ("scores", QUERY_KEY),
        ("scaled", QUERY_KEY),
        ("mask", QUERY_KEY),
        ("weights", QUERY_KEY),
        ("values", ("key", "width")),
        ("weighted_values", QUERY_KEY_WIDTH),
        ("context", QUERY_WIDTH),
    ]
    assert trace["scaled"].formula == "e[i,j] / sqrt(5)"
    assert all(step.formula and step.meaning for step in trace)


@pytest.mark.parametrize("score", [dot, Bilinear(5, 5).double(), Additive(5, 5, 3).double()])
def test_scores_without_a_scale(score: Callable[[Tensor, Tensor], Tensor]) -> None:
    with record() as trace:
        attend(rand(3, 5), rand(4, 5), rand(4, 2), score=score)
    names = ["scores", "weights", "values", "weighted_values", "context"]
    assert [step.name for step in trace] == names
    np.testing.assert_array_equal(trace.value("scores"), score(rand(3, 5), rand(4, 5)).detach())


def test_leading_axes_are_batches_unless_named() -> None:
    with record() as trace:
        attend(rand(2, 3, 5), rand(2, 4, 5), rand(2, 4, 2))
    assert trace["weights"].axes == ("batch", "query", "key")
    with record() as trace:
        attend(rand(6, 2, 3, 5), rand(2, 4, 5), rand(2, 4, 2))
    assert trace["weights"].axes == ("batch 0", "batch 1", "query", "key")
    assert trace["weighted_values"].axes == ("batch 0", "batch 1", *QUERY_KEY_WIDTH)
    with record() as trace, leading("layer", "head"):
        attend(rand(7, 6, 2, 3, 5), rand(2, 4, 5), rand(2, 4, 2))
    assert trace["context"].axes == ("batch", "layer", "head", *QUERY_WIDTH)
    for step in trace:
        assert len(step.axes) == step.value.ndim


def test_simple_self_attention() -> None:
    with record("simple", ["a", "b", "c"]) as trace:
        self_attention(rand(3, 4))
    assert trace.mechanism == "simple"
    assert trace.tokens == ["a", "b", "c"]
    assert steps(trace) == [
        ("input", ("position", "width")),
        ("queries", QUERY_WIDTH),
        ("keys", ("key", "width")),
        ("values", ("key", "width")),
        ("scores", QUERY_KEY),
        ("weights", QUERY_KEY),
        ("weighted_values", QUERY_KEY_WIDTH),
        ("context", QUERY_WIDTH),
    ]
    assert [trace[name].formula for name in ("queries", "keys", "values")] == [
        "Q = X",
        "K = X",
        "V = X",
    ]


def test_self_attention_with_heads() -> None:
    with record() as trace:
        self_attention(rand(3, 4), rand(4, 6), rand(4, 6), rand(4, 2), rand(2, 5), heads=2)
    assert steps(trace) == [
        ("input", ("position", "width")),
        ("queries", ("head", *QUERY_WIDTH)),
        ("keys", ("head", "key", "width")),
        ("values", ("head", "key", "width")),
        ("scores", ("head", *QUERY_KEY)),
        ("scaled", ("head", *QUERY_KEY)),
        ("weights", ("head", *QUERY_KEY)),
        ("weighted_values", ("head", *QUERY_KEY_WIDTH)),
        ("context", ("head", *QUERY_WIDTH)),
        ("concatenated", QUERY_WIDTH),
        ("output", QUERY_WIDTH),
    ]
    assert trace["keys"].formula == "K = X W_K"


def test_multi_head_attention() -> None:
    layer = MultiHeadAttention(6, 3, key_heads=1).double()
    x = rand(2, 5, 6)
    with record() as trace:
        output = layer(x, mask=padding(torch.tensor([5, 2])) & causal())
    names = (
        "input queries keys values scores scaled mask weights weighted_values context "
        "concatenated output"
    )
    assert [step.name for step in trace] == names.split()
    shapes = {step.name: (step.value.shape, step.axes) for step in trace}
    assert shapes["queries"] == ((2, 3, 5, 2), ("batch", "head", *QUERY_WIDTH))
    assert shapes["keys"] == ((2, 1, 5, 2), ("batch", "head", "key", "width"))
    assert shapes["mask"] == ((2, 1, 5, 5), ("batch", "head", *QUERY_KEY))
    assert shapes["weights"] == ((2, 3, 5, 5), ("batch", "head", *QUERY_KEY))
    assert shapes["concatenated"] == ((2, 5, 6), ("batch", *QUERY_WIDTH))
    assert shapes["output"] == ((2, 5, 6), ("batch", *QUERY_WIDTH))
    np.testing.assert_array_equal(trace.value("output"), output.context.detach())
    assert trace["queries"].formula == "Q = X W_Q + b_Q"


def test_cross_attention_and_its_cache() -> None:
    layer, cache = MultiHeadAttention(6, 2, bias=False), KeyValueCache()
    with record() as first:
        layer(torch.ones(1, 6), torch.ones(5, 6), cache=cache)
    with record() as second:
        layer(torch.ones(1, 6), torch.ones(5, 6), cache=cache)
    assert steps(first) == steps(second)
    assert steps(first)[:2] == [
        ("input", ("position", "width")),
        ("memory", ("position", "width")),
    ]
    assert second.value("memory").shape == (5, 6)
    assert second.value("keys").shape == (2, 5, 3)
    assert second["keys"].formula == "K = M W_K"
    assert second["values"].formula == "V = M W_V"
    assert second["output"].formula == "y_i = [c_1 ; … ; c_h] W_O"


def test_values_from_another_memory() -> None:
    layer = MultiHeadAttention(6, 2, value_width=4)
    with record() as trace:
        layer(torch.ones(1, 6), torch.ones(5, 6), torch.ones(5, 4))
    assert trace.value("memory_values").shape == (5, 4)
    assert trace["keys"].formula == "K = M W_K + b_K"
    assert trace["values"].formula == "V = N W_V + b_V"


def by_formula(x: Tensor, linear: torch.nn.Linear, heads: int) -> Tensor:
    projected = x @ linear.weight.mT + linear.bias
    split: Tensor = projected.unflatten(-1, (heads, -1)).transpose(-2, -3)
    return split.detach()


def test_rotary_notes_what_is_turned_and_what_it_becomes() -> None:
    rotary = Rotary(4)
    layer, x = MultiHeadAttention(8, 2, rotary=rotary).double(), rand(5, 8)
    torch.nn.init.normal_(layer.query.bias)
    with record() as trace:
        layer(x)
    names = "input queries keys values turned_queries turned_keys scores"
    assert [step.name for step in trace][:7] == names.split()
    queries, keys = by_formula(x, layer.query, 2), by_formula(x, layer.key, 2)
    np.testing.assert_allclose(trace.value("queries"), queries, atol=1e-12)
    np.testing.assert_allclose(trace.value("keys"), keys, atol=1e-12)
    np.testing.assert_allclose(trace.value("turned_queries"), rotary(queries), atol=1e-12)
    np.testing.assert_allclose(trace.value("turned_keys"), rotary(keys), atol=1e-12)
    np.testing.assert_allclose(trace.value("scores"), rotary(queries) @ rotary(keys).mT, atol=1e-12)
    assert trace["queries"].formula == "Q = X W_Q + b_Q"
    assert trace["turned_queries"].formula == "R(p) q_p"
    assert trace["turned_queries"].axes == ("head", *QUERY_WIDTH)
    assert trace["turned_keys"].axes == ("head", "key", "width")
    assert trace["turned_keys"].formula == "R(p) k_p"
    assert trace["output"].formula == "y_i = [c_1 ; … ; c_h] W_O + b_O"


@pytest.mark.parametrize("rotary", [None, Rotary(4)])
def test_a_cache_is_in_the_formulas(rotary: Rotary | None) -> None:
    layer, x, cache = MultiHeadAttention(8, 2, bias=False, rotary=rotary), torch.ones(5, 8), None
    cache = KeyValueCache()
    layer(x[:4], mask=causal(), cache=cache)
    with record() as trace:
        layer(x[4:], mask=causal(), cache=cache)
    assert trace["values"].formula == "V = [cached ; X W_V]"
    assert trace.value("values").shape == (2, 5, 4)
    if rotary is None:
        assert trace["keys"].formula == "K = [cached ; X W_K]"
        assert trace.value("keys").shape == (2, 5, 4)
    else:
        assert trace["keys"].formula == "K = X W_K"
        assert trace.value("keys").shape == (2, 1, 4)
        assert trace["turned_keys"].formula == "[cached ; R(p) k_p]"
        assert trace.value("turned_keys").shape == (2, 5, 4)


def test_how_replaces_the_formulas() -> None:
    with record() as trace:
        self_attention(rand(3, 4), heads=2, how=("A", "B", "C"))
    assert [trace[name].formula for name in ("queries", "keys", "values")] == [
        "Q = A",
        "K = B",
        "V = C",
    ]


def test_dropped_weights_are_noted() -> None:
    torch.manual_seed(0)
    layer = MultiHeadAttention(8, 2, dropout=0.5).train()
    with record() as trace:
        layer(torch.randn(5, 8))
    kept = trace.value("kept")
    assert (kept == 0).any()
    np.testing.assert_allclose(kept[kept > 0], 2 * trace.value("weights")[kept > 0], rtol=1e-6)
    derived = trace["weighted_values"].derived
    assert derived is not None
    assert derived.rule == "kept * values"
    np.testing.assert_allclose(
        trace.value("weighted_values").sum(-2), trace.value("context"), atol=1e-6
    )
    assert trace["kept"].formula == "dropout(a[i,j], 0.5)"


@given(case=cases(dtype=torch.float64))
def test_the_values_are_right(case: Case) -> None:
    """Each noted value against NumPy in float64, from the inputs alone."""
    with record() as trace:
        attend(case.query, case.key, case.value, mask=case.mask, groups=case.groups)
    q, k, v = (t.numpy() for t in case.spread())
    scores = q @ np.swapaxes(k, -1, -2)
    context, weights = numpy_attend(*case.spread(), case.allowed)
    expected = {
        "scores": scores,
        "scaled": scores / np.sqrt(q.shape[-1]),
        "weights": weights,
        "weighted_values": weights[..., None] * v[..., None, :, :],
        "context": context,
    }
    for name, value in expected.items():
        np.testing.assert_allclose(trace.value(name), value, rtol=0, atol=1e-12, err_msg=name)
    if "mask" in trace:
        assert case.allowed is not None
        allowed = np.broadcast_to(trace.value("mask"), weights.shape)
        np.testing.assert_array_equal(allowed, case.allowed.expand(weights.shape))
    np.testing.assert_allclose(trace.value("weighted_values").sum(-2), context, rtol=0, atol=1e-12)


def test_weighted_values_are_made_only_where_somebody_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[int] = []
    make = Derived.__call__

    def counted(derived: Derived) -> Any:
        made.append(1)
        return make(derived)

    monkeypatch.setattr(Derived, "__call__", counted)
    with record() as trace:
        attend(rand(2, 3, 5), rand(2, 4, 5), rand(2, 4, 7))
    step = trace["weighted_values"]
    assert step.shape == (2, 3, 4, 7)
    assert repr(step) == "Step('weighted_values', 2 batch x 3 query x 4 key x 7 width)"
    line = next(line for line in str(trace).splitlines() if "weighted_values" in line)
    assert line.split("width")[1].split() == ["a[i,j]", "v_j"], "no range"
    assert not made
    weights = trace.value("weights")
    expected = weights[..., None] * rand(2, 4, 7).numpy()[:, None]
    np.testing.assert_array_equal(step.value, expected)
    assert step.value is not step.value, "it is not kept"


def test_weighted_values_share_the_arrays_noted() -> None:
    layer = MultiHeadAttention(8, 4, key_heads=2)
    with record() as trace:
        for _ in range(2):
            layer(torch.randn(3, 5, 8))
    for number in range(2):
        derived = trace.all("weighted_values")[number].derived
        assert derived is not None
        assert derived.weights.value is trace.all("weights")[number].value
        assert derived.values.value is trace.all("values")[number].value
        assert derived.values.value.shape == (3, 2, 5, 2)
        assert derived().shape == derived.shape == (3, 4, 5, 5, 2)
        context = trace.all("context")[number].value
        np.testing.assert_allclose(derived().sum(-2), context, atol=1e-6)


def test_mix_alone_notes_what_it_mixes() -> None:
    with record() as trace:
        attend(rand(2, 3), rand(4, 3), rand(4, 3))
        mix(torch.ones(2, 4).double(), rand(4, 3))
    assert [step.name for step in trace][-4:] == ["weights", "values", "weighted_values", "context"]
    np.testing.assert_array_equal(trace.all("weighted_values")[1].value[0], rand(4, 3))


def test_a_later_change_in_place_does_not_reach_the_trace() -> None:
    x = rand(3, 4)
    before = x.clone().numpy()
    with record() as trace:
        context = self_attention(x).context
    expected = context.clone().numpy()
    x.zero_()
    context.zero_()
    np.testing.assert_array_equal(trace.value("input"), before)
    np.testing.assert_array_equal(trace.value("context"), expected)
    assert trace.value("weighted_values").any()
    values = np.ones(2)
    with record() as trace:
        note("ones", values, axes=("width",))
    values[:] = 0
    assert trace.value("ones").tolist() == [1, 1]


def test_tensors_with_a_gradient_or_of_half_precision() -> None:
    with record() as trace:
        note("gradient", torch.ones(2, requires_grad=True) * 2, axes=("width",))
        note("half", torch.tensor([1.5, 0.1], dtype=torch.bfloat16), axes=("width",))
        note("number", torch.tensor(3), axes=())
    assert trace.value("gradient").tolist() == [2, 2]
    assert trace.value("half").dtype == np.float32
    assert trace["number"].axes == ()


def test_nested_recorders_take_over_and_give_back() -> None:
    with record() as outer:
        note("before", 1, axes=())
        with scope("a"), leading("head"), record() as inner:
            note("inside", np.ones(2), axes=())
        note("after", 1, axes=())
    assert [step.path for step in outer] == ["before", "after"]
    assert [(step.path, step.axes) for step in inner] == [("inside", ("batch",))]


def test_scopes() -> None:
    with record() as trace:
        for layer in range(2):
            with scope(f"layer {layer}"):
                note("x", layer, axes=())
                with scope("attention"):
                    note("y", layer, axes=())
        note("x", 2, axes=())
    paths = ["layer 0/x", "layer 0/attention/y", "layer 1/x", "layer 1/attention/y", "x"]
    assert [step.path for step in trace] == paths
    assert trace.value("layer 1/attention/y") == 1


def test_a_scope_ends_with_its_block_even_by_an_error() -> None:
    with record() as trace:
        with pytest.raises(ZeroDivisionError), scope("a"), leading("head"):
            raise ZeroDivisionError
        note("x", np.ones((2, 2)), axes=("width",))
    assert trace["x"].path == "x"
    assert trace["x"].axes == ("batch", "width")


def test_an_error_inside_leaves_no_recorder_active() -> None:
    with pytest.raises(ZeroDivisionError), record():
        raise ZeroDivisionError
    assert not recording()


def test_off_means_nothing_is_noted() -> None:
    assert not recording()
    note("x", 1, axes=())
    with scope("a"), leading("head"):
        note("x", 1, axes=())
    with record() as trace:
        pass
    note("x", 1, axes=())
    assert len(trace) == 0
    assert attend(rand(2, 3), rand(2, 3), rand(2, 3)).weights is None


def test_each_thread_has_its_own_recorder() -> None:
    barrier = threading.Barrier(3)
    traces: dict[int, Trace] = {}
    quiet = []

    def work(number: int) -> None:
        quiet.append(not recording())
        with regard.record() as traces[number]:
            barrier.wait(timeout=30)
            self_attention(torch.full((1, 2), float(number)))
            barrier.wait(timeout=30)

    with record() as main:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert quiet == [True] * 3
    assert len(main) == 0
    for number in range(3):
        assert traces[number].value("input").tolist() == [[number, number]]
        assert len(traces[number]) == 8


def test_each_task_has_its_own_recorder() -> None:
    async def work(number: int) -> Trace:
        with record() as trace:
            await asyncio.sleep(0)
            note("x", number, axes=())
            await asyncio.sleep(0)
        return trace

    async def both() -> tuple[Trace, Trace]:
        return await asyncio.gather(work(1), work(2))

    with ThreadPoolExecutor() as other:  # a browser of other tests has a loop in this thread
        one, two = other.submit(lambda: asyncio.run(both())).result()
    assert [int(trace.value("x")) for trace in (one, two)] == [1, 2]


@given(st.integers(1, 4))
def test_recording_changes_no_result(heads: int) -> None:
    layer, x = MultiHeadAttention(4 * heads, heads).double(), rand(2, 5, 4 * heads)
    plain = layer(x, mask=causal(), need_weights=True)
    with record():
        recorded = layer(x, mask=causal(), need_weights=True)
    assert torch.equal(plain.context, recorded.context)
    assert torch.equal(plain.weights, recorded.weights)
    fast = layer(x, mask=causal()).context
    torch.testing.assert_close(fast, recorded.context, rtol=0, atol=1e-12)
