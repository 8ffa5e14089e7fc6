from __future__ import annotations

import torch

from regard.store.exchange.layout import in_their_order, their_name, to_ours, to_theirs
from regard.store.weights import named_weights
from regard.vectors.positions import sinusoidal
from tests.store.exchange.small import translator


def test_names_computed_by_hand() -> None:
    assert their_name("vocabulary.words") == "model.shared.weight"
    assert their_name("encoder.0.attention.query.weight") == (
        "model.encoder.layers.0.self_attn.q_proj.weight"
    )
    assert their_name("decoder.11.cross.output.bias") == (
        "model.decoder.layers.11.encoder_attn.out_proj.bias"
    )
    assert their_name("decoder.1.cross_norm.weight") == (
        "model.decoder.layers.1.encoder_attn_layer_norm.weight"
    )
    assert their_name("encoder.1.feedforward_norm.bias") == (
        "model.encoder.layers.1.final_layer_norm.bias"
    )
    assert their_name("decoder.1.feedforward.outer.weight") == "model.decoder.layers.1.fc2.weight"
    assert their_name("encoder_norm.weight") == "model.encoder.layer_norm.weight"


def test_every_weight_has_a_name_of_its_own_and_comes_back() -> None:
    own = named_weights(translator())
    assert len({their_name(name) for name in own}) == len(own)
    for name, weight in own.items():
        torch.testing.assert_close(to_ours(name, to_theirs(name, weight)), weight, rtol=0, atol=0)


def test_sines_stand_before_cosines() -> None:
    table = in_their_order(sinusoidal(3, 4), 1)
    place = torch.arange(3.0)
    slow = place / 100
    expected = torch.stack((place.sin(), slow.sin(), place.cos(), slow.cos()), -1)
    torch.testing.assert_close(table, expected)
