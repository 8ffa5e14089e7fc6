"""Layout: one Transformer, two books of names, and two orders of its stream.

Positions here alternate, sin cos sin cos …; Marian and Pegasus have all sines, then all cosines.
The stream of a Transformer (what layers read and add to) knows no order of its features, so one is
the other with the features of the stream reordered in every matrix that reads or writes it::

    theirs[j] = ours[order[j]]          order = 0, 2, 4, …, 1, 3, 5, …
"""

from __future__ import annotations

import re

import torch
from torch import Tensor

_PARTS = (
    (r"attention_norm", "self_attn_layer_norm"),
    (r"cross_norm", "encoder_attn_layer_norm"),
    (r"feedforward_norm", "final_layer_norm"),
    (r"attention\.", "self_attn."),
    (r"cross\.", "encoder_attn."),
    (r"query", "q_proj"),
    (r"key", "k_proj"),
    (r"value", "v_proj"),
    (r"output", "out_proj"),
    (r"feedforward\.inner", "fc1"),
    (r"feedforward\.outer", "fc2"),
)
"""A layer's parts here and there; the first that fits is taken of each kind."""
_LAYER = re.compile(r"(encoder|decoder)\.(\d+)\.(.*)")
_READS = re.compile(r"\.(query|key|value|inner)\.weight$")
_WRITES = re.compile(r"(\.(output|outer)|_norm)\.(weight|bias)$")


def their_name(name: str) -> str:
    """What Hugging Face calls the weight that a Transformer here calls ``name``."""
    if name == "vocabulary.words":
        return "model.shared.weight"
    if name == "vocabulary.bias":
        return "final_logits_bias"
    layer = _LAYER.fullmatch(name)
    if layer is None:  # the norms at the end of a stack
        stack, _, kind = name.partition("_norm.")
        return f"model.{stack}.layer_norm.{kind}"
    stack, number, part = layer.groups()
    for ours, theirs in _PARTS:
        part = re.sub(f"^{ours}|(?<=\\.){ours}", theirs, part, count=1)
    return f"model.{stack}.layers.{number}.{part}"


def to_theirs(name: str, weight: Tensor) -> Tensor:
    """A weight of ours with its stream in their order; ``name`` is ours."""
    axis = _stream_axis(name)
    moved = weight if axis is None else in_their_order(weight, axis)
    return moved.unsqueeze(0) if name == "vocabulary.bias" else moved


def to_ours(name: str, weight: Tensor) -> Tensor:
    """The other way round."""
    weight = weight.squeeze(0) if name == "vocabulary.bias" else weight
    axis = _stream_axis(name)
    if axis is None:
        return weight
    return weight.index_select(axis, _order(weight.shape[axis]).argsort())


def in_their_order(tensor: Tensor, axis: int) -> Tensor:
    """``tensor``, whose ``axis`` runs along our stream, along theirs."""
    return tensor.index_select(axis, _order(tensor.shape[axis]))


def _order(width: int) -> Tensor:
    places = torch.arange(width)
    return torch.cat((places[0::2], places[1::2]))


def _stream_axis(name: str) -> int | None:
    """The axis of a weight that runs along the stream."""
    if name == "vocabulary.words" or _READS.search(name):
        return 1
    return 0 if _WRITES.search(name) else None
