"""Stacks read any vectors: the same alone and in a batch, backwards only where they may."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from regard.models.design import DESIGNS, DesignConfig, shape
from regard.models.stack import RecurrentStack, Stack, TransformerStack, build_stack


class VectorConfig(DesignConfig):
    what = "a network"


def stack(name: str, forwards: bool = True, **changes: Any) -> tuple[Stack, VectorConfig]:
    settings = shape(name, "tiny") | {"width": 8} | changes
    config = VectorConfig(model=name, **settings)
    return build_stack(config, forwards=forwards).double().eval(), config


@pytest.mark.parametrize("name", DESIGNS)
def test_vectors_in_features_out(name: str) -> None:
    made, config = stack(name)
    assert isinstance(made, TransformerStack if name == "transformer" else RecurrentStack)
    features, state = made(torch.randn(3, 5, 8).double())
    assert features.shape == (3, 5, config.features)
    assert (state is None) == (name == "transformer")


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("forwards", [True, False])
def test_padding_changes_nothing(name: str, forwards: bool) -> None:
    made, _ = stack(name, forwards)
    x, lengths = torch.randn(3, 5, 8).double(), torch.tensor([5, 2, 1])
    together = made(x, lengths).features
    for row, n in enumerate(lengths.tolist()):
        alone = made(x[row : row + 1, :n]).features[0]
        torch.testing.assert_close(together[row, :n], alone, rtol=0, atol=1e-12)


def test_only_forwards_does_the_transformer_not_see_what_is_behind() -> None:
    x, other = torch.randn(2, 5, 8).double().unbind()
    other = torch.cat((x[:3], other[3:]))
    for forwards in (True, False):
        made, _ = stack("transformer", forwards)
        one, two = (made(each.unsqueeze(0)).features[0, :3] for each in (x, other))
        assert torch.allclose(one, two, rtol=0, atol=1e-12) == forwards


def test_the_transformer_itself_does_not_know_the_order() -> None:
    """Where a vector stands is in the vector: turned round, the same features turned round."""
    made, _ = stack("transformer", forwards=False)
    x = torch.randn(1, 5, 8).double()
    turned = made(x.flip(1)).features.flip(1)
    torch.testing.assert_close(turned, made(x).features, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", DESIGNS[:4])
def test_recurrent_stacks_read_on_from_a_state(name: str) -> None:
    made, _ = stack(name)
    x = torch.randn(2, 5, 8).double()
    first = made(x[:, :2])
    second = made(x[:, 2:], None, first.state)
    whole = torch.cat((first.features, second.features), 1)
    torch.testing.assert_close(whole, made(x).features, rtol=0, atol=1e-12)


def test_settings_reach_the_reader() -> None:
    changes: dict[str, Any] = {
        "form": "xch",
        "score": "dot",
        "window": 3,
        "layers": 2,
        "dropout": 0.25,
    }
    made, config = stack("simple-rnn+attention", **changes)
    assert isinstance(made, RecurrentStack)
    reader = made.reader
    assert (reader.window, reader.num_layers, reader.dropout) == (3, 2, 0.25)
    assert (reader.hidden_size, reader.attention) == (config.hidden, True)
    assert not stack("simple-rnn")[0].reader.attention  # type: ignore[union-attr]
