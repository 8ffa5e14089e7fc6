"""A small language, a file of it, and the command that trains a very small model on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

NAMES, VERBS, THINGS = ("Tom", "Mary", "we"), ("see", "like", "want"), ("dogs", "tea", "books")


def sentences() -> list[str]:
    """27 sentences of four tokens."""
    return [f"{n} {v} {t} ." for n in NAMES for v in VERBS for t in THINGS]


def arguments(text: Path | str, output: Path, *more: str, **settings: Any) -> list[str]:
    """What follows ``regard`` to train a very small language model for 12 updates."""
    chosen: dict[str, Any] = {
        "data.valid_share": 0.2,
        "data.test_share": 0.2,
        "data.level": "space",
        "data.least": 1,
        "model.model": "lstmn",
        "model.size": "tiny",
        "model.width": 8,
        "model.hidden": 7,
        "train.steps": 12,
        "train.batch_tokens": 24,
        "data.max_length": 20,
        "train.validate_every": 4,
        "train.save_every": 3,
        "train.log_every": 1,
        "train.average": 2,
        "train.patience": 0,
        "train.threads": 1,
        **{key.replace("__", "."): value for key, value in settings.items()},
    }
    sets = [f"{k}={str(v).lower()}" for k, v in chosen.items() if v is not None]
    flags = [part for one in sets for part in ("--set", one)]
    return ["train", "lm", "--text", str(text), "-o", str(output), *flags, *more]
