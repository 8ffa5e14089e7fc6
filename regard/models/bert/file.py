"""The folder of a published BERT model: config.json and safetensors to a :class:`BertEncoder`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regard.errors import ConfigError, ModelError
from regard.models.bert.encoder import BertConfig, BertEncoder

SETTINGS = {
    "vocabulary": "vocab_size",
    "width": "hidden_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "feedforward": "intermediate_size",
    "positions": "max_position_embeddings",
    "types": "type_vocab_size",
    "epsilon": "layer_norm_eps",
    "dropout": "hidden_dropout_prob",
}
"""Our names and those of config.json."""
SUPPOSED = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "is_decoder": False,
}
"""What else config.json may say, and what :class:`BertEncoder` computes."""
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


def read_config(folder: Path) -> BertConfig:
    """config.json, which must describe what :class:`BertEncoder` computes."""
    path = folder / "config.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(f"cannot read {str(path)!r}: {error.strerror}") from error
    except ValueError as error:
        raise ModelError(f"{str(path)!r} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise ModelError(f"{str(path)!r} must hold names and values")
    for name, value in SUPPOSED.items():
        if content.get(name, value) != value or (name == "model_type" and name not in content):
            raise ModelError(
                f"regard's own encoder computes BERT: {name} must be {value!r} in {str(path)!r}, "
                f"got {content.get(name)!r}; regard.observe looks into other models"
            )
    given = {ours: content[theirs] for ours, theirs in SETTINGS.items() if theirs in content}
    try:
        return BertConfig(**given)
    except (ConfigError, TypeError) as error:
        raise ModelError(f"{str(path)!r}: {error}") from error


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
