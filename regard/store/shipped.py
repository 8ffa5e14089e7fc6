"""Shipped: the models that come with the package, and packing one into it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.errors import FileError, RegardError, nearest
from regard.files import write_text
from regard.store.folder import SHIPPED, TOKENS, RunFolder, kind_of, load_translator

if TYPE_CHECKING:
    from regard.models.translators.base import Translator
    from regard.pieces.tokenizer import Tokenizer

HOME = SHIPPED
"""A folder for each model: config.json, model.safetensors, card.md; vocabularies beside them."""

FROM_ENGLISH = ("english-german",)
"""The translators of the package that read English; the others write it."""
OF_TEXT = ("classify", "lm", "translate")
"""The tasks of models that read text."""


def names(task: str | None = None) -> list[str]:
    """The models that come with the package, all of them or those for ``task``."""
    folders = sorted(path.parent for path in HOME.glob("*/model.safetensors"))
    return [f.name for f in folders if task in (None, RunFolder(f).read_config()["task"])]


def find_translator(name: str | os.PathLike[str]) -> tuple[Translator, Tokenizer]:
    """The translator called ``name``, or the one of that run folder."""
    return load_translator(find_folder(name, "translate"))


def find_folder(name: str | os.PathLike[str], task: str | None = None) -> Path:
    """The folder of a model that comes with the package, or ``name`` itself if it is a folder."""
    known = names(task)
    if str(name) in known:
        return HOME / str(name)
    if not os.path.isdir(name):
        if task is not None and str(name) in names():
            kind = kind_of(RunFolder(HOME / str(name)).read_config()["task"])
            also = f", or one that comes with regard ({', '.join(known)})" if known else ""
            raise FileError(
                f"{str(name)!r} is {kind}, and {kind_of(task)} is wanted: a run folder{also}"
            )
        raise FileError(
            f"{str(name)!r} is neither a folder nor a model that comes with regard "
            f"({', '.join(known)}){nearest(str(name), known)}"
        )
    return Path(name)


def find_together(given: Sequence[str]) -> list[Path]:
    """The folders of translators that speak together; refused if it is known that one of them
    translates the other way."""
    folders = [find_folder(name, "translate") for name in given]
    own = [folder.name for folder in folders if folder.resolve().parent == HOME.resolve()]
    back = [name for name in own if name in FROM_ENGLISH]
    if back and len(back) < len(own):
        other = next(name for name in own if name not in FROM_ENGLISH)
        raise RegardError(
            f"{back[0]!r} translates English to German and {other!r} German to English: only "
            "models that translate the same way can choose together"
        )
    return folders


def is_own(name: str) -> bool:
    """Whether ``name`` is a model that comes with the package, or the folder of a run."""
    if name in names():
        return True
    try:
        return os.path.isdir(name) and "task" in RunFolder(name).read_config()
    except FileError:
        return False


def is_recurrent(name: str) -> bool:
    """Whether ``name`` is a model of text that regard trained, and no Transformer."""
    if not is_own(name):
        return False
    config = RunFolder(find_folder(name)).read_config()
    return config["task"] in OF_TEXT and config["model"]["model"] != "transformer"


def pack(run: str | os.PathLike[str], to: str | os.PathLike[str]) -> int:
    """Copy a run's model, its matrices in 8 bits, to the folder ``to``; the bytes of its weights.

    Paths of the machine that it was trained on stay behind. If an equal vocabulary lies beside
    the folder, the config names that one; else the folder gets its own.
    """
    from regard.store.weights import packed, read_weights, unpacked, write_weights

    source, target = RunFolder(run), RunFolder(to)
    config = source.read_config()
    for section in ("data", "train"):
        config[section] = {k: _without_path(v) for k, v in config[section].items()}
    if config["task"] not in ("images", "forecast"):  # which have no vocabulary
        _pack_tokens(source, target, config)
    target.write_config(config)
    if source.baselines.exists():
        write_text(target.baselines, source.baselines.read_text(encoding="utf-8"))
    write_weights(target.model, packed(unpacked(read_weights(source.model))))
    return target.model.stat().st_size


def _pack_tokens(source: RunFolder, target: RunFolder, config: dict[str, Any]) -> None:
    """Name the vocabulary in ``config``: an equal one beside the folder, or its own."""
    tokens = source.read_tokens()
    text = tokens.to_text()
    equal = [f for f in target.path.parent.glob("*.json") if f.read_text("utf-8") == text]
    config["tokens"] = f"../{equal[0].name}" if equal else TOKENS
    if not equal:
        target.path.mkdir(parents=True, exist_ok=True)
        tokens.save(target.path / TOKENS)


def _without_path(value: Any) -> Any:
    return os.path.basename(value) if isinstance(value, str) and os.sep in value else value
