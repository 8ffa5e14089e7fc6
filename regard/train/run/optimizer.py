"""Adam, and its memory of each weight by the weight's name, to save and to restore."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.errors import FileError
from regard.train.config import TrainConfig
from regard.train.run.distributed import put, whole


def make_optimizer(model: nn.Module, config: TrainConfig) -> torch.optim.Optimizer:
    """Adam (Kingma & Ba 2015) with decoupled weight decay; 0 by default, which is plain Adam."""
    return torch.optim.AdamW(
        model.parameters(),
        lr=config.learning_rate,
        betas=(config.beta1, config.beta2),
        eps=config.epsilon,
        weight_decay=config.weight_decay,
        fused=not config.sharded,
    )


def read_memory(optimizer: torch.optim.Optimizer, model: nn.Module) -> dict[str, Tensor]:
    """``{"weight's name/exp_avg": tensor, …}``, whole and on the CPU."""
    return {
        f"{name}/{key}": whole(value)
        for name, weight in model.named_parameters()
        for key, value in optimizer.state.get(weight, {}).items()
    }


def set_memory(
    optimizer: torch.optim.Optimizer, model: nn.Module, memory: dict[str, Tensor]
) -> None:
    """Give the optimizer back what :func:`read_memory` took."""
    weights = dict(model.named_parameters())
    for full, value in memory.items():
        name, _, key = full.rpartition("/")
        if name not in weights:
            raise FileError(f"the checkpoint does not fit this model: it has a strange {name!r}")
        weight = weights[name]
        fused = optimizer.param_groups[0]["fused"]
        count = value.to(weight.device if fused else "cpu").clone() if key == "step" else None
        optimizer.state[weight][key] = put(weight.data, value) if count is None else count
