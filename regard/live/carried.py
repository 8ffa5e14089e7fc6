"""Carried: a model as a page carries it: its weights in few bits, its vocabulary, its origin."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regard.errors import ConfigError, FileError, nearest
from regard.live.examples import SENTENCES, ExampleImage, example_images, example_sentences
from regard.pieces.tokenizer import Tokenizer
from regard.store.folder import (
    RunFolder,
    load_image_classifier,
    load_language_model,
    load_translator,
)
from regard.store.shipped import HOME, find_folder, names
from regard.store.weights import (
    SCALE,
    named_weights,
    packed,
    read_weights,
    set_weights,
)

BERT = "minilm"
"""The published model that a page can carry."""
GROUP = 8
"""Numbers that share a scale where a published model is rounded to 8 bits."""
DESIGNS = {
    "translate": ("word-by-word", "encoder-decoder", "bahdanau", "transformer"),
    "lm": ("simple-rnn+attention", "lstmn"),
    "images": ("patches",),
}
"""By task, the designs that the page's script can run."""
LOADERS: dict[str, Callable[[Path], tuple[Any, Any]]] = {
    "translate": load_translator,
    "lm": load_language_model,
    "images": lambda folder: (load_image_classifier(folder), None),
}
"""By task, the network and the tokenizer of a folder."""


@dataclass
class CarriedModel:
    """A model on its way into a page."""

    name: str
    path: Path
    """The folder that it is from."""
    task: str
    config: dict[str, Any]
    network: nn.Module
    """With the weights that the page carries, as float32."""
    tokenizer: Any
    """A Tokenizer; of a published model that of the library ``tokenizers``; of images None."""
    weights: dict[str, Tensor]
    """As they are carried: int8 with ``.scale``, or float16."""
    bits: int
    origin: str
    """Whose work the weights and the data are, and under which licence."""
    examples: tuple[str, ...] | tuple[ExampleImage, ...]
    original: nn.Module | None = None
    """The network before its weights were rounded, if that was here."""


def carry(name: str, *, bits: int = 0, examples: Sequence[str] = ()) -> CarriedModel:
    """The model ``name`` (one that comes with regard, or a run folder), in 8 or 16 ``bits``.

    0 is what it is stored in if that is 8, else 16. ``examples``, sentences or files of images,
    take the place of its own.
    """
    if name == BERT:
        from regard.inside.find import find

        return carry_bert(BERT, find(BERT).folder, bits=bits, examples=examples)
    folder = _folder(name)
    run = RunFolder(folder)
    config = run.read_config()
    task = str(config.get("task"))
    _check(name, task, config.get("model", {}))
    network, tokenizer = LOADERS[task](folder)
    if isinstance(tokenizer, Tokenizer) and not tokenizer.learned_here:
        raise ConfigError(
            f"a living page's script cuts text as regard's own tokens do, and {name!r} has others "
            "(--tokenizer)"
        )
    stored = read_weights(run.model)
    was_packed = any(weight.dtype == torch.int8 for weight in stored.values())
    bits = bits or (8 if was_packed else 16)
    carried = {"weights": stored, "bits": 8} if was_packed else _rounded(stored, bits)
    model = CarriedModel(
        name=Path(name).resolve().name if os.path.isdir(name) else name,
        path=folder,
        task=task,
        config=config["model"],
        network=network,
        tokenizer=tokenizer,
        origin=_origin(folder),
        examples=_examples(run, task, config["model"], examples),
        **carried,
    )
    if not was_packed:
        model.original = LOADERS[task](folder)[0]
        set_weights(network, full(model.weights), repr(name))
    return model


def _check(name: str, task: str, model: Mapping[str, Any]) -> None:
    """Raise for a model that the page's script cannot run."""
    design = str(model.get("model"))
    if design not in DESIGNS.get(task, ()):
        known = "; ".join(f"{t}: {', '.join(d)}" for t, d in DESIGNS.items())
        raise ConfigError(
            f"a living page runs these designs ({known}), got {task} with {design!r} in {name!r}"
        )
    if model.get("pointer"):
        raise ConfigError(
            f"a living page's script has no pointer, which {name!r} copies words with: carry a "
            "model that was trained without --pointer"
        )
    if model.get("activation", "relu") != "relu":
        raise ConfigError(
            f"a living page's script has relu alone in its feed-forward layers, and {name!r} "
            f"{model['activation']}"
        )


