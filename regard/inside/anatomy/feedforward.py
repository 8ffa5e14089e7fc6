"""Feed-forward: what such a network computes, told from the numbers inside it.

W_2 act(W_1 x + b_1) + b_2           one matrix, an activation, a second matrix
W_2 (act(W_g x) ⊙ W_1 x)             with a gate (Shazeer 2020)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.inside.anatomy.linear import multiplies
from regard.inside.anatomy.runs import ModuleRun

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "silu": F.silu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "tanh": torch.tanh,
    "relu²": lambda x: F.relu(x) ** 2,
}
EXPERTS = "what the chosen experts make of x, added up"


def formula_of(source: ModuleRun, runs: Sequence[ModuleRun]) -> str:
    """The formula of the network whose last matrix is ``source``, one of the ``runs`` of a layer.

    An activation that is none of those known is called act.
    """
    if not multiplies(source.module) or source.given is None:
        return EXPERTS
    biased = getattr(source.module, "bias", None) is not None
    one, two = (" + b_1", " + b_2") if biased else ("", "")
    inner = source.given
    first = [
        run.made
        for run in runs[: list(runs).index(source)]
        if multiplies(run.module) and run.made is not None and len(run.made) == len(inner)
    ]
    gates = [made for made in first if made.shape == inner.shape]
    for made in first:  # both matrices in one
        gates += made.chunk(2, -1) if made.shape[-1] == 2 * inner.shape[-1] else ()
    for name, act in ACTIVATIONS.items():
        if any(_alike(act(made), inner) for made in gates):
            return f"W_2 {name}(W_1 x{one}){two}"
        if any(_alike(act(gate) * made, inner) for gate, made in permutations(gates, 2)):
            return f"W_2 ({name}(W_g x{one.replace('1', 'g')}) ⊙ (W_1 x{one})){two}"
    return f"W_2 act(W_1 x{one}){two}"


def _alike(made: Tensor, inner: Tensor) -> bool:
    return torch.allclose(made, inner, rtol=1e-4, atol=1e-5)
