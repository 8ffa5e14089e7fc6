"""Which variants a request means, in which order, and what it cannot mean."""

from __future__ import annotations

from typing import Any

import pytest

from regard.errors import RegardError
from regard.inside.ablate.request import DRAWS, SAMPLE, AblationRequest, Asked
from regard.inside.ablate.variant import HeadAt


def asked(trial: Any, **request: Any) -> Asked:
    heads = [HeadAt(trial.parts[0], layer, head) for layer in range(2) for head in range(5)]
    return Asked(trial, AblationRequest(**request), heads)


def test_heads_alone_and_those_that_are_named_together_first(trials: dict[str, Any]) -> None:
    trial = trials["Llama"]
    every = asked(trial).variants()
    assert [[(h.layer, h.head) for h in v.heads] for v in every[:2]] == [[(0, 0)], [(0, 1)]]
    assert len(every) == 10
    together, first, second = asked(trial, heads=((0, 1), (1, 3))).variants()
    assert together.heads == first.heads + second.heads
    assert len(asked(trial, layer=1).variants()) == 1 + 5
    assert [len(v.heads) for v in asked(trial, each="layers").variants()] == [5, 5]


def test_a_word_is_hidden_from_all_heads_then_from_each(trials: dict[str, Any]) -> None:
    everywhere, *alone = asked(trials["Llama"], word="animal").variants()
    assert (everywhere.heads, everywhere.query) == ((), None)
    assert everywhere.key is not None
    assert everywhere.key.text == "animal"
    assert len(alone) == 10
    assert all(variant.key == everywhere.key for variant in alone)


def test_links_of_one_head_look_back(trials: dict[str, Any]) -> None:
    links = asked(trials["Llama"], heads=((1, 2),), each="links").variants()
    assert len(links) > 10
    for link in links:
        assert link.query is not None
        assert link.key is not None
        assert link.key.start < link.query.start
    with pytest.raises(RegardError, match="--each links is about one head: say which with --head"):
        asked(trials["Llama"], each="links").variants()


def test_others_are_as_many_and_none_of_the_first(trials: dict[str, Any]) -> None:
    it = asked(trials["Llama"], heads=((0, 1), (1, 3)))
    first = it.variants()[0]
    others = it.others(first)
    assert len(others) == DRAWS
    for other in others:
        assert len(other.heads) == 2
        assert not set(other.heads) & set(first.heads)


def test_an_estimate_is_judged_by_some_heads(trials: dict[str, Any]) -> None:
    trial = trials["Llama"]
    many = [HeadAt(trial.parts[0], layer, head) for layer in range(7) for head in range(11)]
    it = Asked(trial, AblationRequest(), many)
    assert len(it.sample(it.variants())) == SAMPLE
    with pytest.raises(RegardError, match="leave out links and words"):
        asked(trial, word="animal").sample([])


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"layer": 2}, "there is no layer 2: .* has layers 0 to 1 with heads 0 to 4"),
        ({"heads": ((0, 5),)}, r"there is no head 0\.5"),
        ({"part": "cross"}, "has the attention .*, got --part cross"),
    ],
)
def test_what_is_not_there(trials: dict[str, Any], request_: dict[str, Any], text: str) -> None:
    with pytest.raises(RegardError, match=text):
        asked(trials["Llama"], **request_).variants()