def _folder(name: str) -> Path:
    known = [*(own for task in DESIGNS for own in names(task)), BERT]
    if name not in known and not os.path.isdir(name):
        raise FileError(
            f"{name!r} is neither a folder nor a model that a living page carries "
            f"({', '.join(known)}){nearest(name, known)}"
        )
    return find_folder(name)


def _examples(
    run: RunFolder, task: str, config: dict[str, Any], given: Sequence[str]
) -> tuple[str, ...] | tuple[ExampleImage, ...]:
    if task == "images":
        return example_images(run, config, given)
    return tuple(given) or example_sentences(run, task)


def carry_bert(
    name: str, folder: Path, *, bits: int = 0, examples: Sequence[str] = ()
) -> CarriedModel:
    """A published BERT model in 8 or 16 ``bits``; 0 is 16."""
    from regard.models.bert.file import load_bert
    from regard.pieces.text import load_tokenizer

    network, original = load_bert(folder), load_bert(folder)
    stored = {name: weight.detach() for name, weight in named_weights(original).items()}
    weights = _in_groups(stored) if bits == 8 else _rounded(stored, 16)["weights"]
    set_weights(network, full(weights), repr(name))
    return CarriedModel(
        name=name,
        path=folder,
        task="sentence",
        config={"model": "bert", **asdict(network.config)},
        network=network,
        tokenizer=load_tokenizer(folder),
        origin="all-MiniLM-L6-v2 of sentence-transformers, Apache licence 2.0; its vocabulary is "
        "that of BERT (Google, Apache licence 2.0).",
        examples=tuple(examples) or SENTENCES["sentence"],
        original=original,
        weights=weights,
        bits=bits or 16,
    )


def _rounded(stored: Mapping[str, Tensor], bits: int) -> dict[str, Any]:
    """Half precision, or 8 bits with a scale a row."""
    if bits == 8:
        return {"weights": packed(stored), "bits": 8}
    return {"weights": {k: w.to(torch.float16) for k, w in stored.items()}, "bits": 16}


def _in_groups(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """8 bits with a scale for each few numbers of a row: a scale a row moves attention too far.

    Queries and keys, which attention feels most, stay in half precision.
    """
    small: dict[str, Tensor] = {}
    for name, weight in stored.items():
        if weight.dim() < 2 or ".query." in name or ".key." in name:
            small[name] = weight.to(torch.float16)
            continue
        parts = packed({name: weight.reshape(-1, GROUP)})
        small |= parts | {name: parts[name].view(weight.shape)}
    return small


def full(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Carried weights as the float32 that the page computes with."""
    found = {}
    for name, weight in weights.items():
        scale = weights.get(name + SCALE)
        if scale is not None:  # one a row, or several
            parts = weight.float().view(scale.numel(), -1) * scale.float().view(-1, 1)
            found[name] = parts.view(weight.shape)
        elif not name.endswith(SCALE):
            found[name] = weight.float()
    return found


def _origin(folder: Path) -> str:
    """The section "Data" of the card that lies beside the weights."""
    card = folder / "card.md"
    if folder.parent != HOME or not card.exists():
        return "Trained by whoever made this page; ask them for the licence of weights and data."
    data = card.read_text(encoding="utf-8").partition("## Data")[2].partition("##")[0]
    return " ".join(data.split())


def vocabulary_data(tokenizer: Any) -> dict[str, Any]:
    """The pieces by id and, of byte-pair encoding, which pairs of ids become one, in order."""
    own = isinstance(tokenizer, Tokenizer)
    content = json.loads(tokenizer.to_text() if own else tokenizer.to_str())
    model = content["model"]
    ids: dict[str, int] = model["vocab"]
    if not own:
        pieces = sorted(ids, key=ids.__getitem__)
        written = [token["content"] for token in content["added_tokens"]]
        return {"level": "wordpiece", "vocabulary": pieces, "merges": [], "written": written}
    level = "bpe" if tokenizer.spells else "space" if tokenizer.spaced else "word"
    merges = model.get("merges", [])
    return {
        "level": level,
        "vocabulary": sorted(ids, key=ids.__getitem__),
        "merges": [[ids[a], ids[b]] for a, b in merges],
    }


def names_of(model: CarriedModel) -> list[str]:
    """The tensors by name, scales left out."""
    assert {*named_weights(model.network)} == {n for n in model.weights if not n.endswith(SCALE)}
    return [name for name in model.weights if not name.endswith(SCALE)]
