"""The values of one step out of those of all."""

from __future__ import annotations

import numpy as np

from regard.inside.explain.steptrace import Slots, StepScopes, step_trace
from regard.trace import Step, Trace


def noted(name: str, shape: tuple[int, ...], scope: str, *axes: str) -> Step:
    return Step(name, np.ones(shape), axes=("batch", *axes), formula=name, scope=scope)


def test_one_step_without_batch_and_query() -> None:
    pair = ("query", "key")
    whole = Trace(
        [
            noted("weights", (1, 1, 2), "layer 0/step 3", *pair),
            noted("state", (1, 7), "layer 0/step 3", "hidden"),
            noted("weights", (1, 1, 3), "layer 0/step 31", *pair),
            noted("weights", (1, 1, 5), "layer 0/step 3/inter-attention", *pair),
        ]
    )
    scopes = StepScopes("layer {layer}/step {number}", 1, "attention")
    given = Step("word", np.zeros(3), axes=("width",))
    trace = step_trace(whole, scopes.of_step(0, 2), Slots(["a", "b", "c"]), [given])
    assert [step.path for step in trace] == ["word", "weights", "state", "inter-attention/weights"]
    assert [step.shape for step in trace] == [(3,), (2,), (7,), (5,)]
    assert trace.steps[1].axes == ("key",)
    assert trace.steps[1].labels == {"key": ["b", "c"]}, "the last ones: a window forgets the first"


def test_which_text_is_looked_at() -> None:
    slots = Slots(["</s>", "a"], ["x", "y", "z"])
    assert slots.keys("", 3) == slots.keys("inter-attention", 3) == ["x", "y", "z"]
    assert slots.keys("intra-attention", 2) == ["</s>", "a"]


def test_the_scores_that_the_weights_are_made_of() -> None:
    scopes = StepScopes("", 0, "")
    scores = Step("scores", np.full(2, 3), axes=("key",))
    raised = Step("raised", np.full(2, 5), axes=("key",))
    assert scopes.scores_in(Trace([scores])).tolist() == [3, 3]
    assert scopes.scores_in(Trace([scores, raised])).tolist() == [5, 5]
    assert scopes.scores_in(Trace([])).tolist() == []
