"""MultiHeadAttention: project, attend per head, concatenate, project. A module to train with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.attention.attend import Attended, attend, check_tensors
from regard.attention.mask import Mask
from regard.attention.self_attention import (
    join,
    note_output,
    note_projections,
    note_turned,
    over_heads,
    split,
)
from regard.errors import RegardError, ShapeError
from regard.record import leading, note, recording


@dataclass
class KeyValueCache:
    """Keys and values of the positions already read, so that decoding computes each only once.

    Pass the same object to each step's call. Buffers grow by doubling; while gradients are on, each
    step makes new ones, because what a gradient needs must not be written over. For
    cross-attention the first call fills it and later calls reuse it: the memory does not change
    while decoding.
    """

    length: int = 0
    keys: Tensor | None = None
    values: Tensor | None = None

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add (..., heads, n, width) and return everything so far."""
        end = self.length + key.shape[-2]
        if self.keys is not None and self.keys.shape[:-2] != key.shape[:-2]:
            raise ShapeError(
                f"a cache goes on with the (batch, heads) it began with, "
                f"{tuple(self.keys.shape[:-2])}, got {tuple(key.shape[:-2])}; use a new "
                "KeyValueCache for another batch, or select() its rows"
            )
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
        _check_sizes(
            width=width,
            heads=heads,
            head_width=head_width,
            key_heads=key_heads,
            key_width=key_width,
            value_width=value_width,
        )
        if heads % key_heads:
            raise ShapeError(
                f"query heads must be a multiple of key heads, got {heads} and {key_heads}"
            )
        if not 0 <= dropout <= 1:
            raise RegardError(
                f"dropout is the share of weights to drop, from 0 to 1, got {dropout}"
            )
        head_width = _head_width(width, heads) if head_width is None else head_width
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
        average_attn_weights: bool = False,
    ) -> Attended:
        """Attend from ``query`` (..., q, width) to ``key`` (..., k, key width).

        Without ``key`` this is self-attention; ``value`` is ``key`` unless given. ``mask`` is
        broadcastable to (q, k), (batch, q, k) or (batch, heads, q, k). With a ``cache``,
        self-attention sees the cached positions too (pass ``causal()`` as the mask), and
        cross-attention projects its memory only once. Returns the output (..., q, width) and the
        weights (..., heads, q, k) or None; with ``average_attn_weights``, as in PyTorch (where
        it is the default), their mean over the heads (..., q, k).
        """
        if self.rotary is not None and key is not None and cache is not None:
            raise RegardError(
                "a cross-attention cache does not know where the queries stand, which rotary "
                "positions need; call without cache, or make the module without rotary"
            )
        first = cache.length if cache is not None and key is None else 0
        q = straight_q = split(_project(self.query, query, "query"), self.heads)
        straight_k, k, v = self._keys(query if key is None else key, value, cache, first)
        if self.rotary is not None:
            q = self.rotary(q, first)
        if recording():
            self._note_input(query, key, value)
            how = self._how(key is not None, value is not None, cached=first > 0)
            note_projections(straight_q, straight_k, v, how, apart=True)
            if self.rotary is not None:
                with leading("head"):
                    note_turned(q, k, cached=first > 0)
        with leading("head"):
            context, weights = attend(
                q,
                k,
                v,
                mask=over_heads(mask, q),
                groups=self.heads // self.key_heads,
                dropout=self.dropout if self.training else 0.0,
                need_weights=need_weights,
            )
        if weights is not None and average_attn_weights:
            weights = weights.mean(-3)
        bias = "" if self.output.bias is None else " + b_O"
        return Attended(
            note_output(self.output(join(context)), f"[c_1 ; … ; c_h] W_O{bias}"), weights
        )

    def _keys(
        self, source: Tensor, value: Tensor | None, cache: KeyValueCache | None, first: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Keys before positions turn them, the keys to attend to, and the values."""
        if cache is not None and cache.length and first == 0:  # cross-attention: projected before
            k, v = cache.all()
            return k, k, v
        k = straight = split(_project(self.key, source, "key"), self.key_heads)
        given = source if value is None else value
        v = split(_project(self.value, given, "value"), self.key_heads)
        if self.rotary is not None:
            k = self.rotary(k, first)
        if cache is not None:
            k, v = cache.append(k, v)
        return k if self.rotary is None else straight, k, v

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

    def _note_input(self, query: Tensor, key: Tensor | None, value: Tensor | None) -> None:
        axes = ("position", "width")
        note("input", query, axes=axes, formula="x_i", meaning="One vector for each position.")
        if key is not None:
            meaning = "What is attended to: one vector for each position."
            note("memory", key, axes=axes, formula="m_j", meaning=meaning)
        if value is not None:
            meaning = "What the values are made from, where it is not what the keys are made from."
            note("memory_values", value, axes=axes, formula="n_j", meaning=meaning)

    def _how(self, cross: bool, other_values: bool, cached: bool) -> tuple[str, str, str]:
        """What queries, keys and values are made from; M is the memory attended to."""
        source, bias = "M" if cross else "X", self.query.bias is not None
        q, k, v = (f" + b_{n}" if bias else "" for n in "QKV")
        keys, values = f"{source} W_K{k}", f"{'N' if other_values else source} W_V{v}"
        if cached:  # turned keys come out of the cache turned: there these are the new ones
            keys = keys if self.rotary is not None else f"[cached ; {keys}]"
            values = f"[cached ; {values}]"
        return f"X W_Q{q}", keys, values

    def _linears(self) -> tuple[nn.Linear, nn.Linear, nn.Linear, nn.Linear]:
        return self.query, self.key, self.value, self.output


def _project(linear: nn.Module, x: Tensor, name: str) -> Tensor:
    """``linear(x)``; if that fails, what is wrong with ``x``."""
    try:
        projected: Tensor = linear(x)
        return projected
    except (RuntimeError, TypeError):  # asked only now: a check would take time on each call
        check_tensors(**{name: x})
        width = getattr(linear, "in_features", None)
        if width is not None and x.shape[-1:] != (width,):
            raise ShapeError(
                f"this attention's {name} must be (..., positions, {width}), got {tuple(x.shape)}; "
                "make the module with the width of its input (width, key_width, value_width)"
            ) from None
        weight = getattr(linear, "weight", x)
        if weight.dtype != x.dtype:
            raise RegardError(
                f"this attention's {name} must have the dtype of its weights, {weight.dtype}, "
                f"got {x.dtype}; move one with .to(…)"
            ) from None
        raise


def _check_sizes(**sizes: int | None) -> None:
    for name, size in sizes.items():
        if size is not None and size < 1:
            raise ShapeError(f"{name} must be at least 1, got {size}")


def _head_width(width: int, heads: int) -> int:
    if width % heads:
        raise ShapeError(
            f"heads must divide the width: {width} cannot be cut into {heads} equal parts; "
            "choose another number of heads or give head_width"
        )
    return width // heads


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
    if torch.is_grad_enabled():
        # Even frozen keys may be needed, as they were, for the gradient of the queries.
        return torch.cat((buffer[..., :start, :], part), -2)
    if end > buffer.shape[-2]:
        grown = part.new_empty(*part.shape[:-2], 2 * end, part.shape[-1])
        grown[..., :start, :] = buffer[..., :start, :]
        buffer = grown
    buffer[..., start:end, :] = part
    return buffer
