"""Convert: readers without attention as ``nn.RNN`` and ``nn.LSTM``, and back."""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import nn

from regard.errors import ConfigError
from regard.recurrent.reader import Reader

ReaderType = TypeVar("ReaderType", bound=Reader)


def from_torch(cls: type[ReaderType], module: nn.RNNBase) -> ReaderType:
    """A ``cls`` without attention that has the weights of ``module``."""
    if module.bidirectional or module.proj_size:
        raise ConfigError("a module that is bidirectional or has proj_size cannot be converted")
    made = cls(
        module.input_size,
        module.hidden_size,
        module.num_layers,
        batch_first=module.batch_first,
        dropout=module.dropout,
        attention=False,
    )
    weights = dict(module.named_parameters())
    made.to(weights["weight_ih_l0"])
    with torch.no_grad():
        for k, layer in enumerate(made.parts()):
            layer.inputs.weight.copy_(weights[f"weight_ih_l{k}"])
            layer.recurrent.copy_(weights[f"weight_hh_l{k}"])
            if module.bias:
                layer.inputs.bias.copy_(weights[f"bias_ih_l{k}"] + weights[f"bias_hh_l{k}"])
            else:
                layer.inputs.bias.zero_()
    return made.train(module.training)


def to_torch(cls: type[nn.RNN] | type[nn.LSTM], reader: Reader) -> Any:
    """A module of PyTorch's that has the weights of ``reader``, which must be without attention."""
    if reader.attention:
        raise ConfigError(
            f"nn.{cls.__name__} has no attention: only a reader with attention=False becomes one"
        )
    made = cls(
        reader.input_size,
        reader.hidden_size,
        reader.num_layers,
        batch_first=reader.batch_first,
        dropout=reader.dropout,
    )
    made.to(next(reader.parameters()))
    weights = dict(made.named_parameters())
    with torch.no_grad():
        for k, layer in enumerate(reader.parts()):
            weights[f"weight_ih_l{k}"].copy_(layer.inputs.weight)
            weights[f"weight_hh_l{k}"].copy_(layer.recurrent)
            weights[f"bias_ih_l{k}"].copy_(layer.inputs.bias)
            weights[f"bias_hh_l{k}"].zero_()
    return made.train(reader.training)
