"""Frozen parts: which weights a name is of, what is refused, and that they keep every bit."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from regard.cli import main
from regard.errors import ConfigError
from regard.store.folder import RunFolder
from regard.store.weights import read_weights
from regard.train.run.freeze import freeze
from tests.train.small_runs import arguments


def model() -> nn.ModuleDict:
    """2·3 + 3, 3·5 + 5 and 5·7 + 7 parameters."""
    return nn.ModuleDict(
        {"encoder": nn.Linear(2, 3), "decoder": nn.Linear(3, 5), "encoder_norm": nn.Linear(5, 7)}
    )


@pytest.mark.parametrize(
    ("parts", "frozen", "said"),
    [
        ("encoder", {"encoder.weight", "encoder.bias"}, "frozen: encoder (9 of 71 parameters)"),
        ("decoder.bias", {"decoder.bias"}, "frozen: decoder.bias (5 of 71 parameters)"),
        (
            "*.bias, encoder",
            {"encoder.weight", "encoder.bias", "decoder.bias", "encoder_norm.bias"},
            "frozen: *.bias, encoder (21 of 71 parameters)",
        ),
        (None, set(), ""),
        ("", set(), ""),
    ],
)
def test_a_part_is_a_name_or_its_beginning(parts: str | None, frozen: set[str], said: str) -> None:
    net = model()
    assert freeze(net, parts) == said
    assert {n for n, weight in net.named_parameters() if not weight.requires_grad} == frozen


def test_a_part_that_is_not_there() -> None:
    with pytest.raises(ConfigError) as caught:
        freeze(model(), "encoder,decode")
    assert str(caught.value) == (
        "train.freeze: the model has no part 'decode'; its parts are decoder, encoder, "
        "encoder_norm; did you mean 'decoder' or 'encoder'?"
    )


def test_nothing_left_to_train() -> None:
    with pytest.raises(ConfigError, match=r"train.freeze \(\*\) is the whole model"):
        freeze(model(), "*")


def test_a_run_that_begins_with_another(
    pairs_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def trained(name: str, *more: str) -> str:
        short = {"train__steps": 2, "train__validate_every": 2, "train__average": 1}
        with pytest.raises(SystemExit) as ended:
            main(arguments(pairs_file, tmp_path / name, *more, **short))
        assert ended.value.code == 0
        return capsys.readouterr().out

    trained("first")
    first = str(tmp_path / "first")
    said = trained("second", "--from", f"{first}/model.safetensors", "--freeze", "encoder")
    assert "frozen: encoder (" in said
    before = read_weights(RunFolder(first).model)
    after = read_weights(RunFolder(tmp_path / "second").model)
    same = {name for name in before if torch.equal(before[name], after[name])}
    assert same == {name for name in before if name.startswith("encoder.")}
    state = read_weights(max(RunFolder(tmp_path / "second").checkpoints.glob("*/opt*.safetensors")))
    assert not any(name.startswith("encoder.") for name in state)
    assert any(name.startswith("decoder.") for name in state)
