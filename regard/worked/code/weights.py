"""Weights: the matrices of a module somebody wrote, found by their names, and numbers for them.

A module may call W_Q anything that says so: ``W_q``, ``query``, ``q_proj``, ``to_q``; one map may
hold all three (``qkv``, ``in_proj_weight``), each head may have its own, or they may be a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from regard.errors import RegardError
from regard.trace import Array

NOISE = {"w", "weight", "linear", "proj", "projection", "fc", "to", "c", "attn", "attention"}
NOISE |= {"heads", "head", "layer", "layers", "transform", "matrix", "in", "self", "mha", "b"}
FUSED = {"qkv", "kqv"}
NUMBERS = 1.5
"""Weights are drawn from minus this to this: large enough for every mistake to show."""


def refill(module: nn.Module, seed: int) -> None:
    """Give every parameter numbers of one digit, drawn by ``seed``."""
    rng = np.random.default_rng(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.is_floating_point():
                drawn = rng.uniform(-NUMBERS, NUMBERS, tuple(parameter.shape)).round(1)
                parameter.copy_(torch.from_numpy(np.asarray(drawn)).to(parameter.dtype))


def weights_in(module: nn.Module, transposed: bool) -> dict[str, Array]:
    """w_q, w_k, w_v, w_o as (inputs, outputs) and b_q …, of those that the module has.

    A map is turned so itself; of a bare matrix only the author knows: ``transposed`` says that it
    is (outputs, inputs).
    """
    found: dict[str, list[Tensor]] = {}
    biases: dict[str, list[Tensor]] = {}
    maps = list(_maps(module, transposed))
    named = [(_role(name) or _by_shape(w), w, b) for name, w, b in maps]
    if {role for role, _, _ in named} == {""}:  # a list of maps
        named = [(r, w, b) for r, (_, w, b) in zip("qkvo", maps, strict=False)]
    for role, w, b in named:
        parts = "qkv" if role == "qkv" else role or "o"
        for part, own in zip(parts, w.chunk(len(parts), -1), strict=True):
            found.setdefault(f"w_{part}", []).append(own)
        for part, own in zip(parts, [] if b is None else b.chunk(len(parts)), strict=False):
            biases.setdefault(f"b_{part}", []).append(own)
    if "w_q" not in found or "w_k" not in found:
        names = ", ".join(name for name, _ in module.named_parameters())
        raise RegardError(
            "the module's matrices are known by their names: call them w_q, w_k, w_v and w_o "
            f"(or q_proj, query, to_q …); it has {names}"
        )
    joined = {name: torch.cat(parts, -1) for name, parts in (found | biases).items()}
    return {n: t.detach().double().numpy() for n, t in joined.items()}


def _maps(module: nn.Module, transposed: bool) -> Iterator[tuple[str, Tensor, Tensor | None]]:
    """Every map of the module: its name, its matrix as (inputs, outputs), its bias."""
    taken = set[str]()
    for name, part in module.named_modules():
        if isinstance(part, nn.Linear):
            taken |= {f"{name}.weight", f"{name}.bias"}
            yield name, part.weight.T, part.bias
        elif isinstance(part, nn.MultiheadAttention) and part.in_proj_weight is not None:
            taken |= {f"{name}.in_proj_weight".lstrip("."), f"{name}.in_proj_bias".lstrip(".")}
            yield f"{name}.qkv", part.in_proj_weight.T, part.in_proj_bias
    rest = {n: p for n, p in module.named_parameters() if n not in taken}
    rows = {_role(n): p for n, p in rest.items() if p.dim() == 1}
    for name, parameter in rest.items():
        if parameter.dim() == 2:
            w = parameter.T if transposed else parameter
            yield name, w, rows.get(_role(name))


def _by_shape(w: Tensor) -> str:
    return "qkv" if w.shape[1] == 3 * w.shape[0] else ""


def _role(name: str) -> str:
    """q, k, v, o or qkv; nothing if the name does not say."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    parts = [p.lower() for p in re.split(r"[._\d]+", spaced) if p]
    own = [re.sub(r"^w(?=[qkvo]$)", "", p) for p in parts if p not in NOISE]
    word = own[-1] if own else ""
    if word in FUSED:
        return "qkv"
    return word[0] if word[:1] in ("q", "k", "v", "o") else ""
