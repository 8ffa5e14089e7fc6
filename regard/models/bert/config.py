"""BertConfig: the shape of a BERT encoder, and how config.json says it. Known without torch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.errors import ConfigError, ModelError
from regard.models.config import ModelConfig, share, whole

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


@dataclass(frozen=True)
class BertConfig(ModelConfig):
    """The shape of a BERT encoder; the defaults are those of BERT base."""

    vocabulary: int = 30522
    """How many tokens there are."""
    width: int = 768
    """Of a token's vector."""
    layers: int = 12
    heads: int = 12
    """Of each layer."""
    feedforward: int = 3072
    """The width inside the feed-forward network."""
    positions: int = 512
    """The most tokens that a text may have: each position's vector is learned."""
    types: int = 2
    """Token types; a text alone is of type 0, the second of a pair of type 1."""
    epsilon: float = 1e-12
    """Added to the variance by each norm."""
    dropout: float = 0.1
    """The share of numbers and of attention weights dropped while training."""

    what = "a BERT encoder"

    def problems(self) -> Iterator[str]:
        sizes = ("vocabulary", "width", "layers", "heads", "feedforward", "positions", "types")
        wrong = [problem for name in sizes for problem in whole(name, getattr(self, name), 1)]
        yield from wrong
        if not wrong and self.width % self.heads:
            yield f"heads must divide width, got {self.heads} and {self.width}"
        yield from share("dropout", self.dropout)
        if not self.epsilon > 0:
            yield f"epsilon must be more than 0, got {self.epsilon!r}"


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


def is_bert(folder: Path) -> bool:
    """Whether regard's own encoder computes this model, and its tokenizer is there to read."""
    if not (folder / "tokenizer.json").is_file():
        return False
    try:
        read_config(folder)
    except ModelError:
        return False
    return True
