"""Labeller: a label for each word, from its pieces; padding and neighbours."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from regard.errors import ConfigError, DataError
from regard.models.labeller import (
    LABELLERS,
    NO_LABEL,
    Labeller,
    LabellerConfig,
    by_word,
    parameters,
    sized_labeller,
)
from regard.record import record

WORDS = {"vocabulary": 11}
STEPS = {"channels": 3, "places": 7}
PATCHES = {"channels": 1, "places": 6, "patch": 2, "columns": 3}


def made(model: str, reads: dict[str, Any]) -> Labeller:
    torch.manual_seed(0)
    return Labeller(sized_labeller(model, "tiny", ("a", "b", "c"), **reads)).eval()


def test_by_word_is_the_mean_of_its_pieces() -> None:
    states = torch.tensor([[[1.0, 0.0], [3.0, 2.0], [5.0, 5.0]], [[7.0, 1.0], [9.0, 9.0], [0, 0]]])
    words = torch.tensor([[0, 0, 1], [0, -1, -1]])
    assert by_word(states, words).tolist() == [[[2.0, 1.0], [5.0, 5.0]], [[7.0, 1.0], [0.0, 0.0]]]


@pytest.mark.parametrize("model", LABELLERS)
def test_padding_changes_nothing(model: str) -> None:
    network = made(model, WORDS)
    ids, words = torch.tensor([[5, 6, 7, 8]]), torch.tensor([[0, 1, 1, 2]])
    alone = network(ids, torch.tensor([4]), words)
    longer = torch.tensor([[5, 6, 7, 8, 0, 0], [9, 4, 5, 6, 7, 8]])
    numbers = torch.tensor([[0, 1, 1, 2, -1, -1], [0, 1, 2, 3, 4, 4]])
    both = network(longer, torch.tensor([4, 6]), numbers)
    assert both.shape == (2, 5, 3)
    torch.testing.assert_close(both[:1, :3], alone, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("model", ["alone", "conv", "lstm", "transformer"])
def test_how_far_a_label_looks(model: str) -> None:
    """Of seven steps the fourth is looked at: which others change its scores?"""
    network, steps, lengths = made(model, STEPS), torch.randn(1, 7, 3), torch.tensor([7])
    before = network(steps, lengths)[0, 3]
    changed = set()
    for i in range(7):
        other = steps.clone()
        other[0, i] += 1
        if not torch.allclose(network(other, lengths)[0, 3], before, atol=1e-6):
            changed.add(i)
    reach = {"alone": {3}, "conv": {1, 2, 3, 4, 5}, "lstm": {0, 1, 2, 3}}
    assert changed == reach.get(model, set(range(7)))


def test_neighbours_in_a_grid_are_above_and_below() -> None:
    """Of 5 x 3 patches, one layer sees the eight around the middle."""
    reads = {"channels": 1, "places": 15, "patch": 2, "columns": 3}
    network, patches, lengths = (
        made("conv", reads | {"layers": 1}),
        torch.randn(1, 15, 4),
        torch.tensor([15]),
    )
    before = network(patches, lengths)[0, 7]
    changed = set()
    for i in range(15):
        other = patches.clone()
        other[0, i] += 1
        if not torch.allclose(network(other, lengths)[0, 7], before, atol=1e-6):
            changed.add(i)
    assert changed == set(range(3, 12))


def test_the_loss_leaves_out_what_has_no_label() -> None:
    network = made("alone", STEPS)
    steps, lengths = torch.randn(2, 7, 3), torch.tensor([7, 7])
    labels = torch.randint(3, (2, 7))
    kept = labels.clone()
    kept[1] = NO_LABEL
    first = network.loss(steps[:1], lengths[:1], labels[:1])
    torch.testing.assert_close(network.loss(steps, lengths, kept), first)


def test_conv_has_as_many_parameters() -> None:
    for reads in (WORDS, STEPS, PATCHES):
        sizes = [
            parameters(sized_labeller(model, "tiny", ("a", "b"), **reads))
            for model in ("conv", "transformer")
        ]
        assert 0.95 * sizes[1] < sizes[0] <= sizes[1]


def test_what_is_noted() -> None:
    network = made("transformer", WORDS)
    with record() as trace:
        logits = network(torch.tensor([[5, 6]]), torch.tensor([2]), torch.tensor([[0, 1]]))
    (step,) = [s for s in trace if s.name == "probabilities"]
    assert step.axes[-2:] == ("word", "label")
    assert step.value.shape == (1, 2, 3)
    assert step.value[0] == pytest.approx(logits[0].softmax(-1).detach().numpy(), abs=1e-6)


def test_more_pieces_than_places() -> None:
    with pytest.raises(DataError, match="reads 7 pieces at once, got 8"):
        made("alone", STEPS)(torch.randn(1, 8, 3), torch.tensor([8]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocabulary": 3}, "vocabulary must be a whole number of at least 5"),
        ({"vocabulary": 9, "places": 2}, "there is no places here"),
        ({"channels": 2}, "places must be a whole number of at least 1"),
        ({"vocabulary": 9, "labels": ("a", "a")}, "labels must be at least two different"),
        ({"vocabulary": 9, "hidden": 3}, "alone has no hidden"),
    ],
)
def test_settings_that_do_not_fit(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"model": "alone", "width": 4, "labels": ("a", "b")}
    with pytest.raises(ConfigError, match=message):
        LabellerConfig(**(given | changes))


def test_settings_and_back() -> None:
    config = sized_labeller("conv", "tiny", ("a", "b"), **PATCHES)
    assert LabellerConfig.from_dict(config.to_dict()) == config
    assert (config.across, config.numbers) == (3, 4)
