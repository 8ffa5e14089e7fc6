"""Wider feed-forward layers: they begin with the same function, and only a wider one can."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard.cli import main
from regard.models.layers import FeedForward
from regard.models.translators.config import TranslatorConfig
from regard.models.translators.transformer import Transformer
from regard.store.folder import RunFolder
from regard.store.weights import named_weights, read_weights, set_weights
from regard.train.run.grow import grown
from tests.train.small_runs import arguments

SMALL = TranslatorConfig(
    model="transformer",
    vocabulary=23,
    width=8,
    layers=2,
    heads=2,
    feedforward=7,
    norm="pre",
)


def test_what_is_new_reads_and_writes_nothing_yet() -> None:
    """1 + 2 hidden numbers of a width of 2, by hand."""
    small, wide = FeedForward(2, 1), FeedForward(2, 3)
    made = grown(
        torch.nn.ModuleDict({"a": wide}), {f"a.{n}": w for n, w in small.state_dict().items()}
    )
    assert torch.equal(made["a.inner.weight"][:1], small.inner.weight)
    assert torch.equal(made["a.inner.weight"][1:], wide.inner.weight[1:])
    assert torch.equal(
        made["a.outer.weight"], torch.cat((small.outer.weight, torch.zeros(2, 2)), 1)
    )
    assert torch.equal(made["a.outer.bias"], small.outer.bias)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_grown_model_computes_the_same(norm: str) -> None:
    config = replace(SMALL, norm=norm)
    torch.manual_seed(3)
    small = Transformer(config).eval()
    large = Transformer(replace(config, feedforward=19)).eval()
    set_weights(large, grown(large, named_weights(small)), "small")
    source, target = torch.randint(4, 23, (3, 5)), torch.randint(4, 23, (3, 11))
    lengths = torch.tensor([5, 2, 3])
    with torch.no_grad():
        torch.testing.assert_close(
            large(source, lengths, target), small(source, lengths, target), rtol=0, atol=1e-5
        )


def test_the_new_part_learns() -> None:
    """Its output weights have a gradient from the first update on, its input weights once those
    are not zero."""
    small, wide = FeedForward(2, 3), FeedForward(2, 17)
    net = torch.nn.ModuleDict({"a": wide})
    set_weights(net, grown(net, {f"a.{n}": w for n, w in small.state_dict().items()}), "small")
    wide(torch.randn(29, 2)).square().sum().backward()
    assert wide.outer.weight.grad is not None
    assert wide.outer.weight.grad[:, 3:].abs().max() > 0


def test_nothing_grows_where_widths_are_equal_or_smaller() -> None:
    net = torch.nn.ModuleDict({"a": FeedForward(2, 3)})
    for inner in (3, 5):
        weights = {f"a.{n}": w for n, w in FeedForward(2, inner).state_dict().items()}
        made = grown(net, weights)
        assert made.keys() == weights.keys()
        assert all(made[name] is weights[name] for name in weights)


def test_a_layer_of_another_width_does_not_grow() -> None:
    weights = {f"a.{n}": w for n, w in FeedForward(2, 3).state_dict().items()}
    made = grown(torch.nn.ModuleDict({"a": FeedForward(5, 7)}), weights)
    assert all(made[name] is weights[name] for name in weights)


def test_a_run_that_begins_with_a_smaller_one(
    pairs_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def trained(name: str, code: int, *more: str, **settings: int) -> str:
        short = {"train__steps": 2, "train__validate_every": 2, "train__average": 1, **settings}
        with pytest.raises(SystemExit) as ended:
            main(arguments(pairs_file, tmp_path / name, *more, **short))
        assert ended.value.code == code
        said = capsys.readouterr()
        return said.out + said.err

    trained("small", 0)
    small = str(tmp_path / "small")
    # 13 - 8 new hidden numbers, each with 8 weights in, 8 out and a bias, in two layers
    said = trained("large", 0, "--from", small, model__feedforward=13)
    assert (
        f"the model of {small!r} is grown: 170 parameters of wider feed-forward layers are new\n"
    ) in said
    weights = read_weights(RunFolder(tmp_path / "large").model)
    assert weights["encoder.0.feedforward.inner.weight"].shape == (13, 8)
    said = trained("heads", 2, "--from", small, model__heads=1)
    assert (
        f"the model of {small!r} has model.heads 2, and this run 1: what it learned would" in said
    )
    assert "give --set model.heads=2" in said
    said = trained("wide", 2, "--from", small, model__feedforward=13, model__width=12)
    assert f"the model of {small!r} does not fit this model: it has a misshaped" in said
    said = trained("narrow", 2, "--from", small, model__feedforward=5)
    assert f"the model of {small!r} does not fit this model: it has a misshaped" in said
