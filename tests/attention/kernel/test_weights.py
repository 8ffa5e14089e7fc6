"""Weights in panels, of 32 or of 8 bits."""

from __future__ import annotations

import pytest
import torch

from regard.attention.kernel import build
from regard.attention.kernel.weights import (
    PANEL,
    SWITCH,
    PackedNetwork,
    eight_bits,
    panels,
    wanted_weights,
)
from regard.errors import ConfigError
from regard.store.weights import packed, unpacked


def test_panels_hold_sixteen_outputs_side_by_side() -> None:
    weight = torch.arange(19 * 3).view(19, 3).float()
    packed = panels(weight)
    assert packed.shape == (2, 3, PANEL, 1)
    assert torch.equal(packed[0, 1, :, 0], weight[:16, 1])
    assert packed[1, 2].flatten().tolist() == [*weight[16:, 2].tolist(), *[0.0] * 13]
    assert f"PANEL = {PANEL};" in (build.HERE / "weights.h").read_text()


def test_pairs_of_inputs_stand_together() -> None:
    weight = torch.arange(19 * 3).view(19, 3).to(torch.int8)
    packed = panels(weight, 2)
    assert packed.shape == (2, 2, PANEL, 2)
    assert torch.equal(packed[0, 0], weight[:16, :2])
    assert packed[0, 1].tolist() == [[row[2], 0] for row in weight[:16].tolist()]


def test_shipped_weights_are_found_again_and_others_are_not() -> None:
    weight = torch.randn(19, 7)
    weight[3] = 0
    small = packed({"w": weight})
    full = unpacked(small)["w"]
    found = eight_bits(full)
    assert found is not None
    assert torch.equal(found[0], small["w"])
    assert torch.equal(found[0] * found[1].unsqueeze(1), full)
    assert eight_bits(weight) is None
    assert eight_bits(full, "float32") is None


def test_weights_become_eight_bits_if_that_is_wanted() -> None:
    found = eight_bits(torch.tensor([[2.54, -1.27, 0.012], [0.0, 0.0, 0.0]]), "int8")
    assert found is not None
    assert found[0].tolist() == [[127, -64, 1], [0, 0, 0]]
    assert found[1].tolist() == pytest.approx([0.02, 1.0])


def test_the_environment_says_what_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, " INT8 ")
    assert wanted_weights() == "int8"
    monkeypatch.setenv(SWITCH, "int4")
    message = "REGARD_WEIGHTS must be 'float32' or 'int8', or not be set, got 'int4'"
    with pytest.raises(ConfigError, match=message):
        wanted_weights()


def test_a_map_without_a_bias_adds_nothing() -> None:
    network = PackedNetwork("float32")
    made = network.product([(torch.ones(2, 3), torch.ones(2)), (torch.ones(5, 3), None)])
    bias = network.kept[0]
    assert isinstance(bias, torch.Tensor)
    assert bias.tolist() == [1.0] * 2 + [0.0] * 14
    assert (getattr(made, "in"), made.out) == (3, 7)
