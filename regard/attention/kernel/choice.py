"""Run the kernel's choice of the best continuations: whether it can, what it is given."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.attention.kernel.additive import usable
from regard.attention.kernel.layout import ChoiceLayout


def choose(
    logits: Tensor, scores: Tensor, count: int, silent: Tensor
) -> tuple[Tensor, Tensor] | None:
    """The ``count`` best of scores[s, b] + log softmax(logits[s, b])[v] of each sentence s, the
    best first, and their places b · V + v; None if the kernel cannot tell.

    ``logits`` (sentences · beams, V), ``scores`` (sentences, beams) float64. The ``silent`` tokens
    are never chosen: their logits become −inf. The kernel cannot tell if a sum is no finite number.
    """
    it = usable(logits)
    if it is None or not (logits.is_contiguous() and scores.is_contiguous() and scores.is_cpu):
        return None
    if logits.requires_grad and torch.is_grad_enabled():
        return None
    totals = torch.empty(len(scores), count, dtype=torch.float64)
    places = torch.empty(len(scores), count, dtype=torch.int64)
    choice = ChoiceLayout(
        logits=logits.data_ptr(),
        scores=scores.data_ptr(),
        sentences=scores.shape[0],
        beams=scores.shape[1],
        size=logits.shape[-1],
        silent=silent.data_ptr(),
        silent_count=len(silent),
        count=count,
        totals=totals.data_ptr(),
        places=places.data_ptr(),
        threads=torch.get_num_threads(),
    )
    return (totals, places) if it.choose(choice) else None
