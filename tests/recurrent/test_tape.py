"""Tapes: what is kept, where it stands, what attention finds on it, and what is no tape."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from regard import RegardError, record
from regard.attention import dot
from regard.recurrent import Tapes
from regard.recurrent.tape import Buffer, TapeMemory, aligned
from tests.recurrent.readers import KINDS, reader, same
from tests.recurrent.reference import random

kinds = pytest.mark.parametrize("kind", KINDS)
grads = pytest.mark.parametrize("grad", [True, False])


def rows(*values: list[int]) -> torch.Tensor:
    """(batch, slots, 1)"""
    return torch.tensor(values, dtype=torch.float64).unsqueeze(-1)


@pytest.mark.parametrize(
    ("read", "keep", "expected"),
    [
        (None, None, [[0, 1, 2, 3, 4], [0, 0, 7, 8, 9]]),
        (None, 2, [[3, 4], [8, 9]]),
        ([3, 1], None, [[1, 2, 3, 4], [0, 0, 0, 7]]),
        ([1, 2], 2, [[1, 2], [7, 8]]),
        ([0, 0], None, [[1], [0]]),
    ],
)
def test_words_move_to_the_end(
    read: list[int] | None, keep: int | None, expected: list[list[int]]
) -> None:
    """Two slots before, with one word and none; then three new words, or some of them."""
    tape, before = rows([0, 1, 2, 3, 4], [0, 0, 7, 8, 9]), torch.tensor([1, 0])
    given = None if read is None else torch.tensor(read)
    assert aligned(tape, before, given, 3, keep).squeeze(-1).tolist() == expected


@grads
def test_a_buffer_keeps_rows_in_order(grad: bool) -> None:
    start = rows([1, 2])
    with torch.set_grad_enabled(grad):
        buffer = Buffer(start, 2)
        for value in (3.0, 4.0):
            buffer.append(torch.full((1, 1), value, dtype=torch.float64))
        assert buffer.since(1).flatten().tolist() == [2, 3, 4]
        assert buffer.since(4).shape == (1, 0, 1)
    assert start.flatten().tolist() == [1, 2]


@grads
def test_attention_to_a_tape_by_hand(grad: bool) -> None:
    """Scores ln 3 and 0 give the weights 3/4 and 1/4."""
    values, keys = rows([8, 4]), rows([1, 0])
    with torch.set_grad_enabled(grad):
        memory = TapeMemory(values, keys, torch.tensor([2]), 1)
        memory.attended = []
        mixed = memory.attend(torch.tensor([[math.log(3)]], dtype=torch.float64), dot)
    assert mixed.item() == pytest.approx(7)
    assert memory.weights().flatten().tolist() == pytest.approx([0.75, 0.25, 0])
    assert memory.last().tolist() == [[4]]


def test_slots_without_a_word_and_slots_before_the_window_get_no_weight() -> None:
    memory = TapeMemory(rows([5, 7], [0, 9]), rows([0, 0], [0, 0]), torch.tensor([2, 1]), 1)
    one = torch.zeros(2, 1, dtype=torch.float64)
    with record() as trace:
        assert memory.attend(one, dot).flatten().tolist() == [6, 9]
    assert trace["weights"].value[:, 0].tolist() == [[0.5, 0.5], [0, 1]]
    windowed = TapeMemory(rows([5, 7]), rows([0, 0]), torch.tensor([2]), 1, window=1)
    assert windowed.attend(one[:1], dot).item() == 7


def test_an_empty_tape_gives_zeros() -> None:
    memory = TapeMemory(torch.zeros(2, 0, 3), torch.zeros(2, 0, 5), torch.tensor([0, 0]), 1)
    memory.attended = []
    assert memory.attend(torch.ones(2, 5), dot).tolist() == [[0, 0, 0]] * 2
    assert memory.last().tolist() == [[0, 0, 0]] * 2
    assert memory.weights().shape == (2, 1, 1)


ERRORS = {
    "more than the padding": (
        {"lengths": torch.tensor([5, 2])},
        "a length is from 0 to the 4 positions there are, got 2 to 5",
    ),
    "negative": (
        {"lengths": torch.tensor([4, -1])},
        "a length is from 0 to the 4 positions there are, got -1 to 4",
    ),
    "too many": (
        {"lengths": torch.tensor([4, 2, 1])},
        "lengths needs one number for each of the 2 sequences, got the shape (3,)",
    ),
    "float": (
        {"lengths": torch.tensor([4.0, 2.0])},
        "lengths are whole numbers, got torch.float32",
    ),
}


@kinds
@pytest.mark.parametrize("case", ERRORS)
def test_lengths_that_cannot_be(kind: str, case: str) -> None:
    options, text = ERRORS[case]
    with pytest.raises(RegardError) as caught:
        reader(kind)(random(2, 4, 3), **options)
    assert str(caught.value) == text


def first_state(kind: str, *shape: int, **options: Any) -> Tapes:
    """The state (layers, batch, hidden) of a reader of this kind."""
    zeros = torch.zeros(shape, **{"dtype": torch.float64, **options})
    return Tapes.of(zeros, zeros if kind.startswith("lstmn") else None)


MUST = "must have the input's dtype and device, torch.float64 on cpu, got"


STATES: dict[str, tuple[Callable[[str], Tapes], str]] = {
    "of another batch": (
        lambda kind: first_state(kind, 1, 3, 5),
        "the state's hidden must be (1, 2, 1, 5) here, got (1, 3, 1, 5)",
    ),
    "of another width": (
        lambda kind: first_state(kind, 1, 2, 7),
        "the state's hidden must be (1, 2, 1, 5) here, got (1, 2, 1, 7)",
    ),
    "of more layers": (
        lambda kind: first_state(kind, 2, 2, 5),
        "the state's hidden must be (1, 2, 1, 5) here, got (2, 2, 1, 5)",
    ),
    "without the axis of slots": (
        lambda kind: first_state(kind, 1, 2, 5)._replace(hidden=torch.zeros(1, 2, 5)),
        "the state's hidden must be (1, 2, 0, 5) here, got (1, 2, 5)",
    ),
    "with another summary": (
        lambda kind: first_state(kind, 1, 2, 5)._replace(summary=torch.zeros(2, 5)),
        "the state's summary must be (1, 2, 5) here, got (2, 5)",
    ),
    "longer than it is": (
        lambda kind: first_state(kind, 1, 2, 5)._replace(lengths=torch.tensor([1, 2])),
        "a length is from 0 to the 1 slots there are, got 1 to 2",
    ),
    "of another dtype": (
        lambda kind: first_state(kind, 1, 2, 5, dtype=torch.float32),
        f"the state's hidden {MUST} torch.float32 on cpu; move it with .to(…)",
    ),
    "on another device": (
        lambda kind: first_state(kind, 1, 2, 5, device="meta"),
        f"the state's hidden {MUST} torch.float64 on meta; move it with .to(…)",
    ),
}


@kinds
@pytest.mark.parametrize("case", STATES)
def test_states_that_cannot_be(kind: str, case: str) -> None:
    made, text = STATES[case]
    with pytest.raises(RegardError) as caught:
        reader(kind)(random(2, 4, 3), made(kind))
    assert str(caught.value) == text


def test_states_of_another_kind_of_reader() -> None:
    for kind, other, text in (
        ("xc dot", "lstmn", "has no cells"),
        ("lstmn", "xc dot", "has cells"),
    ):
        with pytest.raises(RegardError, match=f"this reader's state {text}"):
            reader(kind)(random(2, 4, 3), first_state(other, 1, 2, 5))
    with pytest.raises(RegardError, match=r"\(layers, batch, hidden\), got \(2, 5\)"):
        Tapes.of(torch.zeros(2, 5))


def test_detached_tapes_have_the_same_numbers_and_no_gradient() -> None:
    state = reader("lstmn")(random(2, 4, 3)).state
    cut = state.detach()
    assert state.hidden.requires_grad
    assert cut.cells is not None
    assert not any(part.requires_grad for part in (cut.hidden, cut.cells, cut.summary))
    same(cut.values(), state.values())
