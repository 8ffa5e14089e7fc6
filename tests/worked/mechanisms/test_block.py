"""A whole encoder block is PyTorch's nn.TransformerEncoderLayer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from regard.worked.stages import compute
from tests.worked.cases import Numbers, generated, replayed


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("causal", [False, True])
def test_it_is_torchs_layer(norm: str, causal: bool) -> None:
    example = generated(("encoder-block", {"norm": norm}), 7)
    rng = np.random.default_rng(8)
    given: dict[str, Numbers] = {
        name: np.asarray(rng.normal(size=value.shape)) for name, value in example.given.items()
    }
    for name in ("w_q", "w_k", "w_v", "w_o"):
        given[name] = rng.normal(size=(2, 2))
    for name in ("b_q", "b_k", "b_v"):
        given[name] = rng.normal(size=2)
    mask = {"causal": True} if causal else None
    example = replace(example, given=given, mask=mask)
    g = {name: torch.from_numpy(example.turned(name).copy()) for name in given}
    layer = torch.nn.TransformerEncoderLayer(
        2, 2, 4, dropout=0, norm_first=norm == "pre", batch_first=True
    )
    layer.double().eval().load_state_dict(
        {
            "self_attn.in_proj_weight": torch.cat([g[f"w_{n}"].T for n in "qkv"]),
            "self_attn.in_proj_bias": torch.cat([g[f"b_{n}"] for n in "qkv"]),
            "self_attn.out_proj.weight": g["w_o"].T,
            "self_attn.out_proj.bias": g["b_o"],
            **{f"linear{i}.weight": g[f"w_{i}"].T for i in (1, 2)},
            **{f"linear{i}.bias": g[f"b_{i}"] for i in (1, 2)},
            **{f"norm{i}.weight": g[f"gamma_{i}"] for i in (1, 2)},
            **{f"norm{i}.bias": g[f"beta_{i}"] for i in (1, 2)},
        }
    )
    hidden = torch.nn.Transformer.generate_square_subsequent_mask(3).double() if causal else None
    with torch.no_grad():
        expected = layer(g["x"][None], src_mask=hidden)[0]
    trace = compute(example)
    last = "feed-forward/normalised" if norm == "post" else "feed-forward/residual"
    np.testing.assert_allclose(trace.value(last), expected, rtol=1e-9)
    assert trace.value("self-attention/weights").shape == (2, 3, 3)
    replayed(example)


def test_one_head_has_no_axis_for_it() -> None:
    example = replace(generated(("encoder-block", {"norm": "post"}), 7), heads=1)
    assert compute(example).value("self-attention/weights").shape == (3, 3)
    replayed(example)
