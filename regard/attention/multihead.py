"""MultiHeadAttention: project, attend per head, concatenate, project. A module to train with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.attention.attend import Attended, attend
from regard.attention.mask import Mask, as_mask
from regard.attention.score import scaled_dot
from regard.attention.self_attention import (
    join,
    note_output,
    note_projections,
    over_heads,
    split,
)
from regard.errors import RegardError, ShapeError
from regard.record import leading, note, recording


@dataclass
class KeyValueCache:
    """Keys and values of the positions already read, so that decoding computes each only once.

    Pass the same object to each step's call. Buffers grow by doubling. For cross-attention the
    first call fills it and later calls reuse it: the memory does not change while decoding.
    """

    length: int = 0
    keys: Tensor | None = None
    values: Tensor | None = None

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add (..., heads, n, width) and return everything so far."""
        end = self.length + key.shape[-2]
        self.keys = _written(self.keys, key, self.length, end)
        self.values = _written(self.values, value, self.length, end)
        self.length = end
        return self.all()

    def all(self) -> tuple[Tensor, Tensor]:
        """Keys and values so far."""
        if self.keys is None or self.values is None:
            raise RegardError("this cache is empty: append to it first")
        return self.keys[..., : self.length, :], self.values[..., : self.length, :]

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch, in this order (beam search follows its hypotheses)."""
        if self.keys is not None and self.values is not None:
            self.keys, self.values = self.keys[rows], self.values[rows]


class MultiHeadAttention(nn.Module):
    """Multi-head attention (Vaswani et al. 2017, section 3.2.2).

        head_h = attend(X W_Q^h, M W_K^h, M W_V^h),   output = [head_1 ; … ; head_H] W_O

    ``width`` of the queries and of the output; ``heads`` of ``head_width`` each (width / heads
    if not given); ``key_heads`` fewer key/value heads than query heads (grouped; Ainslie et al.
    2023); ``key_width``, ``value_width`` of what is attended to, if it differs (cross-attention;
    values are as wide as keys if not given).
    ``rotary`` turns queries and keys by their position: ``rotary(x, first)`` with x
    (..., heads, n, head_width) whose first row stands at position ``first``.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        head_width: int | None = None,
        key_heads: int | None = None,
        key_width: int | None = None,
        value_width: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        rotary: Callable[[Tensor, int], Tensor] | None = None,
    ) -> None:
        super().__init__()
        key_heads = heads if key_heads is None else key_heads
        if heads < 1 or key_heads < 1 or heads % key_heads:
            raise ShapeError(
                f"query heads must be a multiple of key heads, got {heads} and {key_heads}"
            )
        if head_width is None:
            if width % heads:
                raise ShapeError(
                    f"heads must divide the width: {width} cannot be cut into {heads} equal "
                    "parts; choose another number of heads or give head_width"
                )
            head_width = width // heads
        self.width, self.heads, self.key_heads = width, heads, key_heads
        self.head_width, self.dropout, self.rotary = head_width, dropout, rotary
        self.query = nn.Linear(width, heads * head_width, bias)
        self.key = nn.Linear(key_width or width, key_heads * head_width, bias)
        self.value = nn.Linear(value_width or key_width or width, key_heads * head_width, bias)
        self.output = nn.Linear(heads * head_width, width, bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Xavier-uniform matrices and zero biases."""
        for linear in (self.query, self.key, self.value, self.output):
            nn.init.xavier_uniform_(linear.weight)
            if linear.bias is not None:
                nn.init.zeros_(linear.bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        *,
        mask: Mask | Tensor | None = None,
        cache: KeyValueCache | None = None,
        need_weights: bool = False,
    ) -> Attended:
        """Attend from ``query`` (..., q, width) to ``key`` (..., k, key width).

        Without ``key`` this is self-attention; ``value`` is ``key`` unless given. ``mask`` is
        broadcastable to (q, k), (batch, q, k) or (batch, heads, q, k). With a ``cache``,
        self-attention sees the cached positions too (pass ``causal()`` as the mask), and
        cross-attention projects its memory only once. Returns the output (..., q, width) and the
        weights (..., heads, q, k) or None.
        """
        if self.rotary is not None and key is not None and cache is not None:
            raise RegardError(
                "a cross-attention cache does not know where the queries stand, which rotary "
                "positions need; call without cache, or make the module without rotary"
            )
        note("input", query, axes=("position", "width"), formula="x_i", meaning=_INPUT)
        q = split(self.query(query), self.heads)
        first = 0
        if key is not None and cache is not None and cache.length:
            k, v = cache.all()
        else:
            source = query if key is None else key
            k = split(self.key(source), self.key_heads)
            v = split(self.value(source if value is None else value), self.key_heads)
            first = cache.length if cache is not None else 0
            k = k if self.rotary is None else self.rotary(k, first)
            if cache is not None:
                k, v = cache.append(k, v)
        q = q if self.rotary is None else self.rotary(q, first)
        with leading("head"):
            if recording():
                note_projections(q, k, v, self._how(cross=key is not None))
            context, weights = attend(
                q,
                k,
                v,
                score=scaled_dot,
                mask=over_heads(as_mask(mask), q),
                groups=self.heads // self.key_heads,
                dropout=self.dropout if self.training else 0.0,
                need_weights=need_weights,
            )
        return Attended(note_output(self.output(join(context))), weights)

    @classmethod
    def from_torch(cls, module: nn.MultiheadAttention) -> MultiHeadAttention:
        """The same attention as ``module``; equal outputs and weights (``batch_first`` order).

        Masks differ: regard's True means may attend, PyTorch's boolean True means may not.
        """
        if module.bias_k is not None or module.add_zero_attn:
            raise RegardError(
                "nn.MultiheadAttention with add_bias_kv or add_zero_attn has keys that belong to "
                "no token; regard has none: convert a module made without these options"
            )
        made = cls(
            module.embed_dim,
            module.num_heads,
            key_width=module.kdim,
            value_width=module.vdim,
            bias=module.in_proj_bias is not None,
            dropout=module.dropout,
        ).to(module.out_proj.weight.device, module.out_proj.weight.dtype)
        with torch.no_grad():
            for ours, weight, bias in zip(made._linears(), *_torch_parts(module), strict=True):
                ours.weight.copy_(weight)
                if ours.bias is not None and bias is not None:
                    ours.bias.copy_(bias)
        return made.train(module.training)

    def to_torch(self) -> nn.MultiheadAttention:
        """The same attention as an ``nn.MultiheadAttention`` with ``batch_first=True``."""
        if self.key_heads != self.heads or self.head_width * self.heads != self.width:
            raise RegardError(
                "nn.MultiheadAttention has as many key heads as query heads, and heads × head "
                f"width = width; got {self.heads} and {self.key_heads} heads of {self.head_width} "
                f"in width {self.width}"
            )
        if self.rotary is not None:
            raise RegardError("nn.MultiheadAttention cannot turn its queries and keys (rotary)")
        weight = self.output.weight
        made = nn.MultiheadAttention(
            self.width,
            self.heads,
            dropout=self.dropout,
            bias=self.query.bias is not None,
            kdim=self.key.in_features,
            vdim=self.value.in_features,
            batch_first=True,
            device=weight.device,
            dtype=weight.dtype,
        )
        with torch.no_grad():
            for ours, theirs, bias in zip(self._linears(), *_torch_parts(made), strict=True):
                theirs.copy_(ours.weight)
                if ours.bias is not None and bias is not None:
                    bias.copy_(ours.bias)
        return made.train(self.training)

    def _how(self, cross: bool) -> tuple[str, str, str]:
        """What queries, keys and values are made from; M is the memory attended to."""
        source, bias = "M" if cross else "X", self.query.bias is not None
        q, k, v = (f" + b_{n}" if bias else "" for n in "QKV")
        return f"X W_Q{q}", f"{source} W_K{k}", f"{source} W_V{v}"

    def _linears(self) -> tuple[nn.Linear, nn.Linear, nn.Linear, nn.Linear]:
        return self.query, self.key, self.value, self.output


_INPUT = "One vector for each position."


def _torch_parts(module: nn.MultiheadAttention) -> tuple[list[Tensor], list[Tensor | None]]:
    """Query, key, value and output matrices of PyTorch's module, and their biases, as views."""
    if module.in_proj_weight is not None:
        weights = list(module.in_proj_weight.chunk(3))
    else:
        weights = [module.q_proj_weight, module.k_proj_weight, module.v_proj_weight]
    biases: list[Tensor | None] = [None, None, None]
    if module.in_proj_bias is not None:
        biases = list(module.in_proj_bias.chunk(3))
    return [*weights, module.out_proj.weight], [*biases, module.out_proj.bias]


def _written(buffer: Tensor | None, part: Tensor, start: int, end: int) -> Tensor:
    """``buffer`` with ``part`` at [start, end), grown to twice the need when too small."""
    if buffer is None:
        return part
    if end > buffer.shape[-2]:
        grown = part.new_empty(*part.shape[:-2], 2 * end, part.shape[-1])
        grown[..., :start, :] = buffer[..., :start, :]
        buffer = grown
    buffer[..., start:end, :] = part
    return buffer
