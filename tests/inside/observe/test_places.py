"""Layers numbered as they are called, the same for those who watch and those who change."""

from __future__ import annotations

import pytest
from torch import nn

from regard.inside.observe.places import LayerPlace, Places, part_of


def test_places_are_numbered_within_their_part_and_over_all() -> None:
    places = Places(nn.Identity())
    made = [
        places.numbered(name, cross)
        for name, cross in (
            ("encoder.0", False),
            ("encoder.1", False),
            ("decoder.0", False),
            ("decoder.0.x", True),
        )
    ]
    assert [(p.kind, p.part, p.number, p.order) for p in made] == [
        ("self", "encoder", 0, 0),
        ("self", "encoder", 1, 1),
        ("self", "decoder", 0, 2),
        ("cross", "decoder", 0, 0),
    ]


def test_a_module_called_twice_in_one_run_is_two_layers() -> None:
    model = nn.Sequential(nn.Identity())
    places = Places(model)
    places.enter()
    assert [places.called(model[0]), places.called(model[0])] == [("0", 0), ("0", 1)]
    places.leave()
    places.enter()
    assert places.called(model[0]) == ("0", 0)
    assert places.runs == 2


def test_which_layer_a_number_means() -> None:
    place = LayerPlace("decoder.0", "self", "decoder", 0, 2)
    assert place.answers(2, "self")
    assert place.answers(0, "decoder")
    assert place.answers(None, "decoder")
    assert not place.answers(0, "encoder")
    assert not place.answers(2, "cross")


@pytest.mark.parametrize(
    ("name", "part"),
    [("model.decoder.layers.0.encoder_attn", "decoder"), ("encoder.x", "encoder"), ("h.0", "")],
)
def test_the_part_is_named_first(name: str, part: str) -> None:
    assert part_of(name) == part
