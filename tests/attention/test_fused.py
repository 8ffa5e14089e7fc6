"""fused: windows in O(n · window), and the form in which the kernel gets its arguments."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from regard.attention import Mask, attend, causal, padding, window
from regard.attention.fused import BLOCK, fused, fused_scale
from regard.attention.score import dot, scaled_dot


@pytest.fixture(autouse=True)
def _pytorchs_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is handed to PyTorch is what is tested here, also where regard has a kernel."""
    monkeypatch.setenv("REGARD_KERNEL", "off")


NEAR = 5
LONG = 2 * (2 * NEAR + BLOCK) + 1  # from here on a window is cut into blocks


@pytest.mark.parametrize(("queries", "keys"), [(LONG, LONG), (61, LONG), (LONG + 300, LONG)])
@pytest.mark.parametrize(
    "mask",
    [
        window(NEAR),
        window(NEAR, 2),
        window(0),
        window(NEAR) & causal(),
        Mask(causal=True, before=NEAR, after=-1),
    ],
    ids=["both sides", "uneven", "only itself", "causal", "strictly before"],
)
def test_a_long_window_equals_its_dense_mask(mask: Mask, queries: int, keys: int) -> None:
    """Also with fewer queries than keys, and with more (the first then see nothing)."""
    torch.manual_seed(0)
    q = torch.randn(2, 2, queries, 3, dtype=torch.float64, requires_grad=True)
    k = torch.randn(2, 2, keys, 3, dtype=torch.float64, requires_grad=True)
    v = torch.randn(2, 2, keys, 4, dtype=torch.float64, requires_grad=True)
    got = attend(q, k, v, mask=mask).context
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask.dense(queries, keys))
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)
    toward = torch.randn_like(got)
    ours = torch.autograd.grad(got, (q, k, v), toward)
    theirs = torch.autograd.grad(expected, (q, k, v), toward)
    for our, their in zip(ours, theirs, strict=True):
        torch.testing.assert_close(our, their, rtol=0, atol=1e-12)


def test_a_long_window_with_padding_and_groups() -> None:
    torch.manual_seed(0)
    q, k, v = torch.randn(2, 4, LONG, 8), torch.randn(2, 2, LONG, 8), torch.randn(2, 2, LONG, 8)
    inside = padding(torch.tensor([LONG, 300])).allowed
    assert inside is not None
    mask = window(NEAR) & Mask(allowed=inside.unsqueeze(1))
    got = attend(q, k, v, mask=mask, groups=2).context
    expected = attend(q, k, v, mask=mask, groups=2, need_weights=True).context
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-6)


def test_a_long_window_never_makes_the_dense_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    largest = 0
    original = Mask.tile

    def tile(self: Mask, *args: object) -> torch.Tensor | None:
        nonlocal largest
        made = original(self, *args)  # type: ignore[arg-type]
        largest = max(largest, 0 if made is None else made.numel())
        return made

    monkeypatch.setattr(Mask, "tile", tile)
    x = torch.zeros(1, 1, 4096, 2)
    attend(x, x, x, mask=window(NEAR))
    assert 0 < largest <= BLOCK * (BLOCK + 2 * NEAR)


@pytest.mark.parametrize(
    ("mask", "queries", "keys", "flag", "tensor"),
    [
        (None, 4, 6, False, False),
        (causal(), 5, 5, True, False),
        (causal(), 1, 6, False, False),  # one step of decoding: the last query sees every key
        (causal(), 3, 6, False, True),
        (causal() & Mask(allowed=torch.ones(5, 5).bool()), 5, 5, False, True),
        (window(1), 5, 5, False, True),
        (Mask(), 5, 5, False, False),
    ],
)
def test_the_kernel_gets_a_flag_where_it_knows_the_rule(
    mask: Mask | None,
    queries: int,
    keys: int,
    flag: bool,
    tensor: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = {}

    def kernel(query: torch.Tensor, *args: object, **options: object) -> torch.Tensor:
        seen.update(options)
        return query

    monkeypatch.setattr(F, "scaled_dot_product_attention", kernel)
    q, k = torch.ones(1, 1, queries, 2), torch.ones(1, 1, keys, 2)
    fused(q, k, k, mask, 1.0, 1, 0.0)
    assert seen["is_causal"] is flag
    assert (seen["attn_mask"] is not None) is tensor


def test_scale() -> None:
    query = torch.ones(1, 64)
    assert fused_scale(scaled_dot, query) == 1 / 8
    assert fused_scale(dot, query) == 1
    assert fused_scale(lambda q, k: q @ k.mT, query) is None
