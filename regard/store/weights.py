"""Weights: a model's tensors by name, in a safetensors file, whole or packed into 8 bits.

Packed, a matrix is whole numbers of 8 bits with one scale a row, for models that are shipped:

    w[r, c]  ≈  scale[r] * n[r, c],    n from -127 to 127,    scale[r] = max_c |w[r, c]| / 127

so no weight moves by more than half a 254th of the largest of its row. What has one axis, and each
scale, is stored in half precision.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from regard.errors import FileError
from regard.files import replacing

SCALE = ".scale"


def named_weights(model: nn.Module) -> dict[str, Tensor]:
    """The model's parameters and kept buffers by name; of tied ones only the first."""
    found: dict[int, tuple[str, Tensor]] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        found.setdefault(id(tensor), (name, tensor))
    return dict(found.values())


def set_weights(model: nn.Module, weights: Mapping[str, Tensor], name: str) -> None:
    """Copy ``weights`` into the model; ``name`` says where they are from if they do not fit."""
    own = named_weights(model)
    missing, strange = own.keys() - weights.keys(), weights.keys() - own.keys()
    wrong = [k for k in own.keys() & weights.keys() if own[k].shape != weights[k].shape]
    for what, keys in (("lacks", missing), ("has a strange", strange), ("has a misshaped", wrong)):
        if keys:
            raise FileError(f"{name} does not fit this model: it {what} {sorted(keys)[0]!r}")
    with torch.no_grad():  # not through .data: whoever keeps something made of it must see a change
        for key, tensor in own.items():
            tensor.copy_(put(tensor.data, weights[key].to(tensor.dtype)))


def read_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file."""
    try:
        tensors: dict[str, Tensor] = load_file(path)
    except (OSError, safetensors.SafetensorError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(f"cannot read the weights {str(path)!r}: {reason}") from error
    return tensors


def write_weights(
    path: Path, weights: dict[str, Tensor], about: dict[str, str] | None = None
) -> None:
    """Write a safetensors file, atomically; ``about`` is what its head says of them."""
    with replacing(path) as temporary:
        mode = temporary.stat().st_mode
        try:
            save_file(weights, temporary, about)
            temporary.chmod(mode)  # safetensors makes a file that only its owner can read
        except safetensors.SafetensorError as error:
            raise FileError(f"cannot write {str(path)!r}: {error}") from error


def packed(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Each matrix as int8 and, under its name + ``.scale``, the scale of its rows."""
    small: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if weight.dim() < 2:
            small[name] = weight.to(torch.float16)
            continue
        scale = (weight.float().abs().amax(-1, keepdim=True) / 127).to(torch.float16)
        # A row of zeros, or too small for half precision: any scale but 0 gives its zeros back.
        scale[scale == 0] = 1
        small[name] = (weight / scale.float()).round().clamp(-127, 127).to(torch.int8)
        small[name + SCALE] = scale
    return small


def unpacked(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Float32 weights of packed ones; weights that are not packed pass as they are."""
    full = dict(weights)
    for name in [n for n, weight in weights.items() if weight.dtype == torch.int8]:
        full[name] = weights[name].float() * full.pop(name + SCALE).float()
    return full


def whole(tensor: Tensor) -> Tensor:
    """The full tensor on the CPU, whether it is split over processes or not."""
    gather: Any = getattr(tensor, "full_tensor", None)
    copied: Tensor = (gather() if gather else tensor).detach().cpu().contiguous()
    return copied


def put(into: Tensor, value: Tensor) -> Tensor:
    """``value`` laid out as ``into`` is: on its device, split as it is split."""
    if hasattr(into, "full_tensor"):
        from torch.distributed.tensor import DTensor, distribute_tensor

        assert isinstance(into, DTensor)
        return distribute_tensor(value.to(into.device), into.device_mesh, into.placements)
    return value.to(into.device)
