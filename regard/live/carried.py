"""Carried: a model as a page carries it: its weights in few bits, its vocabulary, its origin."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regard.errors import ConfigError, FileError
from regard.pieces.tokenizer import Tokenizer
from regard.store.folder import RunFolder, load_language_model, load_translator
from regard.store.shipped import HOME, find_folder
from regard.store.weights import (
    SCALE,
    named_weights,
    packed,
    read_weights,
    set_weights,
    unpacked,
)

DESIGNS = {
    "translate": ("word-by-word", "encoder-decoder", "bahdanau", "transformer"),
    "lm": ("simple-rnn+attention", "lstmn"),
}
"""By task, the designs that the page's script can run."""
LOADERS = {"translate": load_translator, "lm": load_language_model}
EXAMPLES = {
    "translate": (
        "Können Sie mir helfen?",
        "Ich habe gestern ein Buch gelesen.",
        "Wo ist der nächste Bahnhof?",
    ),
    "lm": (
        "The children are playing in the",
        "I have never seen such a beautiful",
        "She asked him if he wanted to",
    ),
}
"""Sentences for the models that come with regard."""


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
    tokenizer: Tokenizer
    weights: dict[str, Tensor]
    """As they are carried: int8 with ``.scale``, or float16."""
    bits: int
    origin: str
    """Whose work the weights and the data are, and under which licence."""
    examples: tuple[str, ...]
    original: nn.Module | None = None
    """The network before its weights were rounded, if that was here."""


def carry(name: str, *, bits: int = 0, examples: Sequence[str] = ()) -> CarriedModel:
    """The model ``name`` (one that comes with regard, or a run folder), in 8 or 16 ``bits``.

    0 is what it is stored in if that is 8, else 16. ``examples`` take the place of its own.
    """
    folder = find_folder(name)
    run = RunFolder(folder)
    config = run.read_config()
    task, design = str(config.get("task")), str(config.get("model", {}).get("model"))
    if design not in DESIGNS.get(task, ()):
        known = "; ".join(f"{t}: {', '.join(d)}" for t, d in DESIGNS.items())
        raise ConfigError(
            f"a living page runs these designs ({known}), got {task} with {design!r} in {name!r}"
        )
    network, tokenizer = LOADERS[task](folder)
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
        examples=tuple(examples) or _examples(run, task),
        **carried,
    )
    if not was_packed:
        model.original = LOADERS[task](folder)[0]
        set_weights(network, full(model.weights), repr(name))
    return model


def _rounded(stored: Mapping[str, Tensor], bits: int) -> dict[str, Any]:
    if bits == 8:
        return {"weights": packed(stored), "bits": 8}
    return {"weights": {k: w.to(torch.float16) for k, w in stored.items()}, "bits": 16}


def full(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Carried weights as the float32 that the page computes with."""
    return {name: weight.float() for name, weight in unpacked(weights).items()}


def _origin(folder: Path) -> str:
    """The section "Data" of the card that lies beside the weights."""
    card = folder / "card.md"
    if folder.parent != HOME or not card.exists():
        return "Trained by whoever made this page; ask them for the licence of weights and data."
    data = card.read_text(encoding="utf-8").partition("## Data")[2].partition("##")[0]
    return " ".join(data.split())


def _examples(run: RunFolder, task: str) -> tuple[str, ...]:
    """Those of the models that come with regard; of a run, sentences it was not trained on."""
    if run.path.parent == HOME:
        return EXAMPLES[task]
    file = run.test if task == "translate" else run.test_text
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise FileError(
            f"{str(run.path)!r} has no {file.name} to take example sentences from: give some with "
            "--example"
        ) from error
    texts = [line.split("\t")[0].strip() for line in lines]
    return tuple([text for text in texts if 3 <= len(text.split()) <= 12][:3] or texts[:3])


def vocabulary_data(tokenizer: Tokenizer) -> dict[str, Any]:
    """The pieces by id and, of byte-pair encoding, which pairs of ids become one, in order."""
    model = json.loads(tokenizer.to_text())["model"]
    ids: dict[str, int] = model["vocab"]
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
