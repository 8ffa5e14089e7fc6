"""Statistics of attention weights that are never kept: one pass over blocks of rows.

For each query i of each head, with s_ij its masked score of key j:

    lse_i      = log sum_j exp(s_ij)
    a_ij       = exp(s_ij − lse_i)                     the weights, in a block that is then dropped
    top        the k largest a_ij and where they are
    entropy_i  = − sum_j a_ij log a_ij = lse_i − sum_j a_ij s_ij      in nats
    received_j = sum_i a_ij
    pooled     the maximum and the mean of a in cells of a coarse grid

A block's scores are computed once and serve all of them. Memory is O(n · d + block). Where the
native kernel is there it does this; what it computes is written out here for PyTorch, which serves
everywhere else and is what the kernel is tested against.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.attention.kernel import run as native
from regard.attention.kernel.library import MOST_TOP
from regard.attention.mask import Mask
from regard.errors import ShapeError

BLOCK_NUMBERS = 1 << 21
"""Scores held at a time, over all heads: 8 MB in float32 stays near the cache."""
NOTHING = -1e30
"""A masked score in a block: its weight is 0 as with -inf, and 0 · score is 0 and not NaN."""
CHUNK = 32
"""Weights that the search for the largest looks at together."""


@dataclass(frozen=True)
class Rule:
    """How queries and keys of one layer become weights; everything but the vectors themselves.

    score = q · k · scale, then softcap · tanh(score / softcap) if given, then + bias, then masked.
    ``bias`` is broadcastable to (heads, queries, keys).
    """

    scale: float
    mask: Mask | None = None
    bias: Tensor | None = None
    softcap: float | None = None


@dataclass(frozen=True)
class Statistics:
    """What one pass found; what was not asked for is None. Axes: head, query, …"""

    lse: Tensor
    """(heads, queries); −inf where a query may attend to nothing."""
    top_weights: Tensor | None
    """(heads, queries, k), largest first."""
    top_keys: Tensor | None
    """(heads, queries, k): the keys of these weights."""
    entropy: Tensor | None
    """(heads, queries), in nats."""
    received: Tensor | None
    """(heads, keys): the attention that each key gets from all queries together."""
    pooled_max: Tensor | None
    """(heads, row cells, column cells)"""
    pooled_mean: Tensor | None


def statistics(
    query: Tensor,
    key: Tensor,
    rule: Rule,
    *,
    top: int = 0,
    entropy: bool = False,
    received: bool = False,
    cells: int = 0,
) -> Statistics:
    """All heads in one pass: query (heads, q, d), key (key heads, k, d), grouped if fewer.

    ``top`` largest weights of each row; a pooled grid of at most ``cells`` × ``cells``.
    """
    heads, queries, _ = query.shape
    key_heads, keys, _ = key.shape
    if heads % key_heads:
        raise ShapeError(
            f"query heads must be a multiple of key heads, got {heads} and {key_heads}"
        )
    grid = PoolGrid(queries, keys, cells) if cells else None
    kernel = native.usable(query, key) if queries and keys and top <= MOST_TOP else None
    if kernel is None:
        return in_blocks(query, key, rule, top, entropy, received, grid)
    wanted = native.Wanted(
        True, top, entropy, received, None if grid is None else (grid.rows, grid.columns)
    )
    _, found = native.run(
        kernel,
        query.unsqueeze(0),
        key.unsqueeze(0),
        None,
        scale=rule.scale,
        mask=rule.mask,
        bias=rule.bias,
        softcap=rule.softcap,
        wanted=wanted,
    )
    return of_item(found, 0)


def of_item(found: native.KernelStatistics, batch: int) -> Statistics:
    """The statistics of one batch item of what the kernel found."""
    lse, *others = (None if tensor is None else tensor[batch] for tensor in found)
    assert lse is not None
    return Statistics(lse, *others)


def in_blocks(
    query: Tensor,
    key: Tensor,
    rule: Rule,
    top: int,
    entropy: bool,
    received: bool,
    grid: PoolGrid | None,
) -> Statistics:
    """The same in PyTorch, on any device: blocks of rows, their scores and weights dropped."""
    heads, queries, _ = query.shape
    keys = key.shape[-2]
    new = functools.partial(torch.zeros, device=query.device)
    lse = new(heads, queries)
    uncertain = new(heads, queries) if entropy else None
    got = new(heads, keys) if received else None
    k = min(top, keys)
    best = new(heads, queries, k) if top else None
    where = new(heads, queries, k, dtype=torch.long) if top else None
    pools = grid.empty(heads, query.device) if grid else None
    for rows, columns, scores in score_blocks(query, key, rule, grid.rows if grid else 1):
        here = slice(*rows)
        row_lse, weights = softmax_block(scores, keep=uncertain is not None)
        lse[:, here] = row_lse
        if uncertain is not None:
            mean = torch.linalg.vecdot(weights, scores)
            uncertain[:, here] = (row_lse - mean).nan_to_num_(0, neginf=0).clamp_min_(0)
        if got is not None:
            got[:, slice(*columns)] += weights.sum(-2)
        if best is not None and where is not None:
            values, places = largest(weights, k)
            best[:, here, : values.shape[-1]] = values
            where[:, here, : values.shape[-1]] = places + columns[0]
        if grid is not None and pools is not None:
            grid.add(pools, weights, rows, columns)
    if grid is not None and pools is not None:
        grid.finish(pools)
    return Statistics(lse, best, where, uncertain, got, *(pools or (None, None)))


def score_blocks(
    query: Tensor, key: Tensor, rule: Rule, multiple: int = 1
) -> Iterator[tuple[tuple[int, int], tuple[int, int], Tensor]]:
    """Blocks of rows: (first, last) row, (first, last) key in reach, scores (heads, rows, keys).

    Blocks begin at multiples of ``multiple`` rows. Keys that no row of a block may see are left
    out, so that causal attention costs half and a window costs its width.
    """
    heads, queries, _ = query.shape
    keys = key.shape[-2]
    if keys == 0 or queries == 0:
        return
    size = max(1, BLOCK_NUMBERS // max(1, heads * keys))
    size = max(1, size // multiple) * multiple
    for start in range(0, queries, size):
        stop = min(queries, start + size)
        columns = reach(rule.mask, (start, stop), queries, keys)
        scores = scores_of(query, key, rule, (start, stop), columns, NOTHING)
        if rule.bias is not None:
            scores.clamp_min_(NOTHING)  # a bias may hold -inf of its own
        yield (start, stop), columns, scores


def scores_of(
    query: Tensor,
    key: Tensor,
    rule: Rule,
    rows: tuple[int, int],
    columns: tuple[int, int],
    masked: float = -math.inf,
) -> Tensor:
    """The scores (heads, rows, columns) of one tile in float32; ``masked`` where masked."""
    heads, queries, width = query.shape
    key_heads, keys, _ = key.shape
    q = query[:, rows[0] : rows[1]].float()
    k = key[:, columns[0] : columns[1]].float()
    # Heads that share a key head are further rows of one product.
    grouped = q.reshape(key_heads, -1, width)
    scores = torch.baddbmm(grouped.new_empty(()), grouped, k.mT, beta=0, alpha=rule.scale)
    scores = scores.view(heads, rows[1] - rows[0], columns[1] - columns[0])
    if rule.softcap is not None:
        scores = scores.div_(rule.softcap).tanh_().mul_(rule.softcap)
    if rule.bias is not None:
        scores += tile_of(rule.bias, rows, columns)
    if rule.mask is not None:
        allowed = rule.mask.tile(rows, columns, queries, keys, query.device)
        if allowed is not None:
            scores.masked_fill_(~allowed, masked)
    return scores


def softmax_block(scores: Tensor, keep: bool) -> tuple[Tensor, Tensor]:
    """Log-sum-exp (…, rows) and weights (…, rows, keys) with one exponential for each score.

    Overwrites ``scores`` unless ``keep``. Rows that may attend to nothing: −inf and zeros.
    """
    most = scores.amax(-1, keepdim=True)
    raised = (scores - most).exp_() if keep else scores.sub_(most).exp_()
    total = raised.sum(-1, keepdim=True)
    empty = most <= NOTHING
    lse = (most + total.log()).masked_fill_(empty, -math.inf)
    return lse.squeeze(-1), raised.mul_((1 / total).masked_fill_(empty, 0))


def to_weights(scores: Tensor, lse: Tensor) -> Tensor:
    """a = exp(s − lse) of a tile, zeros where lse is −inf; overwrites ``scores``."""
    safe = torch.where(lse == -math.inf, 0, lse).unsqueeze(-1)
    return scores.sub_(safe).exp_()


def reach(mask: Mask | None, rows: tuple[int, int], queries: int, keys: int) -> tuple[int, int]:
    """The keys that any of these rows may see by the mask's rules; never empty."""
    if mask is None:
        return 0, keys
    before, after = mask.reach
    shift = keys - queries
    first = 0 if before is None else min(keys - 1, max(0, rows[0] + shift - before))
    last = keys if after is None else min(keys, max(first + 1, rows[1] + shift + after))
    return first, last


