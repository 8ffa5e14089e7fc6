"""Verify: is what was observed what the model did? What is not, is refused and never shown.

Queries, keys and the rule between them must give what the model's own kernel mixed, in a few rows
of every call; weights must be rows of a softmax, of the heads and tokens that the module has.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from regard.attention.mask import Mask
from regard.attention.rule import NOTHING, softmax
from regard.inside.observe.call import Call

ROWS = 4
"""Queries of a call whose context is computed once more."""
MOST_APART = {torch.float64: 1e-3, torch.float32: 1e-3, torch.float16: 2e-2, torch.bfloat16: 0.1}
"""How far a context may be from the same one in float32, in units of the largest value."""
MOST_SUM = 1.02
"""What a row of weights may sum to in half precision."""
HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head", "nhead", "heads")
"""Names by which modules say how many heads they have."""


def explained(call: Call) -> bool:
    """Whether softmax(rule(q, k)) · v is the context that the model's kernel gave, in some rows.

    Rows that may attend to nothing are left out, and so are numbers that are not finite.
    """
    value, context = call.value, call.context
    if value is None or context is None:
        return True
    if call.query.dim() != 4 or call.key.dim() != 4:
        return False
    batch, heads, queries, _ = call.query.shape
    if context.shape != (batch, heads, queries, value.shape[-1]):
        return False
    if not queries or not call.key.shape[-2] or not value.numel():
        return True
    rows = sample(queries, context.device)
    with torch.no_grad():
        weights = weights_of(call, rows)
        empty = (weights == 0).all(-1, keepdim=True)
        expected = mixed(weights, call)
        apart = (expected - context[:, :, rows].float()).abs().masked_fill(empty, 0)
        most = MOST_APART.get(context.dtype, 0.1) * value.float().abs().amax().clamp_min(1e-6)
        return not bool((apart > most).any())  # NaN, where a value is NaN, is not larger


def sample(queries: int, device: torch.device) -> Tensor:
    """Some positions from the first to the last, each once."""
    return torch.linspace(0, queries - 1, min(ROWS, queries), device=device).round().long()


def mixed(weights: Tensor, call: Call) -> Tensor:
    """What weights (batch, heads, rows, keys) mix of the call's values, in float32."""
    assert call.value is not None
    return (_grouped(weights, call) @ call.value.float()).reshape(*weights.shape[:-1], -1)


def weights_of(call: Call, rows: Tensor) -> Tensor:
    """(batch, heads, rows, keys), from the weights if there are any, else from queries and keys."""
    if call.weights is not None:
        return call.weights[:, :, rows].float()
    rule, (queries, keys) = call.rule, (call.query.shape[-2], call.key.shape[-2])
    query = _grouped(call.query[:, :, rows].float(), call)
    scores = (query @ call.key.float().mT * rule.scale).reshape(
        *call.query.shape[:2], len(rows), keys
    )
    if rule.softcap is not None:
        scores = (scores / rule.softcap).tanh() * rule.softcap
    if rule.bias is not None:
        scores = scores + _rows_of(rule.bias, rows)
        scores = scores.masked_fill(scores <= NOTHING, -math.inf)
    if rule.mask is not None:
        scores = scores.masked_fill(~_allowed(rule.mask, rows, queries, keys), -math.inf)
    return softmax(scores)


def _grouped(x: Tensor, call: Call) -> Tensor:
    """(batch, key heads, heads that share one · rows, …)."""
    return x.reshape(x.shape[0], call.key.shape[1], -1, x.shape[-1])


def _rows_of(tensor: Tensor, rows: Tensor) -> Tensor:
    return tensor if tensor.shape[-2] == 1 else tensor[..., rows, :]


def _allowed(mask: Mask, rows: Tensor, queries: int, keys: int) -> Tensor:
    tiles = []
    for row in rows.tolist():
        tile = mask.tile((row, row + 1), (0, keys), queries, keys, rows.device)
        tiles.append(torch.ones(1, keys, dtype=torch.bool) if tile is None else tile)
    return torch.cat([tile.to(rows.device) for tile in tiles], -2)


def heads_of(module: nn.Module) -> int | None:
    """How many heads a module says that it has."""
    for name in HEADS:
        heads = getattr(module, name, None)
        if isinstance(heads, int) and not isinstance(heads, bool) and heads > 0:
            return heads
    return None


def problem_of_shape(shape: torch.Size, module: nn.Module, tokens: frozenset[int]) -> str | None:
    """Why (batch, heads, queries, keys) cannot be of ``module``; None if it can.

    ``tokens``: what batch · queries may be, by what the module was given; empty if not known. A
    query that was learned looks at them all the same: then these are the keys.
    """
    if len(shape) != 4:
        return f"weights of shape {tuple(shape)} are not (batch, heads, queries, keys)"
    heads = heads_of(module)
    if heads is not None and shape[1] != heads:
        return f"weights of shape {tuple(shape)} are not of the module's {heads} heads"
    if tokens and not {shape[0] * shape[2], shape[0] * shape[3]} & tokens:
        return (
            f"weights of shape {tuple(shape)} are not of the {min(tokens)} tokens, over the whole "
            "batch, that the module was given"
        )
    return None


def problem_of_weights(weights: Tensor) -> str | None:
    """Why these cannot be attention weights; rows sum to 1, to less with sinks, or to 0."""
    if not weights.numel():
        return None
    sums = weights.detach().sum(-1, dtype=torch.float32)
    if not bool(torch.isfinite(sums).all()):
        return "its weights are not finite"
    if float(weights.min()) < 0 or float(sums.max()) > MOST_SUM:
        return "its weights are negative, or rows of them sum to more than 1"
    return None
