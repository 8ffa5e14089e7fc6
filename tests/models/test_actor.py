"""Actor: equal to another implementation of the Decision Transformer, and blind to the future."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.errors import ConfigError
from regard.models.actor import ACTORS, Actor, ActorConfig, sized_actor
from regard.models.labeller import NO_LABEL
from regard.record import record

READS: dict[str, Any] = {"actions": ("0", "1", "2"), "states": 5, "context": 7, "steps": 11}


def made(model: str) -> Actor:
    torch.manual_seed(3)
    actor = Actor(sized_actor(model, "tiny", **READS)).eval()
    actor.set_scale(np.arange(5.0), np.arange(1.0, 6.0), 13.0)
    return actor


def given(n: int = 7, batch: int = 2) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    chance = torch.Generator().manual_seed(1)
    return (
        torch.rand(batch, n, generator=chance) * 13,
        torch.randn(batch, n, 5, generator=chance),
        torch.randint(3, (batch, n), generator=chance),
        torch.arange(n).expand(batch, n) + 2,
    )


@torch.no_grad()
def test_equals_the_decision_transformer_of_transformers() -> None:
    transformers = pytest.importorskip("transformers")
    ours = made("transformer")
    config = ours.config
    theirs = transformers.DecisionTransformerModel(
        transformers.DecisionTransformerConfig(
            state_dim=5, act_dim=3, hidden_size=config.width, max_ep_len=11, action_tanh=False,
            n_layer=config.layers, n_head=config.heads, n_inner=config.feedforward,
            activation_function="relu",
        )
    ).eval()  # fmt: skip
    own = ours.state_dict()
    weights = {
        "embed_timestep.weight": own["places"],
        "embed_return.weight": own["returns.weight"],
        "embed_return.bias": own["returns.bias"],
        "embed_state.weight": own["states.weight"],
        "embed_state.bias": own["states.bias"],
        "embed_action.weight": own["actions.weight"].T,
        "embed_action.bias": torch.zeros(config.width),
        "embed_ln.weight": own["norm.weight"],
        "embed_ln.bias": own["norm.bias"],
        "encoder.ln_f.weight": own["body.norm.weight"],
        "encoder.ln_f.bias": own["body.norm.bias"],
        "predict_action.0.weight": own["output.weight"],
        "predict_action.0.bias": own["output.bias"],
    }
    for i in range(config.layers):
        layer, to = f"body.layers.{i}", f"encoder.h.{i}"
        three = [own[f"{layer}.attention.{part}.weight"].T for part in ("query", "key", "value")]
        bias = [own[f"{layer}.attention.{part}.bias"] for part in ("query", "key", "value")]
        weights |= {f"{to}.attn.c_attn.weight": torch.cat(three, 1)}
        weights |= {f"{to}.attn.c_attn.bias": torch.cat(bias)}
        for ours_name, name, turned in (
            ("attention.output", "attn.c_proj", True),
            ("attention_norm", "ln_1", False),
            ("feedforward_norm", "ln_2", False),
            ("feedforward.inner", "mlp.c_fc", True),
            ("feedforward.outer", "mlp.c_proj", True),
        ):
            weight = own[f"{layer}.{ours_name}.weight"]
            weights[f"{to}.{name}.weight"] = weight.T if turned else weight
            weights[f"{to}.{name}.bias"] = own[f"{layer}.{ours_name}.bias"]
    missing = theirs.load_state_dict(weights, strict=False)
    assert not missing.unexpected_keys
    assert {name.split(".")[0] for name in missing.missing_keys} <= {
        "predict_state", "predict_return", "encoder",
    }  # fmt: skip
    assert all("wpe" in n or "wte" in n for n in missing.missing_keys if n.startswith("encoder"))
    theirs.encoder.wpe.weight.zero_()  # one vector for all places, beside those of the steps
    returns, states, actions, steps = given()
    found = theirs(
        states=(states - ours.mean) / ours.spread,
        actions=torch.nn.functional.one_hot(actions, 3).float(),
        returns_to_go=(returns / 13).unsqueeze(-1),
        timesteps=steps,
        attention_mask=torch.ones(2, 7),
    )
    torch.testing.assert_close(
        ours(returns, states, actions, steps), found.action_preds, atol=2e-5, rtol=1e-4
    )


@torch.no_grad()
@pytest.mark.parametrize("model", ACTORS)
def test_an_action_depends_on_what_was_before_it(model: str) -> None:
    """Of seven steps the action at the fourth: which returns, states and actions change it?"""
    actor = made(model)
    returns, states, actions, steps = given(batch=1)
    before = actor(returns, states, actions, steps)[0, 3]
    changed = set()
    for i in range(7):
        more, other, done = returns.clone(), states.clone(), actions.clone()
        more[0, i] += 5
        other[0, i] += 1
        done[0, i] = (done[0, i] + 1) % 3
        for what, inputs in (
            ("R", (more, states, actions)),
            ("s", (returns, other, actions)),
            ("a", (returns, states, done)),
        ):
            if not torch.allclose(actor(*inputs, steps)[0, 3], before, atol=1e-6):
                changed.add(f"{what}{i}")
    past = {f"{what}{i}" for what in "Rsa" for i in range(4)} - {"a3"}
    assert changed == ({"s3"} if model == "alone" else past)


@torch.no_grad()
@pytest.mark.parametrize("model", ["transformer", "lstmn", "alone"])
def test_without_the_last_action_and_behind_the_longest_episode(model: str) -> None:
    actor = made(model)
    returns, states, actions, steps = given()
    whole = actor(returns, states, actions, steps)
    torch.testing.assert_close(actor(returns, states, actions[:, :-1], steps), whole)
    late = actor(returns, states, actions, torch.full_like(steps, 500))
    torch.testing.assert_close(late, actor(returns, states, actions, torch.full_like(steps, 10)))


@torch.no_grad()
def test_padding_has_no_loss_and_changes_none() -> None:
    actor = made("transformer")
    returns, states, actions, steps = given(batch=1)
    alone = actor.loss(returns, states, actions, steps, actions)
    logits = actor(returns, states, actions, steps).double().log_softmax(-1)[0]
    by_hand = -sum(float(logits[t, a]) for t, a in enumerate(actions[0].tolist()))
    assert float(alone) == pytest.approx(by_hand, rel=1e-5)
    four = (returns, states, actions, steps)
    more = tuple(torch.cat([each, each[:, :3]], 1) for each in four)
    right = torch.cat([actions, torch.full((1, 3), NO_LABEL)], 1)
    assert float(actor.loss(more[0], more[1], more[2], more[3], right)) == pytest.approx(
        by_hand, rel=1e-5
    )


@torch.no_grad()
def test_what_it_notes() -> None:
    actor = made("transformer")
    with record("transformer") as trace:
        actor(*given(batch=1))
    (step,) = [s for s in trace if s.name == "probabilities"]
    assert step.value.sum(-1) == pytest.approx(np.ones((1, 7)), abs=1e-5)


def test_settings_that_do_not_fit() -> None:
    with pytest.raises(ConfigError, match="states must be a whole number of at least 1, got 0"):
        sized_actor("transformer", "tiny", **(READS | {"states": 0}))
    with pytest.raises(ConfigError, match="actions must be at least two different ones"):
        sized_actor("lstmn", "tiny", **(READS | {"actions": ("0",)}))
    config = sized_actor("alone", "tiny", **READS)
    assert ActorConfig.from_dict(config.to_dict()) == config
