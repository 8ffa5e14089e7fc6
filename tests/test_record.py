"""record(): which values each mechanism notes, that they are right, and that off means off."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

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
    padding,
    self_attention,
)
from regard.record import Derived, leading, note, record, recording, scope
from regard.trace import Trace
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
        ("weighted_values", QUERY_KEY_WIDTH),
        ("context", QUERY_WIDTH),
    ]
    assert trace["scaled"].formula == "e[i,j] / sqrt(5)"
    assert all(step.formula and step.meaning for step in trace)


@pytest.mark.parametrize("score", [dot, Bilinear(5, 5).double(), Additive(5, 5, 3).double()])
def test_scores_without_a_scale(score: Callable[[Tensor, Tensor], Tensor]) -> None:
    with record() as trace:
        attend(rand(3, 5), rand(4, 5), rand(4, 2), score=score)
    assert [step.name for step in trace] == ["scores", "weights", "weighted_values", "context"]
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
    assert second.value("keys").shape == (2, 5, 3)
    assert second["keys"].formula == "K = M W_K"


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
        allowed = np.broadcast_to(trace.value("mask"), weights.shape)
        np.testing.assert_array_equal(allowed, case.allowed.expand(weights.shape))
    np.testing.assert_allclose(trace.value("weighted_values").sum(-2), context, rtol=0, atol=1e-12)


def test_weighted_values_are_made_only_where_somebody_looks() -> None:
    made = []

    def make(a: np.ndarray) -> np.ndarray:
        made.append(1)
        return 2 * a

    with record() as trace:
        note("twice", Derived(make, torch.ones(2), ndim=1), axes=("width",))
    assert not made
    assert trace.value("twice").tolist() == [2, 2]
    assert trace.value("twice").tolist() == [2, 2]
    assert len(made) == 1
    with record() as trace:
        attend(rand(2, 3, 5), rand(2, 4, 5), rand(2, 4, 7))
    weights = trace.value("weights")
    expected = weights[..., None] * rand(2, 4, 7).numpy()[:, None]
    np.testing.assert_array_equal(trace.value("weighted_values"), expected)


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

    async def both() -> list[Trace]:
        return await asyncio.gather(work(1), work(2))

    one, two = asyncio.run(both())
    assert (one.value("x"), two.value("x")) == (1, 2)


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