def tile_of(bias: Tensor, rows: tuple[int, int], columns: tuple[int, int]) -> Tensor:
    """The part of a broadcastable (…, queries, keys) tensor for one tile."""
    if bias.shape[-1] != 1:
        bias = bias[..., columns[0] : columns[1]]
    if bias.dim() > 1 and bias.shape[-2] != 1:
        bias = bias[..., rows[0] : rows[1], :]
    return bias


def largest(weights: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest of each row and their places, largest first.

    The k largest numbers lie in the k chunks with the largest maxima, so most of a long row is
    read once, for its maxima, and never sorted.
    """
    n = weights.shape[-1]
    k = min(k, n)
    if n < 4 * CHUNK * k:
        values, places = weights.topk(k, -1)
        return values, places
    whole = n // CHUNK * CHUNK
    chunks = weights[..., :whole].unflatten(-1, (-1, CHUNK))
    best = chunks.amax(-1).topk(k, -1).indices
    found = chunks.gather(-2, best.unsqueeze(-1).expand(*best.shape, CHUNK)).flatten(-2)
    place = (best.unsqueeze(-1) * CHUNK + torch.arange(CHUNK, device=best.device)).flatten(-2)
    if whole < n:
        rest = torch.arange(whole, n, device=best.device).expand(*place.shape[:-1], n - whole)
        found, place = torch.cat((found, weights[..., whole:]), -1), torch.cat((place, rest), -1)
    values, order = found.topk(k, -1)
    return values, place.gather(-1, order)


class PoolGrid:
    """A coarse grid over (queries, keys): at most ``cells`` cells on a side, all but the last of
    one size."""

    def __init__(self, queries: int, keys: int, cells: int) -> None:
        self.queries, self.keys = queries, keys
        self.rows = max(1, math.ceil(queries / cells))
        self.columns = max(1, math.ceil(keys / cells))
        self.shape = math.ceil(queries / self.rows), math.ceil(keys / self.columns)

    def empty(self, heads: int, device: torch.device) -> tuple[Tensor, Tensor]:
        return (
            torch.zeros(heads, *self.shape, device=device),
            torch.zeros(heads, *self.shape, device=device),
        )

    def add(
        self,
        pools: tuple[Tensor, Tensor],
        weights: Tensor,
        rows: tuple[int, int],
        columns: tuple[int, int],
    ) -> None:
        """Add a block whose first row begins a cell; weights are ≥ 0, so zeros pad a maximum."""
        lead = columns[0] % self.columns
        behind = -(lead + weights.shape[-1]) % self.columns
        below = -weights.shape[-2] % self.rows
        if lead or behind or below:
            weights = torch.nn.functional.pad(weights, (lead, behind, 0, below))
        tiles = weights.unflatten(-1, (-1, self.columns))
        first = columns[0] // self.columns
        across = slice(first, first + tiles.shape[-2])
        down = slice(rows[0] // self.rows, rows[0] // self.rows + weights.shape[-2] // self.rows)
        for pool, reduced in zip(pools, (tiles.amax(-1), tiles.sum(-1)), strict=True):
            tall = reduced.unflatten(-2, (-1, self.rows))
            pool[:, down, across] = tall.amax(-2) if pool is pools[0] else tall.sum(-2)

    def finish(self, pools: tuple[Tensor, Tensor]) -> None:
        """Turn sums into means over the real weights of each cell."""
        pools[1].div_(self.sizes(pools[1].device))

    def sizes(self, device: torch.device) -> Tensor:
        """How many weights each cell covers."""
        parts = []
        for n, size, count in zip(
            (self.queries, self.keys), (self.rows, self.columns), self.shape, strict=True
        ):
            starts = torch.arange(count, device=device) * size
            parts.append((n - starts).clamp_max(size).float())
        return parts[0].unsqueeze(-1) * parts[1]
