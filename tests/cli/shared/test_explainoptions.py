"""Which options stand on the command line, and what is said of those that do not apply."""

from __future__ import annotations

import pytest

from regard.cli.explain import explain
from regard.cli.shared.explainoptions import OF_VECTORS, ExplainOptions
from regard.errors import RegardError


def options(*written: str) -> ExplainOptions:
    with explain.make_context("explain", list(written)) as ctx:
        given = {k: v for k, v in ctx.params.items() if k not in ("sentence", "file", "example")}
        return ExplainOptions.of(ctx, given)


def test_what_is_written_is_known_from_what_is_the_default() -> None:
    asked = options("a text", "--model", "minilm", "--json", "-", "--seed", "3")
    assert asked.given == {
        "sentence": "sentence",
        "model": "--model",
        "json_to": "--json",
        "seed": "--seed",
    }
    assert asked.has("seed", "heads")
    assert not asked.has("heads", "top")
    assert asked.quietly
    assert (asked.top, asked.of_vectors["heads"], asked.of_vectors["seed"]) == (10, 2, 3)
    assert tuple(asked.of_vectors) == OF_VECTORS
    assert not options("a text", "--json", "file").quietly


def test_an_option_that_would_be_ignored_is_refused() -> None:
    asked = options("a text", "--all", "--top", "5")
    asked.refuse("said", "parts", why="never")
    with pytest.raises(RegardError, match=r"^--all does not apply here: there is no model$"):
        asked.refuse("top_down", "everything", why="there is no model")
