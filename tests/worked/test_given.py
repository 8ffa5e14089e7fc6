"""Given: an example as plain data, from which another program can compute it."""

from __future__ import annotations

import json
from decimal import Decimal

from regard.worked.example import Example
from regard.worked.given import given_data, given_numbers
from regard.worked.stages import compute
from tests.worked.cases import generated, variants


def test_what_is_written_and_how_it_is_read() -> None:
    example = Example.from_dict(
        {
            "queries": [[1, 0]],
            "keys": [[1, 2], [0, 1], [3, 0]],
            "d_k": 3,
            "mask": {"padding": 2},
        }
    )
    found = given_data(example, compute(example))
    assert found["arrays"] == {"queries": [[1, 0]], "keys": [[1, 2], [0, 1], [3, 0]]}
    assert (found["mechanism"], found["scaled"], found["projects"]) == ("scaled", True, True)
    assert found["mask"] == [[True, True, False]]
    assert found["numbers"] == {"d_k": 3.0}
    assert found["turned"] == []


def test_a_block_projects_and_scales_as_its_attention_does() -> None:
    example = generated(("encoder-block", {"norm": "post"}), 1)
    found = given_data(example, compute(example))
    assert (found["projects"], found["scaled"], found["heads"]) == (True, True, 2)
    assert found["options"] == {"norm": "post"}
    assert found["numbers"] == {"epsilon": 1e-5}


def test_rows_that_are_outputs_are_said_to_be_turned() -> None:
    content = {"mechanism": "simple-rnn", "x": [[1, 0]], "a": [[Decimal("0.5"), 0, 1]]}
    assert given_data(example := Example.from_dict(content), compute(example))["turned"] == ["a"]


def test_numbers_that_count_are_not_computed_with() -> None:
    rotary = Example.from_dict({"mechanism": "rotary", "queries": [[1, 0]], "keys": [[1, 0]]})
    assert given_numbers(rotary) == {"base": 10000.0}
    assert given_data(rotary, compute(rotary))["options"] == {"first": 0, "pairs": "halves"}


def test_every_mechanism_is_plain_data() -> None:
    for variant in variants():
        example = generated(variant, 1)
        assert json.loads(json.dumps(given_data(example, compute(example))))["arrays"]
