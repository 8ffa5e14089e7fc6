"""Run the kernel's additive attention on a tape: whether it can, what it is given."""

from __future__ import annotations

import struct

import torch
from torch import Tensor

from regard.attention.kernel.library import Kernel, kernel
from regard.attention.kernel.run import watched

LOOK = struct.Struct("50q")
"""The fields of ``struct Look`` in additive.h, in its order."""
NO_TAPE = (0, 0, 0, 0)


class AdditiveLook:
    """The steps of one scan, by the kernel; it writes weights and mixed, or their gradients.

    Names and axes are those of additive.h: n steps, a tape for each sequence of the batch. On the
    way back ``mixed`` is the gradient of what was mixed; ``d_scores`` (batch, slots), ``d_squares``
    (batch, slots, hidden) and ``d_v`` (batch, hidden) are added to.
    """

    def __init__(
        self,
        it: Kernel,
        keys: Tensor,
        queries: Tensor,
        v: Tensor,
        values: Tensor,
        weights: Tensor,
        mixed: Tensor,
        forbidden: Tensor | None = None,
        d_queries: Tensor | None = None,
        d_scores: Tensor | None = None,
        d_squares: Tensor | None = None,
        d_v: Tensor | None = None,
    ) -> None:
        d_e = None if d_scores is None else torch.empty_like(d_scores)
        forbidden = None if forbidden is None else forbidden.contiguous()
        self.it = it
        # Named, so that they live as long as this: the kernel gets addresses.
        self.kept = keys, queries, v, values, weights, mixed, forbidden
        self.given = d_e, d_queries, d_scores, d_squares, d_v
        self.call = LOOK.pack(
            *_tape(keys, "bs"),
            *_tape(queries, "tb"),
            *_tape(v, ""),
            *_tape(values, "bs"),
            *_tape(weights, "tbs"),
            *_tape(mixed, "tb"),
            *((0, 0) if forbidden is None else (forbidden.data_ptr(), forbidden.stride(0))),
            *(keys.shape[0], keys.shape[2], values.shape[2], torch.get_num_threads()),
            *_tape(d_e, "bs"),
            *_tape(d_queries, "tb"),
            *_tape(d_scores, "bs"),
            *_tape(d_squares, "bs"),
            *_tape(d_v, "b"),
        )

    def look(self, t: int, seen: slice) -> None:
        self.it.look(self.call, False, t, seen.start, seen.stop)

    def look_back(self, t: int, seen: slice) -> None:
        self.it.look(self.call, True, t, seen.start, seen.stop)


def usable(*tensors: Tensor) -> Kernel | None:
    """The kernel, if it can take these: float32 of the CPU, the last axis without gaps."""
    it = kernel()
    fine = all(
        type(x) in (Tensor, torch.nn.Parameter)
        and x.dtype == torch.float32
        and x.is_cpu
        and (x.stride(-1) == 1 or x.shape[-1] == 1)
        for x in tensors
    )
    return it if fine and not watched() else None


def _tape(tensor: Tensor | None, axes: str) -> tuple[int, ...]:
    """Address and strides of (step, sequence, slot), of which ``tensor`` has these ``axes`` first.

    A last axis of slots has a stride like every other.
    """
    if tensor is None:
        return NO_TAPE
    strides = dict(zip(axes, tensor.stride(), strict=False))
    return (tensor.data_ptr(), *(strides.get(axis, 0) for axis in "tbs"))
