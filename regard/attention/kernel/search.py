"""Run the kernel's beam search: whether it can, what it is given, what it finds."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.attention.kernel.layout import SearchLayout
from regard.attention.kernel.library import Kernel
from regard.attention.kernel.weights import PackedNetwork

MOST_STEPS = 4096
"""The kernel prepares room for as many tokens as a hypothesis may have; more are not its task."""


class FoundPath(NamedTuple):
    """A hypothesis: its tokens, the end included, its score, and its weights (tokens, source)."""

    said: list[int]
    score: float
    weights: Tensor


def search(
    it: Kernel,
    networks: tuple[PackedNetwork, PackedNetwork],
    positions: Tensor | None,
    tokens: Tensor,
    sizes: np.ndarray,
    limits: np.ndarray,
    *,
    beam: int,
    best: int,
    penalty: float,
    begin: int,
    end: int,
    silent: Tensor,
    layer: int,
    head: int,
) -> list[list[FoundPath]] | None:
    """The best hypotheses of each sentence, best first; None if a sum was no finite number.

    ``networks`` are encoder and decoder, ``positions`` has a row for each position of the longest
    source or hypothesis (None: they need none), ``tokens`` are the sources one behind the other,
    ``sizes`` and ``limits`` (sentences,) how many tokens each source has and a hypothesis may have.
    Hypotheses ``begin`` and ``end`` with these tokens and never say a ``silent`` one. The weights
    are those of this ``layer`` and ``head``; -1 is the mean over all heads.
    """
    count, longest = len(sizes), int(limits.max())
    first = np.concatenate(([0], sizes.cumsum()))
    room = np.concatenate(([0], (sizes * limits).cumsum())) * best
    scores, lengths = np.empty((count, best)), np.empty((count, best), np.int64)
    said = np.empty((count, best, longest), np.int64)
    weights = torch.empty(int(room[-1]), dtype=torch.float32, device="cpu")
    found = it.search(
        SearchLayout(
            encoder=networks[0].pointer,
            decoder=networks[1].pointer,
            positions=None if positions is None else positions.data_ptr(),
            tokens=tokens.data_ptr(),
            first=first.ctypes.data,
            sentences=count,
            limits=limits.ctypes.data,
            beam=beam,
            best=best,
            penalty=penalty,
            begin=begin,
            end=end,
            silent=silent.data_ptr(),
            silent_count=len(silent),
            layer=layer,
            head=head,
            threads=torch.get_num_threads(),
            scores=scores.ctypes.data,
            lengths=lengths.ctypes.data,
            said=said.ctypes.data,
            longest=longest,
            weights=weights.data_ptr(),
            room=room.ctypes.data,
        )
    )
    if not found:
        return None
    return [
        [
            FoundPath(
                said[s, b, :length].tolist(),
                score,
                weights[(start := int(room[s] + b * limits[s] * size)) : start + length * size]
                .view(length, size)
                .clone(),
            )
            for b, (length, score) in enumerate(zip(ends, marks, strict=True))
            if length and (score > -math.inf or score == marks[0])  # the first whatever its score
        ]
        for s, (ends, marks, size) in enumerate(
            zip(lengths.tolist(), scores.tolist(), sizes.tolist(), strict=True)
        )
    ]
