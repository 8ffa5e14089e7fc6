"""Our weights in PyTorch's Transformer layers, for the tests."""

from __future__ import annotations

from typing import Any

from torch import nn

from regard.models.layers import DecoderLayer, EncoderLayer


def copy(ours: nn.Module, theirs: nn.Module) -> None:
    theirs.load_state_dict(ours.state_dict())


def copy_layer(ours: EncoderLayer | DecoderLayer, theirs: Any) -> None:
    """Our weights into PyTorch's layer."""
    copy(ours.attention.to_torch(), theirs.self_attn)
    copy(ours.feedforward.inner, theirs.linear1)
    copy(ours.feedforward.outer, theirs.linear2)
    norms = [ours.attention_norm, ours.feedforward_norm]
    if isinstance(ours, DecoderLayer):
        copy(ours.cross.to_torch(), theirs.multihead_attn)
        norms.insert(1, ours.cross_norm)
    for index, norm in enumerate(norms, 1):
        copy(norm, getattr(theirs, f"norm{index}"))
