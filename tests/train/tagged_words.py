"""A made-up language whose labels need the neighbour: "the can" is a thing, "we can" is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

THINGS, DOINGS = ("can", "run", "walk", "talk"), ("see", "like", "want", "have")


def sentences() -> list[list[tuple[str, str]]]:
    """32 sentences of four or five words; the third word is a thing or a doing by the second."""
    made = []
    for doing in DOINGS:
        for thing in THINGS:
            made.append([("we", "P"), (doing, "V"), ("the", "D"), (thing, "N"), (".", "M")])
            made.append([("the", "D"), (doing, "N"), ("we", "P"), (thing, "V")])
    return made


def columns(rows: list[list[tuple[str, str]]] | None = None) -> str:
    """The content of a file: a word and its label a line."""
    blocks = ["".join(f"{w}\t{x}\n" for w, x in row) for row in rows or sentences()]
    return "\n".join(blocks)


def arguments(data: Path, output: Path, *more: str, **settings: Any) -> list[str]:
    """``regard train label`` on a small file."""
    chosen = {
        "data.valid_share": 0.2,
        "data.test_share": 0.2,
        "data.max_length": 20,
        "model.size": "tiny",
        "train.steps": 12,
        "train.batch_tokens": 60,
        "train.validate_every": 6,
        "train.save_every": 5,
        "train.log_every": 1,
        "train.patience": 0,
        "train.threads": 1,
        **{key.replace("__", "."): value for key, value in settings.items()},
    }
    flags = [part for k, v in chosen.items() for part in ("--set", f"{k}={v}")]
    return ["train", "label", "--data", str(data), "-o", str(output), *flags, *more]
