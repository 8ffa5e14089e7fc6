"""An episode read by an actor: the action, the pieces, and whose weights are shown."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from regard.errors import ConfigError
from regard.inside.episodereading import read_episode
from regard.models.actor import Actor, sized_actor
from regard.pieces.episode import Episode

CHANCE = np.random.default_rng(5)
EPISODE = Episode("e", 1, CHANCE.normal(size=(9, 3)), list("ABABBABAA"), np.arange(1.0, 10.0))


def actor(design: str) -> Actor:
    torch.manual_seed(1)
    config = sized_actor(design, "tiny", actions=("A", "B"), states=3, context=4, steps=9)
    return Actor(config).eval()


@torch.no_grad()
@pytest.mark.parametrize("design", ["transformer", "lstmn", "simple-rnn+attention", "alone"])
def test_the_action_at_a_step(design: str) -> None:
    """The same numbers as of the model itself, on the last four steps before the action."""
    model = actor(design)
    found = read_episode(model, EPISODE, ["x", "y", "z"], 6)
    assert (found.step, found.said in "AB") == (7, True)
    to_go = torch.tensor([[42.0, 39.0, 35.0, 30.0, 24.0][i] for i in range(1, 5)])
    assert EPISODE.to_go()[3:7].tolist() == to_go.tolist()
    logits = model(
        to_go.unsqueeze(0),
        torch.tensor(EPISODE.states[None, 3:7], dtype=torch.float32),
        torch.tensor([[1, 1, 0]]),  # B, B, A
        torch.tensor([[3, 4, 5, 6]]),
    )
    assert found.probabilities == pytest.approx(logits[0, -1].softmax(-1).tolist(), abs=1e-6)
    assert found.steps == [4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7]
    assert found.kinds[-2:] == ["return", "state"]
    weights = found.weights()
    if design == "alone":
        assert weights is None
        with pytest.raises(ConfigError, match="alone has no attention: leave --head out"):
            found.weights(head=0)
        return
    assert weights is not None
    assert weights.shape == (11,)
    assert weights.sum() == pytest.approx(1, abs=1e-5)


def test_the_first_step_has_no_past() -> None:
    found = read_episode(actor("transformer"), EPISODE, ["x", "y", "z"], 0)
    assert found.pieces.labels[0] == "1 return: 45 to go"
    assert len(found.pieces) == 2
    assert found.attention.shape == (2, 4, 2)
    whole = read_episode(actor("transformer"), EPISODE, ["x", "y", "z"], 0, traced=True)
    assert len(whole.trace) > len(found.trace)
