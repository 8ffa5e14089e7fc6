"""The folder of a published BERT model: config.json and safetensors to a :class:`BertEncoder`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regard.errors import ModelError
from regard.models.bert.config import read_config
from regard.models.bert.encoder import BertEncoder

EMBEDDING = {
    "words": "word_embeddings",
    "positions": "position_embeddings",
    "types": "token_type_embeddings",
    "norm": "LayerNorm",
}
LAYER = {
    "attention.query": "attention.self.query",
    "attention.key": "attention.self.key",
    "attention.value": "attention.self.value",
    "attention.output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "feedforward_norm": "output.LayerNorm",
}
"""Our modules and the published names."""


def load_bert(folder: str | os.PathLike[str]) -> BertEncoder:
    """The encoder in ``folder``, in float32 and in evaluation mode.

    A head on top of it (pooler, classifier, language model) is left out.
    """
    folder = Path(folder)
    config = read_config(folder)
    with torch.device("meta"):  # shapes only: every number comes from the file
        model = BertEncoder(config)
    model.load_state_dict(_weights_for(model, read_tensors(folder), str(folder)), assign=True)
    return model.eval()


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """The tensors of all safetensors files, by the published name without ``bert.`` in front."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    found: dict[str, Tensor] = {}
    for path in sorted(folder.glob("*.safetensors")):
        try:
            found.update(load_file(path))
        except (OSError, SafetensorError) as error:
            raise ModelError(f"cannot read {str(path)!r}: {error}") from error
    if not found:
        raise ModelError(f"{str(folder)!r} has no weights: model.safetensors is missing")
    # The first BERT models call a norm's scale and shift gamma and beta.
    return {
        name.removeprefix("bert.").replace(".gamma", ".weight").replace(".beta", ".bias"): tensor
        for name, tensor in found.items()
    }


def _weights_for(model: BertEncoder, tensors: dict[str, Tensor], where: str) -> dict[str, Any]:
    """The tensor for each of the model's parameters, in float32."""
    found = {}
    for name, parameter in model.named_parameters():
        theirs = published_name(name)
        tensor = tensors.get(theirs)
        if tensor is None or tensor.shape != parameter.shape:
            got = "none" if tensor is None else f"{tuple(tensor.shape)}"
            raise ModelError(
                f"{where!r} does not hold the model of its config.json: {theirs} must be "
                f"{tuple(parameter.shape)}, got {got}"
            )
        found[name] = tensor.float()
    return found


def published_name(name: str) -> str:
    """``layers.3.attention.query.weight`` → ``encoder.layer.3.attention.self.query.weight``."""
    place, kind = name.rsplit(".", 1)
    top, _, rest = place.partition(".")
    if top == "embedding":
        return f"embeddings.{EMBEDDING[rest]}.{kind}"
    number, _, module = rest.partition(".")
    return f"encoder.layer.{number}.{LAYER[module]}.{kind}"
