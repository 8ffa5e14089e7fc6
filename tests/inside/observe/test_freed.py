"""Holes of memory go back to the system after enough was let go of."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
import torch

import regard
from regard.inside.observe import freed
from regard.inside.observe.freed import ENOUGH, Freed, give_back
from regard.inside.observe.layer import ObservedLayer
from tests.inside.tiny import inputs, tiny


@pytest.fixture
def given_back(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A one for each time."""
    times: list[int] = []
    monkeypatch.setattr(freed, "give_back", lambda: lambda: times.append(1))
    return times


@pytest.fixture
def anew() -> Iterator[None]:
    give_back.cache_clear()
    yield
    give_back.cache_clear()


def test_only_after_enough(given_back: list[int]) -> None:
    counted = Freed()
    counted.add(ENOUGH - 1)
    assert given_back == []
    counted.add(1)
    assert given_back == [1]
    counted.add(ENOUGH - 1)
    assert given_back == [1]


@torch.no_grad()
def test_layers_that_are_dropped_count(
    given_back: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def each(layer: ObservedLayer) -> None:
        sizes.append(4 * (layer.query.numel() + layer.key.numel()))

    model = tiny("Llama")
    with regard.observe(model, each=each):
        model(**inputs("Llama"))
    assert given_back == []
    monkeypatch.setattr(freed, "ENOUGH", sum(sizes[:2]))
    with regard.observe(model, each=each):
        model(**inputs("Llama"))
    assert given_back == [1] * (len(sizes) // 2 // 2)


def test_where_the_allocator_is_another_nothing_happens(
    anew: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert give_back()() is None


@pytest.mark.skipif(sys.platform != "linux", reason="of glibc")
def test_it_can_be_called(anew: None) -> None:
    assert give_back()() in (0, 1, None)  # None: another C library
