"""Run the kernel's additive attention on a tape: whether it can, what it is given."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.attention.kernel.layout import LookLayout, tape
from regard.attention.kernel.library import Kernel, kernel
from regard.attention.private import watched


class AdditiveLook:
    """The steps of one scan, by the kernel; it writes weights and mixed, or their gradients.

    Names and axes are those of additive.h: n steps, a tape for each sequence of the batch. On the
    way back ``d_mixed``, like ``mixed``, is read; ``d_scores`` (batch, slots), ``d_squares``
    (batch, slots, hidden), ``d_v`` (batch, hidden) and, of ``recency`` (1,), ``d_recency`` (batch,)
    are added to.
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
        d_mixed: Tensor | None = None,
        d_queries: Tensor | None = None,
        d_scores: Tensor | None = None,
        d_squares: Tensor | None = None,
        d_v: Tensor | None = None,
        recency: Tensor | None = None,
        d_recency: Tensor | None = None,
    ) -> None:
        forbidden = None if forbidden is None else forbidden.contiguous()
        self.it, self.slots = it, keys.shape[1]
        # Named, so that they live as long as this: the kernel gets addresses.
        self.kept = keys, queries, v, values, weights, mixed, forbidden, recency
        self.given = d_mixed, d_queries, d_scores, d_squares, d_v, d_recency
        self.call = LookLayout(
            keys=tape(keys, "bs"),
            queries=tape(queries, "tb"),
            v=tape(v, ""),
            values=tape(values, "bs"),
            weights=tape(weights, "tbs"),
            mixed=tape(mixed, "tb"),
            batch=keys.shape[0],
            hidden=keys.shape[2],
            width=values.shape[2],
            threads=torch.get_num_threads(),
        )
        if forbidden is not None:
            self.call.forbidden = forbidden.data_ptr()
            self.call.forbidden_stride = forbidden.stride(0)
        if recency is not None:
            self.call.recency = recency.data_ptr()
        axes = {"d_mixed": "tb", "d_queries": "tb", "d_scores": "bs", "d_squares": "bs", "d_v": "b"}
        axes["d_recency"] = "b"
        for (name, own), given in zip(axes.items(), self.given, strict=True):
            if given is not None:
                setattr(self.call, name, tape(given, own))

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
