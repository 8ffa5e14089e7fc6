"""Marian: a folder of Hugging Face's MarianMTModel (opus-mt and its like), read as a Transformer.

So that a real translator can be run, explained and looked into with everything that there is for
one trained here. What a folder has: config.json, model.safetensors or pytorch_model.bin, vocab.json
and source.spm.
"""

from __future__ import annotations

import json
import os
import pickle
import re
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regard.errors import FileError
from regard.models.translators.builder import build
from regard.models.translators.config import TranslatorConfig
from regard.models.translators.transformer import Transformer
from regard.pieces.sentencepiece import read_pieces, tokenizer_of
from regard.pieces.tokenizer import SPECIAL, Tokenizer
from regard.store.exchange.layout import their_name, to_ours
from regard.store.weights import named_weights, read_weights

ACTIVATIONS = {"relu": "relu", "swish": "silu", "silu": "silu"}
NUMBERS = (
    *("vocab_size", "d_model", "encoder_layers", "encoder_attention_heads", "encoder_ffn_dim"),
    *("pad_token_id", "decoder_start_token_id", "eos_token_id"),
)
"""What a config must say in whole numbers."""
LANGUAGE = re.compile(r">>.+<<")
"""A token that tells a model of several languages which one to write."""


def read_marian(folder: str | os.PathLike[str]) -> tuple[Transformer, Tokenizer]:
    """The translator of a Marian folder, ready to translate, and its tokens."""
    path = Path(folder)
    config = _json(path / "config.json")
    _check(config, path)
    vocabulary = _json(path / "vocab.json")
    rows = _rows(config, vocabulary, path)
    model = build(
        TranslatorConfig(
            model="transformer",
            vocabulary=len(rows),
            width=config["d_model"],
            layers=config["encoder_layers"],
            heads=config["encoder_attention_heads"],
            feedforward=config["encoder_ffn_dim"],
            norm="post",
            activation=ACTIVATIONS[config["activation_function"]],
            tied=True,
        )
    )
    assert isinstance(model, Transformer)
    _fill(model, _weights(path), rows, path)
    return model.eval(), _tokens(path, vocabulary, rows)


def _check(config: dict[str, Any], path: Path) -> None:
    """Raise for a Marian model that is not the Transformer of this package."""
    wanted: dict[str, tuple[Any, ...]] = {
        "model_type": ("marian",),
        "activation_function": tuple(ACTIVATIONS),
        "scale_embedding": (True,),
        "share_encoder_decoder_embeddings": (True, None),
        "normalize_embedding": (False, None),
        "normalize_before": (False, None),
        "decoder_layers": (config.get("encoder_layers"),),
        "decoder_attention_heads": (config.get("encoder_attention_heads"),),
        "decoder_ffn_dim": (config.get("encoder_ffn_dim"),),
    }
    for name, allowed in wanted.items():
        if config.get(name) not in allowed:
            said = " or ".join(str(value) for value in allowed if value is not None)
            raise FileError(
                f"{str(path)!r} cannot be read as a translator: {name} must be {said}, got "
                f"{config.get(name)!r}; 'regard look' and 'regard heads' take any model"
            )
    for name in NUMBERS:
        if type(config.get(name)) is not int:
            raise FileError(
                f"{str(path)!r} cannot be read as a translator: {name} must be a whole number, got "
                f"{config.get(name)!r}"
            )


def _rows(config: dict[str, Any], vocabulary: dict[str, int], path: Path) -> list[int]:
    """Which row of their matrices each of our tokens has: padding, unknown, beginning and end
    first, as everywhere here, then all others in their order."""
    size, unknown = config["vocab_size"], vocabulary.get("<unk>")
    marks = [config["pad_token_id"], unknown, config["decoder_start_token_id"]]
    marks.append(config["eos_token_id"])
    if not all(type(row) is int and 0 <= row < size for row in marks):
        raise FileError(
            f"{str(path)!r} cannot be read: its config and vocab.json must name padding, <unk>, "
            f"the decoder's start and the end among {size} tokens, got {marks}"
        )
    if not all(type(row) is int for row in vocabulary.values()):
        raise FileError(f"{str(path / 'vocab.json')!r} must give each token a whole number")
    named = set(vocabulary.values())
    return [*marks, *(row for row in range(size) if row in named and row not in marks)]


def _fill(model: Transformer, theirs: dict[str, Tensor], rows: list[int], path: Path) -> None:
    for name, own in named_weights(model).items():
        weight = theirs.get(their_name(name))
        if weight is None:
            raise FileError(f"the weights of {str(path)!r} lack {their_name(name)!r}")
        weight = to_ours(name, weight.to(own.dtype))
        weight = weight[rows] if name.startswith("vocabulary.") else weight
        if weight.shape != own.shape:
            raise FileError(
                f"the weights of {str(path)!r} do not fit its config: {their_name(name)!r} has the "
                f"shape {tuple(weight.shape)}, expected {tuple(own.shape)}"
            )
        own.data.copy_(weight)


def _weights(path: Path) -> dict[str, Tensor]:
    if (path / "model.safetensors").exists():
        return read_weights(path / "model.safetensors")
    file = path / "pytorch_model.bin"
    try:
        found: dict[str, Tensor] = torch.load(file, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise FileError(
            f"{str(path)!r} has no weights: neither model.safetensors nor pytorch_model.bin"
        ) from error
    except (OSError, RuntimeError, pickle.UnpicklingError, EOFError) as error:
        raise FileError(f"cannot read the weights {str(file)!r}: they are damaged") from error
    return found


def _tokens(path: Path, vocabulary: dict[str, int], rows: list[int]) -> Tokenizer:
    """What source.spm cuts, by the ids of vocab.json in our order."""
    by_row = {row: piece for piece, row in vocabulary.items()}
    named = [by_row[row] for row in rows[len(SPECIAL) :]]
    tokens = tokenizer_of(read_pieces(path / "source.spm"), named)
    tokens.tokenizer.add_tokens([piece for piece in named if LANGUAGE.fullmatch(piece)])
    return tokens


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not JSON"
        raise FileError(f"cannot read {str(path)!r}: {reason}") from error
    if not isinstance(content, dict):
        raise FileError(f"cannot read {str(path)!r}: it is not a JSON object")
    return content
