"""Sheet: many exercises for a page that checks what is typed into it, offline.

Each exercise has a number, ``scaled-7-3``: its mechanism, the sheet's seed and its place. A page
saved with answers in it is a file of worked examples, which ``regard check`` reads.
"""

from __future__ import annotations

import json
import math
import os
import re
from decimal import Decimal
from typing import Any

from regard.errors import ExampleError, RegardError
from regard.files import name_of, read_bytes
from regard.worked.claims import BLANK
from regard.worked.dialects import DIALECTS
from regard.worked.example import Example
from regard.worked.exercises.new import claimed_steps, new
from regard.worked.given import given_data
from regard.worked.source import ExampleFile, plain
from regard.worked.stages import compute

TITLES = {
    "softmax": "Softmax with a temperature",
    "simple": "Self-attention without matrices",
    "dot": "Dot-product attention",
    "scaled": "Scaled dot-product attention",
    "luong-dot": "Attention of a decoder: dot",
    "additive": "Attention of a decoder: additive",
    "general": "Attention of a decoder: general",
    "concat": "Attention of a decoder: concat",
    "bilinear": "Attention of a decoder: bilinear",
    "multihead": "Multi-head attention",
    "cross": "Cross-attention",
    "average": "The average of word vectors",
    "sinusoidal": "Sinusoidal positions",
    "learned": "Learned positions",
    "rotary": "Rotary positions",
    "simple-rnn": "A simple RNN",
    "simple-rnn+attention": "A simple RNN with self-attention",
    "lstm": "An LSTM",
    "lstmn": "An LSTMN",
    "layer-norm": "Layer norm",
    "feed-forward": "Feed-forward",
    "residual": "Residual connection",
    "softmax-gradient": "The gradient of softmax",
    "encoder-decoder": "A step of an encoder-decoder",
    "encoder-block": "A block of the Transformer's encoder",
}
"""What an exercise of each mechanism is called; in turn, from the shortest on."""
MASKED = "scaled"
"""The mechanism that comes twice, the second time with a causal mask."""
KINDS = [(name, mask) for name in TITLES for mask in (False, True)[: 1 + (name == MASKED)]]
MOST = 100
BLOCK = r'(?s)<script type="application/json" id="{}">(.*?)</script>'


def exercises(count: int, seed: int, mechanism: str | None = None) -> list[dict[str, Any]]:
    """So many different exercises, each with its number, its title, what is given and asked."""
    if not 1 <= count <= MOST:
        raise RegardError(f"a sheet has 1 to {MOST} exercises, got {count}")
    kinds = [kind for kind in KINDS if mechanism in (None, kind[0])]
    if not kinds:
        known = ", ".join(dict.fromkeys(name for name, _ in KINDS))
        raise RegardError(f"a sheet has exercises of {known}; got {mechanism!r}")
    return [_exercise(*kinds[i % len(kinds)], seed, i + 1) for i in range(count)]


def read_sheet(path: str | os.PathLike[str]) -> list[ExampleFile]:
    """The exercises of a page, with the answers that were saved in it as their claims."""
    text = read_bytes(path).decode("utf-8", errors="replace")
    found = re.search(BLOCK.format("exercises"), text)
    if found is None or 'content="regard sheet"' not in text:
        raise ExampleError(
            f"{name_of(path)} is no sheet of exercises: 'regard check --sheet 5 --html FILE' makes "
            "one"
        )
    saved = re.search(BLOCK.format("answers"), text)
    try:
        given = json.loads(found[1], parse_float=Decimal)
        answers = json.loads(saved[1]) if saved else {}
        return [_answered(path, one, answers.get(one["number"], {})) for one in given]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ExampleError(f"{name_of(path)} is a damaged sheet: {error}") from error


def _exercise(mechanism: str, masked: bool, seed: int, place: int) -> dict[str, Any]:
    content = new(mechanism, None, "round", seed * 1000 + place, masked)
    title = TITLES[mechanism] + (", causal mask" if masked else "")
    example = Example.from_dict(plain(content))
    return {
        "number": f"{mechanism}-{seed}-{place}",
        "title": title,
        "about": DIALECTS[mechanism].about,
        "given": content,
        "computed": given_data(example, compute(example)),
        "steps": list(claimed_steps(content)),
    }


def _answered(
    path: str | os.PathLike[str], one: dict[str, Any], answers: dict[str, list[list[str]]]
) -> ExampleFile:
    content = {**plain(one["given"]), "title": f"Exercise {one['number']}: {one['title']}"}
    content["claims"] = {
        step: _nested([_number(cell) for row in answers.get(step, []) for cell in row], value.shape)
        for step, value in claimed_steps(plain(one["given"])).items()
    }
    return ExampleFile(name_of(path), "", content, f"{os.fspath(path)}#{one['number']}")


def _nested(cells: list[Any], shape: tuple[int, ...]) -> Any:
    """What was typed, row by row, as lists of this shape; what is missing is blank."""
    cells = cells or [BLANK] * math.prod(shape)
    for length in reversed(shape[1:]):
        cells = [cells[i : i + length] for i in range(0, len(cells), length)]
    return cells


def _number(text: str) -> Any:
    """What was typed, as a file has it: a fraction is meant to three digits."""
    typed = text.strip().replace(",", ".").replace("−", "-")
    fraction = re.fullmatch(r"(-?[0-9]{1,9})\s*/\s*([0-9]{1,9})", typed)
    if fraction and int(fraction[2]):
        return Decimal(f"{int(fraction[1]) / int(fraction[2]):.3f}")
    if not typed:
        return BLANK
    if re.fullmatch(r"-?[0-9]{1,15}", typed):
        return int(typed)
    return Decimal(typed) if re.fullmatch(r"-?[0-9]*\.[0-9]{1,15}", typed) else typed
