"""Shipped: the translators that come with the package, and packing one into it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from regard.embed.tokens import Tokens
from regard.errors import FileError, nearest
from regard.train.checkpoint import read_weights
from regard.train.folder import RunFolder, load_translator, write_weights

if TYPE_CHECKING:
    from regard.models.translator import Translator

HOME = Path(__file__).parent.parent / "shipped"
"""A folder for each model: config.json, tokens.json, model.safetensors, card.md."""


def names() -> list[str]:
    """The models that come with the package."""
    return sorted(p.parent.name for p in HOME.glob("*/model.safetensors"))


def find_translator(name: str | os.PathLike[str]) -> tuple[Translator, Tokens]:
    """The translator called ``name``, or the one of that run folder."""
    if str(name) in names():
        return load_translator(HOME / str(name))
    if not Path(name).is_dir():
        raise FileError(
            f"{str(name)!r} is neither a folder nor a model that comes with regard "
            f"({', '.join(names()) or 'none'}){nearest(str(name), names())}"
        )
    return load_translator(name)


def pack(run: str | os.PathLike[str], to: str | os.PathLike[str]) -> int:
    """Copy a run's model in half precision to the folder ``to``; the bytes of its weights.

    Settings that name files of the machine it was trained on stay behind.
    """
    folder, target = RunFolder(run), Path(to)
    config = folder.read_config()
    weights = {k: w.to(torch.float16) for k, w in read_weights(folder.model).items()}
    target.mkdir(parents=True, exist_ok=True)
    write_weights(target / "model.safetensors", weights)
    Tokens.load(folder.tokens).save(target / "tokens.json")
    kept = {
        key: value
        for key, value in config["data"].items()
        if not isinstance(value, str) or os.sep not in value
    }
    packed = config | {"data": kept}
    text = json.dumps(packed, indent=2, ensure_ascii=False) + "\n"
    (target / "config.json").write_text(text, encoding="utf-8")
    return (target / "model.safetensors").stat().st_size
