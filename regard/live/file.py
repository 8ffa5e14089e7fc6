"""File: models as one HTML page that runs them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from regard.errors import RegardError
from regard.files import write_text
from regard.live.carried import CarriedModel, names_of, vocabulary_data
from regard.live.examples import ExampleImage
from regard.live.proof import difference, proofs
from regard.store.weights import SCALE
from regard.views.page.file import FORMAT, filled
from regard.views.page.inline import policy
from regard.views.page.pack import Pack, checksum

LARGEST = 256_000_000
"""Characters of a page: as much as browsers open without complaint."""
FOR_MAIL = 20_000_000
"""Bytes that most mail servers carry; what is larger is said to be too large."""


def save_live(path: str | os.PathLike[str], models: Sequence[CarriedModel]) -> int:
    """Write the page, atomically; its size in bytes."""
    text = live_html(models)
    write_text(path, text)
    return len(text.encode())


def live_html(models: Sequence[CarriedModel]) -> str:
    """The page as text."""
    if not models:
        raise RegardError("a living page runs at least one model: name one")
    pack = Pack(half=False)
    vocabularies: list[dict[str, Any]] = []
    parts = [_data(model, pack, vocabularies) for model in models]
    packed = pack.text()
    content = {
        "format": FORMAT,
        "regard": import_module("regard").__version__,
        "sha256": checksum(packed),
        "live": {"models": parts, "tokenizers": vocabularies, "arrays": pack.entries},
    }
    title = f"{', '.join(model.name for model in models)}: a living page"
    text = filled(title, content, packed, policy("live", worker="worker"), "live", "worker")
    if len(text) > LARGEST:
        raise RegardError(
            f"a page may have {LARGEST // 10**6} MB, this one would have {len(text) // 10**6}: "
            "carry fewer models, or give --bits 8"
        )
    return text


def _data(model: CarriedModel, pack: Pack, vocabularies: list[dict[str, Any]]) -> dict[str, Any]:
    """What a page knows of a model; its arrays are put into ``pack``."""
    vocabulary = None if model.tokenizer is None else vocabulary_data(model.tokenizer)
    if vocabulary is not None and vocabulary not in vocabularies:
        vocabularies.append(vocabulary)
    moved, other = difference(model) if model.original is not None else (None, 0)
    return {
        "name": model.name,
        "task": model.task,
        "config": model.config,
        "bits": model.bits,
        "moved": moved,
        "other": other,
        "origin": model.origin,
        "examples": [_example(one) for one in model.examples],
        "tokenizer": None if vocabulary is None else vocabularies.index(vocabulary),
        "weights": {name: _places(model, name, pack) for name in names_of(model)},
        "proof": [
            {
                "given": _example(one.given),
                "output": one.output,
                "weights": [pack.add(part, exact=True) for part in (one.weights, *one.own)],
            }
            for one in proofs(model)
        ],
    }


def _example(given: str | ExampleImage) -> str | dict[str, Any]:
    if isinstance(given, str):
        return given
    return {"name": given.name, "pixels": given.pixels.ravel().tolist()}


def _places(model: CarriedModel, name: str, pack: Pack) -> dict[str, int | None]:
    """Where in the pack a tensor is, and the scale of its rows."""
    found = {"array": pack.add(model.weights[name].numpy())}
    if name + SCALE in model.weights:
        found["scale"] = pack.add(model.weights[name + SCALE].numpy())
    return found
