"""A very small translator, trained by the command in this process or in one of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def arguments(pairs: Path, output: Path, *more: str, **settings: Any) -> list[str]:
    """What follows ``regard`` to train a very small translator for 40 updates."""
    chosen: dict[str, Any] = {
        "data.valid_share": 0.1,
        "data.test_share": 0.1,
        "data.vocabulary": None if "--from" in more else 60,
        "model.model": "transformer",
        "model.width": 8,
        "model.layers": 1,
        "model.heads": 2,
        "model.feedforward": 8,
        "model.dropout": 0.1,
        "train.steps": 40,
        "train.learning_rate": 0.01,
        "train.warmup": 5,
        "train.batch_tokens": 200,
        "train.validate_every": 8,
        "train.save_every": 3,
        "train.log_every": 1,
        "train.average": 3,
        "train.patience": 0,
        "train.threads": 1,
        **{key.replace("__", "."): value for key, value in settings.items()},
    }
    sets = [f"{k}={_toml(v)}" for k, v in chosen.items() if v is not None]
    flags = [part for text in sets for part in ("--set", text)]
    return ["train", "translate", "--pairs", str(pairs), "-o", str(output), *flags, *more]


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def start(args: list[str], launcher: tuple[str, ...] = (), **options: Any) -> subprocess.Popen[str]:
    """Start ``regard …`` as a process of its own, its output in a pipe."""
    command = [sys.executable, "-m", *launcher, *(["-m"] if launcher else []), "regard", *args]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        **options,
    )
