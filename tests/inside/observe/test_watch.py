"""Who watches: each thread and each observation its own."""

from __future__ import annotations

import threading

import pytest
import torch
from torch import Tensor

import regard
from tests.inside.observe.seeing import seen
from tests.inside.tiny import inputs, tiny

# transformers' DeBERTa-v2 still asks for it when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")


def test_of_two_texts_the_last_is_kept() -> None:
    model = tiny("Bart")
    with torch.no_grad(), regard.observe(model) as observation:
        model(**inputs("Bart", (5, 5)))
        model(**inputs("Bart"))
    fresh, _ = seen(model, inputs("Bart"))
    for kind in ("encoder", "decoder", "cross"):
        one, other = (o.map(1, 0, 1, kind).dense() for o in (observation, fresh))
        assert torch.equal(one, other)


@torch.no_grad()
def test_threads_see_their_own_runs() -> None:
    model = tiny("Llama")
    texts = [inputs("Llama", (n,)) for n in (3, 4, 5, 6, 7, 8)]
    expected = [seen(model, text)[0][1, 2].dense() for text in texts]
    got: dict[int, Tensor] = {}
    start = threading.Barrier(len(texts))

    def run(i: int) -> None:
        with torch.no_grad(), regard.observe(model) as observation:
            start.wait(timeout=30)
            for _ in range(5):
                model(**texts[i])
        got[i] = observation[1, 2].dense()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(got) == len(texts)
    assert all(torch.equal(got[i], expected[i]) for i in got)
    assert model.config._attn_implementation == "sdpa"
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_another_thread_is_not_seen() -> None:
    model = tiny("Bert")
    other = threading.Thread(target=model, kwargs=inputs("Bert"))
    with regard.observe(model) as observation:
        other.start()
        other.join(timeout=60)
        assert len(observation) == 0
        model(**inputs("Bert", (4,)))
    assert observation[0, 0].shape == (4, 4)


def test_nested_observations_of_one_model() -> None:
    model = tiny("Bert")
    with regard.observe(model) as outer:
        with regard.observe(model, heads=[1]) as inner:
            model(**inputs("Bert"))
        model(**inputs("Bert"))
    assert torch.equal(outer[1, 1].dense(), inner[1, 1].dense())
    assert model.config._attn_implementation == "sdpa"
