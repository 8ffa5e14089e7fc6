"""Sheet: many exercises on a page that checks what is typed into it, offline.

The page holds what is given and not the solutions: it computes them again. Each exercise has a
number, ``scaled-7-3``: its mechanism, the sheet's seed and its place. A page saved with answers in
it is a file of worked examples, which ``regard check`` reads.
"""

from __future__ import annotations

import html
import json
import os
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

from regard.errors import ExampleError, RegardError
from regard.files import name_of, read_bytes, write_text
from regard.worked.claims import BLANK
from regard.worked.dialects import DIALECTS
from regard.worked.exercises.new import claimed_steps, new
from regard.worked.source import ExampleFile, plain

HOME = Path(__file__).parent
KINDS = (
    ("softmax", False),
    ("simple", False),
    ("dot", False),
    ("scaled", False),
    ("scaled", True),
    ("luong-dot", False),
    ("additive", False),
)
"""The mechanisms that the page computes, and whether with a causal mask; in turn."""
TITLES = {
    "softmax": "Softmax with a temperature",
    "simple": "Self-attention without matrices",
    "dot": "Dot-product attention",
    "scaled": "Scaled dot-product attention",
    "luong-dot": "Attention of a decoder: dot",
    "additive": "Attention of a decoder: additive",
}
MOST = 100
LEAD = (
    "Fill in the numbers and press Check: digits count as they are written (0.48 means within "
    "0.005), a fraction such as 4/7 will do. 0.6931 is ln 2. Nothing leaves this page."
)
SOLUTIONS = "What 'regard check' computes, to four digits."
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


def write_sheet(path: str | os.PathLike[str], made: list[dict[str, Any]]) -> Path:
    """Write the page and, beside it, its solutions, whose file is returned."""
    target = Path(path)
    beside = target.with_name(f"{target.stem}-solutions{target.suffix}")
    write_text(target, _page("Exercises", made, solutions=False))
    write_text(beside, _page("Exercises: solutions", made, solutions=True))
    return beside


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
    kept = {key: value for key, value in content.items() if key != "layout"}
    steps = list(claimed_steps(content))
    number = f"{mechanism}-{seed}-{place}"
    about = DIALECTS[mechanism].about
    return {"number": number, "title": title, "about": about, "given": kept, "steps": steps}


def _page(title: str, made: list[dict[str, Any]], solutions: bool) -> str:
    data = json.dumps(made, ensure_ascii=False).replace("<", "\\u003c")
    save = '<button id="save" class="screen">Save with my answers</button>'
    filled = {
        "title": html.escape(title),
        "lead": html.escape(SOLUTIONS if solutions else LEAD),
        "solutions": "yes" if solutions else "no",
        "save": "" if solutions else save,
        "exercises": data,
        "script": (HOME / "sheet.js").read_text(encoding="utf-8"),
    }
    template = (HOME / "sheet.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: filled[found[1]], template)


def _answered(
    path: str | os.PathLike[str], one: dict[str, Any], answers: dict[str, list[list[str]]]
) -> ExampleFile:
    content = {**plain(one["given"]), "title": f"Exercise {one['number']}: {one['title']}"}
    content["claims"] = {
        step: [[_number(cell) for cell in row] for row in answers[step]]
        if step in answers
        else [[BLANK] * value.shape[1] for _ in range(value.shape[0])]
        for step, value in claimed_steps(plain(one["given"])).items()
    }
    return ExampleFile(name_of(path), "", content, f"{os.fspath(path)}#{one['number']}")


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
