"""Guesses: counted by hand; a linear map that must be found; files that are none."""

from __future__ import annotations

import json

import numpy as np
import pytest

from regard.errors import FileError
from regard.models.guesses import Imitations, LinearGuesses, WordGuesses

WORDS = [("the", 0), ("run", 1), ("run", 1), ("run", 2), ("sing", 1), ("king", 2), ("ring", 2)]


def test_words_then_endings_then_the_commonest_of_different_words() -> None:
    guesses = WordGuesses.of(WORDS)
    assert guesses.commonest == 1
    assert [guesses.say(word) for word in ("the", "run", "sing")] == [0, 1, 1]
    assert guesses.say("bling") == 2  # of sing, king and ring two have it
    assert guesses.other == 1  # the: 0; run and sing: 1; king and ring: 2; the first of equals
    assert guesses.say("xyz") == guesses.other
    assert WordGuesses.from_text(guesses.to_text(), "f", 3) == guesses


def test_the_linear_map_is_found() -> None:
    draw = np.random.default_rng(0)
    numbers = draw.normal(size=(40, 2, 3)).astype(np.float32)
    right = (numbers[..., 1] > 0).astype(np.int64)
    parts = [(numbers.reshape(-1, 3)[i::2], right.reshape(-1)[i::2]) for i in (0, 1)]
    guesses = LinearGuesses.of(parts, 2)
    assert (guesses.say(numbers) == right).mean() > 0.9
    assert guesses.commonest == int(right.mean() > 0.5)
    again = LinearGuesses.from_text(guesses.to_text(), "f", 2)
    assert np.allclose(again.weights, guesses.weights, rtol=1e-4, atol=1e-6)


def test_the_linear_map_is_that_of_least_squares() -> None:
    draw = np.random.default_rng(1)
    x, right = draw.normal(size=(50, 4)).astype(np.float32), draw.integers(3, size=50)
    found = LinearGuesses.of([(x, right)], 3).weights
    expected = np.linalg.lstsq(np.c_[x, np.ones(50)], np.eye(3)[right], rcond=None)[0]
    assert np.allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no file of guesses"),
        ("[]", "it must have commonest and other"),
        (json.dumps({"commonest": 0, "other": 0}), "it must have words and endings"),
        (
            json.dumps({"commonest": 0, "other": 9, "words": {}, "endings": {}}),
            "it names labels from 0 to 2 only",
        ),
    ],
)
def test_files_of_words_that_are_none(text: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        WordGuesses.from_text(text, "f", 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"commonest": 0}, "is no file of guesses"),
        ({"commonest": 0, "weights": [[1, 2], [3]]}, "is no file of guesses"),
        ({"commonest": 0, "weights": [[1, 2]]}, "weights must be of 3 labels"),
        ({"commonest": 3, "weights": [[1, 2, 3]]}, "labels from 0 to 2 only"),
    ],
)
def test_files_of_maps_that_are_none(content: object, message: str) -> None:
    with pytest.raises(FileError, match=message):
        LinearGuesses.from_text(json.dumps(content), "f", 3)


def test_imitations_of_all_episodes_and_of_the_best_tenth() -> None:
    """Ten episodes: the action is 1 where x > 0, but in nine of them the contrary."""
    x = np.linspace(-1, 1, 8, dtype=np.float32)[:, None]
    right = (x[:, 0] > 0).astype(np.int64)
    episodes = [(x, 1 - right)] * 9 + [(x, right)]
    found = Imitations.of(episodes, np.arange(10.0), 2)
    assert found.best.say(x).tolist() == right.tolist()
    assert found.all.say(x).tolist() == (1 - right).tolist()
    assert (found.least, found.most) == (0, 9)
    again = Imitations.from_text(found.to_text(), "file", 2)
    assert again.best.say(x).tolist() == right.tolist()
    for text in ("{}", "[]", "no", '{"all": 1, "best": 2, "least": 0, "most": 1}'):
        with pytest.raises(FileError, match="file is no file of guesses"):
            Imitations.from_text(text, "file", 2)
    with pytest.raises(FileError, match="weights must be of 3 labels"):
        Imitations.from_text(found.to_text(), "file", 3)
