"""Statistics of attention weights that are never kept: one pass over blocks of rows.

wanted.py says what they are. A block's scores are computed once and serve all of them. Memory is
O(n · d + block). Where the native kernel is there it does this; what it computes is written out
here for PyTorch, which serves everywhere else and is what the kernel is tested against.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

import torch
from torch import Tensor

from regard.attention.kernel import run as native
from regard.attention.rule import NOTHING, Rule, Span, softmax_with_sums
from regard.attention.wanted import Statistics, Wanted
from regard.errors import ShapeError

BLOCK_NUMBERS = 1 << 21
"""Scores held at a time, over all heads: 8 MB in float32 stays near the cache."""
CHUNK = 32
"""Weights that the search for the largest looks at together."""


def statistics(query: Tensor, key: Tensor, rule: Rule, wanted: Wanted) -> Statistics:
    """All heads in one pass: query (heads, q, d), key (key heads, k, d), grouped if fewer."""
    heads, key_heads = query.shape[0], key.shape[0]
    if heads % key_heads:
        raise ShapeError(
            f"query heads must be a multiple of key heads, got {heads} and {key_heads}"
        )
    kernel = native.usable(query, key, wanted=wanted)
    if kernel is None:
        return in_blocks(query, key, rule, wanted)
    _, found = native.run(kernel, query.unsqueeze(0), key.unsqueeze(0), None, rule, wanted)
    assert found is not None
    return found.each(lambda tensor: tensor[0])


def of_weights(weights: Tensor, wanted: Wanted) -> Statistics:
    """The same of weights (heads, queries, keys) that exist already and are taken as they are.

    Their rows may sum to less than 1, where a sink that is no key has the rest. Their scores are
    their logarithms, so that the log-sum-exp is 0, or −inf where a row has no weight.
    """
    weights = weights.float()
    _, queries, keys = weights.shape
    lse = torch.zeros(weights.shape[:-1], device=weights.device)
    lse.masked_fill_((weights == 0).all(-1), -math.inf)
    top, where = largest(weights, wanted.top) if wanted.top else (None, None)
    grid, pools = wanted.grid(queries, keys), None
    if grid is not None:
        pools = grid.empty(len(weights), weights.device)
        grid.add(pools, weights, (0, queries), (0, keys))
        grid.finish(pools)
    entropy = torch.special.entr(weights).sum(-1) if wanted.entropy else None
    received = weights.sum(-2) if wanted.received else None
    return Statistics(lse, top, where, entropy, received, *(pools or (None, None)))


def in_blocks(query: Tensor, key: Tensor, rule: Rule, wanted: Wanted) -> Statistics:
    """The same in PyTorch, on any device: blocks of rows, their scores and weights dropped."""
    heads, queries, _ = query.shape
    keys = key.shape[-2]
    grid = wanted.grid(queries, keys)
    new = functools.partial(torch.zeros, device=query.device)
    lse = new(heads, queries).fill_(-math.inf)
    entropy = new(heads, queries) if wanted.entropy else None
    received = new(heads, keys) if wanted.received else None
    k = min(wanted.top, keys)
    top = new(heads, queries, k) if wanted.top else None
    where = new(heads, queries, k, dtype=torch.long) if wanted.top else None
    pools = grid.empty(heads, query.device) if grid else None
    for rows, columns, scores in score_blocks(query, key, rule, grid.rows if grid else 1, k):
        here = slice(*rows)
        row_lse, weights = softmax_with_sums(scores, keep=wanted.entropy)
        lse[:, here] = row_lse
        if entropy is not None:
            mean = torch.linalg.vecdot(weights, scores)
            entropy[:, here] = (row_lse - mean).masked_fill_(row_lse == -math.inf, 0).clamp_min_(0)
        if received is not None:
            received[:, slice(*columns)] += weights.sum(-2)
        if top is not None and where is not None:
            values, places = largest(weights, k)
            top[:, here], where[:, here] = values, places + columns[0]
        if grid is not None and pools is not None:
            grid.add(pools, weights, rows, columns)
    if grid is not None and pools is not None:
        grid.finish(pools)
    return Statistics(lse, top, where, entropy, received, *(pools or (None, None)))


def score_blocks(
    query: Tensor, key: Tensor, rule: Rule, multiple: int, least: int
) -> Iterator[tuple[Span, Span, Tensor]]:
    """Blocks of rows: (first, last) row, (first, last) key in reach, scores (heads, rows, keys).

    Blocks begin at multiples of ``multiple`` rows. Keys that no row of a block may see are left
    out, so that causal attention costs half and a window costs its width; ``least`` keys stay.
    """
    heads, queries, _ = query.shape
    keys = key.shape[-2]
    if keys == 0 or queries == 0:
        return
    size = max(1, BLOCK_NUMBERS // max(1, heads * keys))
    size = max(1, size // multiple) * multiple
    for start in range(0, queries, size):
        rows = start, min(queries, start + size)
        first, last = rule.reach(rows, queries, keys)
        first = max(0, min(first, keys - least))
        columns = first, max(last, first + least)
        yield rows, columns, rule.scores(query, key, rows, columns, masked=NOTHING)


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
