"""Batches: sentences of like length together, at most so many tokens at once.

Everything follows from (lengths, limit, seed, epoch), so a run that resumes in the middle of an
epoch, or a second process that takes its share, sees the same batches without being told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.errors import DataError
from regard.pieces.tokenizer import BOS, EOS, PAD


class TrainingExample(NamedTuple):
    """The token ids of one pair, no special tokens."""

    source: list[int]
    target: list[int]


@dataclass(frozen=True)
class Batch:
    """Padded tensors: source ends with EOS, target is BOS … EOS, both filled with PAD = 0."""

    source: Tensor
    """(B, S)"""
    source_lengths: Tensor
    """(B,) EOS included"""
    target: Tensor
    """(B, T)"""
    target_lengths: Tensor
    """(B,) BOS and EOS included"""

    def to(self, device: torch.device) -> Batch:
        """The same on another device."""
        return Batch(*(t.to(device, non_blocking=True) for t in vars(self).values()))


def collate(examples: Sequence[TrainingExample]) -> Batch:
    """One padded batch of the examples, in their order."""
    source, source_lengths = padded([[*e.source, EOS] for e in examples])
    target, target_lengths = padded([[BOS, *e.target, EOS] for e in examples])
    return Batch(source, source_lengths, target, target_lengths)


def plan(
    lengths: Sequence[tuple[int, ...]], limit: int, *, seed: int = 0, epoch: int | None = None
) -> list[list[int]]:
    """Indices of the examples in batches: rows × the longest sequence in the batch <= limit.

    ``lengths``: of each example, the length of each of its sequences, special tokens included.
    With an ``epoch`` equal lengths are mixed and the batches come in random order, both decided
    by (seed, epoch); without one they come from long to short.
    """
    sizes = np.array([max(each) for each in lengths])
    if len(sizes) and sizes.max() > limit:
        worst = int(sizes.argmax())
        raise DataError(
            f"a batch of {limit} tokens cannot hold example {worst} of {sizes[worst]} tokens; "
            "raise the tokens per batch or lower the length limit"
        )
    chance = np.random.Generator(np.random.PCG64([seed, epoch])) if epoch is not None else None
    order = chance.permutation(len(sizes)) if chance else np.arange(len(sizes))
    keys = [column[order] for column in (*np.array(lengths).T, -sizes)]
    order = order[np.lexsort(keys)] if len(sizes) else order
    batches: list[list[int]] = []
    for index in order.tolist():
        # From long to short: the first of a batch is its longest.
        if batches and (len(batches[-1]) + 1) * sizes[batches[-1][0]] <= limit:
            batches[-1].append(index)
        else:
            batches.append([index])
    return [batches[i] for i in chance.permutation(len(batches))] if chance else batches


def padded(rows: Sequence[list[int]]) -> tuple[Tensor, Tensor]:
    """The rows (B, n) filled with PAD, and their lengths (B,)."""
    lengths = np.array([len(row) for row in rows])
    table = np.full((len(rows), lengths.max(initial=0)), PAD)
    for filled, row in zip(table, rows, strict=True):
        filled[: len(row)] = row
    return torch.from_numpy(table), torch.from_numpy(lengths)
