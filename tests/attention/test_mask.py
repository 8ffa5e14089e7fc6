"""Masks: rules, their combination, and the tensors they become."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.attention import Mask, causal, padding, window
from regard.errors import MaskError
from tests.attention.cases import booleans


def text(mask: torch.Tensor) -> list[str]:
    """A mask as rows of x (may attend) and . (may not)."""
    return ["".join("x" if seen else "." for seen in row) for row in mask.tolist()]


def test_causal() -> None:
    assert text(causal().dense(4)) == ["x...", "xx..", "xxx.", "xxxx"]


def test_causal_with_fewer_queries_than_keys_is_aligned_at_the_end() -> None:
    """The last query sits at the last key: what a step-by-step decoder needs."""
    assert text(causal().dense(2, 5)) == ["xxxx.", "xxxxx"]
    assert text(causal().dense(1, 3)) == ["xxx"]


def test_causal_with_more_queries_than_keys() -> None:
    assert text(causal().dense(4, 2)) == ["..", "..", "x.", "xx"]


def test_window() -> None:
    assert text(window(1).dense(5)) == ["xx...", "xxx..", ".xxx.", "..xxx", "...xx"]
    assert text(window(1, 0).dense(4)) == ["x...", "xx..", ".xx.", "..xx"]
    assert text(window(0, 2).dense(4)) == ["xxx.", ".xxx", "..xx", "...x"]
    assert text(window(1).dense(2, 4)) == [".xxx", "..xx"]


def test_padding() -> None:
    mask = padding(torch.tensor([3, 0, 1])).dense(2, 3)
    assert [text(rows) for rows in mask] == [["xxx"] * 2, ["..."] * 2, ["x.."] * 2]
    assert padding(torch.tensor([3, 1]), keys=5).dense(1, 5).shape == (2, 1, 5)
    assert padding(torch.tensor([], dtype=torch.int64)).dense(1, 0).shape == (0, 1, 0)


def test_no_rule_allows_everything() -> None:
    assert Mask().dense(2, 3).all()


def test_a_row_of_keys_holds_for_every_query() -> None:
    row = torch.tensor([True, False, True])
    assert text(Mask(allowed=row).dense(2, 3)) == ["x.x"] * 2
    assert Mask(allowed=torch.tensor(True)).dense(2, 3).all()


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Mask, Mask, int, int]:
    queries, keys = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    lead = draw(st.lists(st.integers(1, 3), max_size=2))
    reach = st.none() | st.integers(0, 5)
    torch.manual_seed(draw(st.integers(0, 2**31)))
    one, two = (
        Mask(
            draw(st.booleans()),
            draw(reach),
            draw(reach),
            draw(st.none() | booleans(lead, queries, keys)),
        )
        for _ in range(2)
    )
    return one, two, queries, keys


@given(pair=pairs())
def test_and_is_and_of_the_dense_masks(pair: tuple[Mask, Mask, int, int]) -> None:
    one, two, queries, keys = pair
    both = (one & two).dense(queries, keys)
    assert torch.equal(both, one.dense(queries, keys) & two.dense(queries, keys))


@given(pair=pairs(), data=st.data())
def test_a_tile_is_a_slice_of_the_dense_mask(
    pair: tuple[Mask, Mask, int, int], data: st.DataObject
) -> None:
    mask, _, queries, keys = pair
    rows = sorted(data.draw(st.integers(0, n)) for n in (queries, queries))
    columns = sorted(data.draw(st.integers(0, n)) for n in (keys, keys))
    tile = mask.tile((rows[0], rows[1]), (columns[0], columns[1]), queries, keys)
    part = mask.dense(queries, keys)[..., slice(*rows), slice(*columns)]
    got = torch.ones_like(part) if tile is None else tile.expand(part.shape)
    assert torch.equal(got, part)


@given(pair=pairs())
def test_reach_bounds_what_is_seen(pair: tuple[Mask, Mask, int, int]) -> None:
    mask, _, queries, keys = pair
    before, after = mask.reach
    for *_, i, j in mask.dense(queries, keys).nonzero().tolist():
        ahead = j - (i + keys - queries)
        assert after is None or ahead <= after
        assert before is None or -ahead <= before


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8])
def test_only_booleans(dtype: torch.dtype) -> None:
    with pytest.raises(MaskError, match=f"must be boolean, True = may attend, got {dtype}; for a"):
        Mask(allowed=torch.ones(2, 2, dtype=dtype))


def test_wrong_shapes() -> None:
    with pytest.raises(MaskError, match=r"\(..., queries, keys\) = \(..., 3, 4\), got \(2, 4\)"):
        Mask(allowed=torch.ones(2, 4).bool()).dense(3, 4)
    with pytest.raises(MaskError, match=r"= \(..., 3, 4\), got \(2, 3, 3\)"):
        Mask(allowed=torch.ones(2, 3, 3).bool()).check(3, 4)
    with pytest.raises(MaskError, match=r"& must broadcast to each other, got \(2, 1, 4\) and \(3"):
        padding(torch.tensor([1, 4])) & padding(torch.tensor([1, 2, 4]))


def test_wrong_reach_and_lengths() -> None:
    with pytest.raises(MaskError, match="reach must be 0 or more, got before=-1, after=None"):
        window(-1)
    with pytest.raises(MaskError, match="reach must be 0 or more, got before=1, after=-2"):
        window(1, -2)
    with pytest.raises(MaskError, match="from 0 to the padded length 3, got 4"):
        padding(torch.tensor([4, 1]), keys=3)
    with pytest.raises(MaskError, match="from 0 to the padded length 3, got -1"):
        padding(torch.tensor([3, -1]))
    for lengths in (torch.tensor([1.0]), torch.tensor([True])):
        with pytest.raises(MaskError, match=f"must be whole numbers, got {lengths.dtype}; for a"):
            padding(lengths)


def test_a_boolean_tensor_on_either_side_of_and() -> None:
    allowed = torch.tensor([[True, True], [False, True]])
    assert text((causal() & allowed).dense(2)) == ["x.", ".x"]
    assert text((allowed & causal()).dense(2)) == ["x.", ".x"]
    for wrong in (torch.ones(2, 2), [[True]]):
        with pytest.raises(MaskError, match="a mask must be boolean, True = may attend, got"):
            causal() & wrong  # type: ignore[operator]
    with pytest.raises(MaskError, match="a mask must be boolean, True = may attend, got"):
        torch.ones(2, 2) & causal()


def test_padding_takes_a_list() -> None:
    assert torch.equal(padding([3, 2]).dense(1, 3), padding(torch.tensor([3, 2])).dense(1, 3))
    assert torch.equal(padding((1,), keys=2).dense(1, 2), torch.tensor([[[True, False]]]))
    assert padding([]).dense(1, 0).shape == (0, 1, 0)
    with pytest.raises(MaskError, match=r"one for each sequence .* got \['a'\]"):
        padding(["a"])  # type: ignore[list-item]
    with pytest.raises(MaskError, match=r"one for each sequence .* got 3"):
        padding(3)  # type: ignore[arg-type]
    with pytest.raises(MaskError, match=r"must be whole numbers, got torch.float32"):
        padding([1.5])  # type: ignore[list-item]
