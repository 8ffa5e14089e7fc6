"""Data configs: settings against each other, and sides that are swapped."""

from __future__ import annotations

import pytest

from regard.errors import ConfigError
from regard.train.data.config import (
    LabelledConfig,
    PairsConfig,
    TextConfig,
    named_columns,
    reversed_sides,
)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({}, "pairs is missing"),
        ({"pairs": "a", "source": "b"}, "give one"),
        ({"source": "b"}, "target is missing"),
        ({"pairs": "a", "valid_target": "b"}, "valid_source is missing"),
        ({"pairs": "a", "target_column": 1}, "both 1"),
        ({"pairs": "a", "valid_share": 0.5}, "under 0.5, got 0.5"),
        ({"pairs": "a", "vocabulary": 3}, "at least 5"),
    ],
)
def test_pairs_against_each_other(settings: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        PairsConfig(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({}, "text is missing"),
        ({"text": "a", "unique": True, "continuous": True}, "unique is for sentences"),
        ({"text": "a", "chunk": 0}, "chunk must be at least 1, got 0"),
        ({"text": "a", "column": -1}, "column must be at least 0"),
        ({"text": "a", "vocabulary": 4}, "vocabulary must be at least 5, or 0, got 4"),
        ({"text": "a", "test_share": 0.7}, "test_share must be from 0 to under 0.5, got 0.7"),
    ],
)
def test_texts_against_each_other(settings: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        TextConfig(**settings)  # type: ignore[arg-type]


def test_the_file_must_be_named() -> None:
    with pytest.raises(ConfigError, match="file is missing"):
        LabelledConfig()


def test_reversed_sides() -> None:
    assert reversed_sides({"source": "a", "target": "b", "valid_source": "c", "pairs": "d"}) == {
        "source_column": 2,
        "target_column": 1,
        "target": "a",
        "source": "b",
        "valid_target": "c",
        "pairs": "d",
    }
    assert reversed_sides({"source_column": 3})["target_column"] == 3
    swapped = reversed_sides({"columns": "source=source,target=en"})["columns"]
    assert swapped == "target=source,source=en"
    assert named_columns(swapped, "source", "target") == {"source": "en", "target": "source"}


def test_columns_and_tokenizers_that_make_no_sense_are_told() -> None:
    with pytest.raises(ConfigError) as caught:
        PairsConfig(pairs="a", columns="de,en", tokenizer="t.json", vocabulary=100)
    assert str(caught.value) == (
        "tokenizer brings its own vocabulary: leave data.vocabulary out; "
        "columns are written source=NAME,target=NAME; got 'de,en'"
    )
