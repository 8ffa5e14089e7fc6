"""Export: a run folder to a folder of another library's, or the reason why it cannot go there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from regard.errors import ConfigError, FileError
from regard.store.card import card_of
from regard.store.folder import (
    RunFolder,
    kind_of,
    load_classifier,
    load_language_model,
    load_translator,
)
from regard.store.shipped import find_folder

if TYPE_CHECKING:
    from regard.models.classifier import Classifier
    from regard.models.language import LanguageModel
    from regard.models.translators.base import Translator
    from regard.pieces.tokenizer import Tokenizer

    Loaded = Translator | LanguageModel | Classifier

FORMATS = ("huggingface", "onnx", "ctranslate2")
LIBRARIES = {"huggingface": "Hugging Face's transformers", "ctranslate2": "CTranslate2"}


def export(name: str, to: str, folder: str | os.PathLike[str]) -> list[str]:
    """Write the model of a run folder, or one that comes with regard, in the form ``to`` into the
    new ``folder``; the names of the files."""
    source, target = RunFolder(find_folder(name)), Path(folder)
    config = source.read_config()
    _check(config["task"], config["model"], to)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise FileError(f"an export makes a new folder: {str(folder)!r} is there and not empty")
    model, tokens = _loaded(source, config["task"])
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {str(folder)!r}: {error.strerror}") from error
    try:
        use = _write(target, to, model, tokens)
        readme = f"{card_of(source).rstrip()}\n\n## Use\n\nWritten by `regard export`.\n\n{use}\n"
        (target / "README.md").write_text(readme, encoding="utf-8")
    except BaseException:
        shutil.rmtree(target.resolve())  # half a model is none
        raise
    return sorted(path.name for path in target.iterdir())


def _check(task: str, model: dict[str, object], to: str) -> None:
    """Raise, with the reason, for a model that the form cannot hold."""
    if to not in FORMATS:
        raise ConfigError(f"models are exported to {', '.join(FORMATS)}; got {to!r}")
    design, library = str(model["model"]), LIBRARIES.get(to)
    if task not in ("translate", "lm", "classify"):
        raise ConfigError(
            "translators, language models and classifiers of text are exported; this is "
            f"{kind_of(task)}"
        )
    if task == "classify" and library:
        raise ConfigError(
            f"{library} has no such classifier: what decides is read from all states by a query "
            "of its own; --to onnx can hold it"
        )
    if design != "transformer" and library:
        raise ConfigError(
            f"{design} cannot be exported: {library} has no such network, it holds the Transformer "
            "alone"
        )
    if design != "transformer" and task == "translate":
        raise ConfigError(
            f"{design} cannot be exported: of translators the Transformer alone is written as "
            "ONNX; language models and classifiers go in every design"
        )
    if model.get("pointer"):
        raise ConfigError(
            f"a model with a pointer cannot be exported: {library or 'the ONNX file'} would say "
            "every word from the vocabulary and copy none; train one without --pointer"
        )
    if task == "lm" and to == "huggingface":
        raise ConfigError(
            "a language model cannot be exported to huggingface: none of its decoders has "
            "sinusoidal positions and a bias on the output; --to onnx can hold it"
        )
    if task == "lm" and to == "ctranslate2":
        raise ConfigError(
            "of regard's models CTranslate2 takes translators alone; --to onnx can hold this one"
        )
    if to == "huggingface" and not model.get("tied"):
        raise ConfigError(
            "Hugging Face's Marian and Pegasus share one matrix among source, target and output "
            "words, and this model has three (tied = false); --to onnx and ctranslate2 can hold it"
        )


def _loaded(run: RunFolder, task: str) -> tuple[Loaded, Tokenizer]:
    if task == "classify":
        return load_classifier(run.path)
    return load_language_model(run.path) if task == "lm" else load_translator(run.path)


def _write(folder: Path, to: str, model: Loaded, tokens: Tokenizer) -> str:
    """Write the model's files; how they are used, for the README."""
    from regard.models.classifier import Classifier
    from regard.models.language import LanguageModel
    from regard.models.translators.transformer import Transformer
    from regard.store.exchange import ctranslate2, huggingface, onnx

    assert isinstance(model, LanguageModel | Classifier | Transformer)
    if to == "onnx":
        return onnx.write(folder, model, tokens)
    assert isinstance(model, Transformer)
    if to == "huggingface":
        huggingface.write(folder, model, tokens)
        return huggingface.USE
    ctranslate2.write(folder, model, tokens)
    return ctranslate2.USE
