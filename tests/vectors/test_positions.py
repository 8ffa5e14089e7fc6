"""Positions: sinusoidal by the formula, learned within bounds, rotary by its one property."""

from __future__ import annotations

import math
import re
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import ShapeError
from regard.vectors.positions import Learned, Rotary, sinusoidal


def test_sinusoidal_by_hand() -> None:
    """Width 4: the second pair turns 100 times slower than the first."""
    table = sinusoidal(3, 4, dtype=torch.float64)
    expected = [[math.sin(p), math.cos(p), math.sin(p / 100), math.cos(p / 100)] for p in range(3)]
    assert table[0].tolist() == [0, 1, 0, 1]
    np.testing.assert_allclose(table, expected, rtol=0, atol=1e-15)


@given(positions=st.integers(0, 20), width=st.integers(1, 17), first=st.integers(0, 100_000))
def test_sinusoidal_by_the_formula(positions: int, width: int, first: int) -> None:
    expected = np.zeros((positions, width))
    for row in range(positions):
        for column in range(width):
            angle = (first + row) / 10000 ** (2 * (column // 2) / width)
            expected[row, column] = np.cos(angle) if column % 2 else np.sin(angle)
    table = sinusoidal(positions, width, first=first)
    assert table.dtype == torch.float32
    assert table.shape == (positions, width)
    np.testing.assert_allclose(table, expected, rtol=0, atol=1e-6)


def test_an_odd_width_ends_with_a_sine() -> None:
    table = sinusoidal(2, 3, dtype=torch.float64)
    expected = [math.sin(1), math.cos(1), math.sin(10000 ** (-2 / 3))]
    np.testing.assert_allclose(table[1], expected, rtol=0, atol=1e-15)
    assert sinusoidal(2, 1).tolist() == [[0], [pytest.approx(math.sin(1))]]


def test_learned_positions() -> None:
    torch.manual_seed(0)
    learned = Learned(7, 4)
    assert learned(3).shape == (3, 4)
    assert torch.equal(learned(3, first=4), learned.weight[4:7])
    assert [name for name, _ in learned.named_parameters()] == ["weight"]
    learned(2).sum().backward()
    assert learned.weight.grad is not None
    assert learned.weight.grad[:, 0].tolist() == [1, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(("length", "first", "up_to"), [(8, 0, 8), (2, 6, 8)])
def test_learned_positions_end(length: int, first: int, up_to: int) -> None:
    with pytest.raises(
        ShapeError,
        match=f"learned positions end at 7, got a text up to position {up_to}; shorten the text or "
        "use sinusoidal or rotary positions",
    ):
        Learned(7, 4)(length, first)


pairings = pytest.mark.parametrize("interleaved", [False, True])


@pairings
def test_rotary_by_hand(interleaved: bool) -> None:
    """Each pair is a point turned by its angle: pair 0 by p, pair 1 by p / 100."""
    x = torch.tensor([[1.0, 2.0, 3.0, 4.0]], dtype=torch.float64)
    pairs = [(0, 1), (2, 3)] if interleaved else [(0, 2), (1, 3)]
    expected = [0.0] * 4
    for (a, b), angle in zip(pairs, (5, 5 / 100), strict=True):
        point = complex(x[0, a], x[0, b]) * complex(math.cos(angle), math.sin(angle))
        expected[a], expected[b] = point.real, point.imag
    turned = Rotary(4, interleaved=interleaved)(x, first=5)
    np.testing.assert_allclose(turned[0], expected, rtol=0, atol=1e-14)


@pairings
@given(
    seed=st.integers(0, 2**31),
    width=st.integers(1, 8).map(lambda n: 2 * n),
    p=st.integers(0, 1000),
    s=st.integers(0, 1000),
    shift=st.integers(0, 100_000),
)
def test_the_product_depends_on_the_distance_only(
    interleaved: bool, seed: int, width: int, p: int, s: int, shift: int
) -> None:
    torch.manual_seed(seed)
    q, k = torch.randn(2, 1, width, dtype=torch.float64)
    rotary = Rotary(width, interleaved=interleaved)
    here = rotary(q, p) @ rotary(k, s).mT
    there = rotary(q, p + shift) @ rotary(k, s + shift).mT
    torch.testing.assert_close(there, here, rtol=0, atol=1e-8)
    torch.testing.assert_close(rotary(q, p).norm(), q.norm())


@pairings
def test_rotary_turns_each_row_by_its_own_position(interleaved: bool) -> None:
    torch.manual_seed(0)
    rotary = Rotary(6, interleaved=interleaved)
    x = torch.randn(2, 3, 5, 6)
    whole = rotary(x, first=11)
    for row in range(5):
        torch.testing.assert_close(
            whole[..., row : row + 1, :], rotary(x[..., row : row + 1, :], 11 + row)
        )
    assert torch.equal(rotary(x[..., :1, :]), x[..., :1, :]), "position 0 does not turn"


def test_both_pairings_are_one_turn_of_reordered_numbers() -> None:
    torch.manual_seed(0)
    x = torch.randn(5, 6)
    order = torch.tensor([0, 2, 4, 1, 3, 5])  # neighbours to halves
    halves = Rotary(6)(x[:, order])
    torch.testing.assert_close(halves, Rotary(6, interleaved=True)(x)[:, order])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_model_in_half_precision_keeps_its_angles(dtype: torch.dtype) -> None:
    """An angle rounded to 8 bits would be off by whole turns at position 5,000."""
    rotary = Rotary(64).to(dtype)
    x = torch.ones(1, 64)
    assert torch.equal(rotary(x, 5000), Rotary(64)(x, 5000))
    turned = rotary(x.to(dtype), 5000)
    assert turned.dtype == dtype
    torch.testing.assert_close(turned.float(), rotary(x, 5000), rtol=0, atol=0.02)


def test_rotary_has_nothing_to_save() -> None:
    assert not Rotary(4).state_dict()


def test_rotary_needs_pairs() -> None:
    with pytest.raises(ShapeError, match="width must be even, got 5"):
        Rotary(5)


@pytest.mark.parametrize("base", [10000.0, 500000.0])
def test_equals_llamas_rotary(base: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what transformers says while it is imported
        from transformers import LlamaConfig
        from transformers.models.llama import modeling_llama as llama
    config = LlamaConfig(
        hidden_size=32,
        num_attention_heads=2,
        rope_parameters={"rope_type": "default", "rope_theta": base},
    )
    torch.manual_seed(0)
    q, k = torch.randn(2, 1, 2, 50, 16)
    cos, sin = llama.LlamaRotaryEmbedding(config)(q, torch.arange(7, 57).unsqueeze(0))
    their_q, their_k = llama.apply_rotary_pos_emb(q, k, cos, sin)
    rotary = Rotary(16, base=base)
    torch.testing.assert_close(rotary(q, 7), their_q, rtol=0, atol=2e-5)
    torch.testing.assert_close(rotary(k, 7), their_k, rtol=0, atol=2e-5)


@pytest.mark.parametrize(("length", "first"), [(2, -1), (-1, 2)])
def test_learned_positions_begin_at_0(length: int, first: int) -> None:
    text = f"counted from 0, got length {length} and first {first}"
    with pytest.raises(ShapeError, match=text):
        Learned(4, 3)(length, first)


@pytest.mark.parametrize("shape", [(5, 6), (2, 5, 2), (4,)])
def test_rotary_of_another_width(shape: tuple[int, ...]) -> None:
    text = rf"turn vectors of width 4, \(..., n, 4\), got {re.escape(str(shape))}; in a layer use"
    with pytest.raises(ShapeError, match=text):
        Rotary(4)(torch.ones(shape))
