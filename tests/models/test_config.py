"""What all configs have in common, on a config of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from regard.errors import ConfigError
from regard.models.config import ModelConfig, check_size, share, truth, whole


@dataclass(frozen=True)
class LampConfig(ModelConfig):
    what = "a lamp"

    bulbs: int
    dropout: float = 0.0
    colour: str = ""

    def problems(self) -> Iterator[str]:
        yield from whole("bulbs", self.bulbs, 2)
        yield from share("dropout", self.dropout)


def test_plain_data_and_back_without_what_is_not_there() -> None:
    config = LampConfig(3)
    assert config.to_dict() == {"bulbs": 3, "dropout": 0.0}
    assert LampConfig.from_dict(config.to_dict()) == config
    assert LampConfig.from_dict({"bulbs": 3, "colour": "red"}).to_dict()["colour"] == "red"


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        LampConfig(1, dropout=1)
    assert str(caught.value) == (
        "a lamp's settings do not fit: bulbs must be a whole number of at least 2, got 1; "
        "dropout must be at least 0 and less than 1, got 1"
    )
    with pytest.raises(ConfigError) as caught:
        LampConfig.from_dict({"bulb": 3})
    assert str(caught.value) == (
        "a lamp's settings do not fit: there is no 'bulb'; did you mean 'bulbs'?; bulbs is missing"
    )


def test_numbers_shares_and_truths() -> None:
    assert list(whole("n", 5, 5)) == list(share("p", 0)) == list(truth("t", False)) == []
    for value in (4, 5.0, True, "5"):
        assert list(whole("n", value, 5)) == [
            f"n must be a whole number of at least 5, got {value!r}"
        ]
    for value in (-0.1, 1, "0.5", False):
        assert list(share("p", value)) == [f"p must be at least 0 and less than 1, got {value!r}"]
    assert list(truth("t", 1)) == ["t must be true or false, got 1"]


def test_designs_and_sizes_that_are_not_there() -> None:
    check_size("lamp", ("lamp", "torch"), "tiny")
    with pytest.raises(ConfigError) as caught:
        check_size("lamb", ("lamp", "torch"), "tiny")
    assert str(caught.value) == "model must be one of lamp, torch, got 'lamb'; did you mean 'lamp'?"
    with pytest.raises(ConfigError, match="size must be one of tiny, small, base, got 'huge'"):
        check_size("lamp", ("lamp", "torch"), "huge")
