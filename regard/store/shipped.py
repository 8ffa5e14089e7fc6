"""Shipped: the models that come with the package, and packing one into it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.errors import FileError, nearest
from regard.files import write_text
from regard.pieces.tokenizer import Tokenizer
from regard.store.folder import (
    RunFolder,
    load_language_model,
    load_translator,
    write_weights,
)
from regard.store.packing import packed, unpacked
from regard.train.run.checkpoint import read_weights

if TYPE_CHECKING:
    from regard.models.language import LanguageModel
    from regard.models.translators.base import Translator

HOME = Path(__file__).parent.parent / "shipped"
"""A folder for each model: config.json, tokens.json, model.safetensors, card.md."""


def names(task: str | None = None) -> list[str]:
    """The models that come with the package, all of them or those for ``task``."""
    folders = sorted(path.parent for path in HOME.glob("*/model.safetensors"))
    return [f.name for f in folders if task in (None, RunFolder(f).read_config()["task"])]


def find_translator(name: str | os.PathLike[str]) -> tuple[Translator, Tokenizer]:
    """The translator called ``name``, or the one of that run folder."""
    return load_translator(find_folder(name, "translate"))


def find_language_model(name: str | os.PathLike[str]) -> tuple[LanguageModel, Tokenizer]:
    """The language model called ``name``, or the one of that run folder."""
    return load_language_model(find_folder(name, "lm"))


def find_folder(name: str | os.PathLike[str], task: str | None = None) -> Path:
    """The folder of a model that comes with the package, or ``name`` itself if it is a folder."""
    known = names(task)
    if str(name) in known:
        return HOME / str(name)
    if not Path(name).is_dir():
        raise FileError(
            f"{str(name)!r} is neither a folder nor a model that comes with regard "
            f"({', '.join(known)}){nearest(str(name), known)}"
        )
    return Path(name)


def pack(run: str | os.PathLike[str], to: str | os.PathLike[str]) -> int:
    """Copy a run's model, its matrices in 8 bits, to the folder ``to``; the bytes of its weights.

    Paths of the machine that it was trained on stay behind.
    """
    folder, target = RunFolder(run), Path(to)
    config = folder.read_config()
    weights = packed(unpacked(read_weights(folder.model)))
    target.mkdir(parents=True, exist_ok=True)
    write_weights(target / "model.safetensors", weights)
    Tokenizer.load(folder.tokens).save(target / "tokens.json")
    content = config | {"data": {k: _without_path(v) for k, v in config["data"].items()}}
    write_text(target / "config.json", json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    return (target / "model.safetensors").stat().st_size


def _without_path(value: Any) -> Any:
    return os.path.basename(value) if isinstance(value, str) and os.sep in value else value
