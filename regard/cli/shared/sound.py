"""``read --sound``: a wav file read by a classifier of sounds."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from regard.cli.shared.output import check_outputs, write_json_lines, write_trace_page
from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.inside.soundreading import SoundVerdict


def read_sound(model: str | None, file: str, json_to: str | None, html_to: str | None) -> None:
    """Print what a classifier says of a sound, and the spans of time that it decided by."""
    if model is None:
        raise RegardError(
            "--sound needs --model RUN: no model of sounds comes with regard ('regard docs sounds' "
            "trains one)"
        )
    check_outputs(file, json=json_to, html=html_to)
    from regard.inside.soundreading import judge_sound

    verdict = judge_sound(model, file, traced=html_to is not None)
    if html_to is not None and verdict.pieces is None:
        raise RegardError(f"{model} reads no spans (conv), and a page shows attention to them")
    if json_to is not None:
        write_json_lines([json.dumps(_content(verdict, model, file), ensure_ascii=False)], json_to)
    else:
        _print(verdict)
    if html_to is not None and verdict.pieces is not None:
        likely = list(zip(verdict.labels, verdict.probabilities, strict=True))[:3]
        said = ", ".join(f"{label} {100 * share:.1f} %" for label, share in likely)
        title, quietly, notes = os.path.basename(file), json_to == "-", [said]
        if verdict.silent:
            notes.append(f"{100 * verdict.silent:.1f} % of what decided is padding (pad)")
        write_trace_page(html_to, verdict.trace, title, model, verdict.pieces, quietly, notes=notes)


def _content(verdict: SoundVerdict, model: str, file: str) -> dict[str, object]:
    names = verdict.pieces.labels if verdict.pieces else []
    return {
        "model": model,
        "sound": file,
        "seconds": verdict.seconds,
        "labels": dict(zip(verdict.labels, verdict.probabilities, strict=True)),
        "spans": dict(zip(names, map(float, verdict.weights), strict=True)),
        "padding": verdict.silent,
    }


def _print(verdict: SoundVerdict) -> None:
    from regard.text import visible
    from regard.views.terminal.console import make_console
    from regard.views.terminal.sound import print_sound

    console = make_console()
    for label, share in list(zip(verdict.labels, verdict.probabilities, strict=True))[:5]:
        console.print(f"{100 * share:6.2f} %  {visible(label)}", markup=False, highlight=False)
    if verdict.seconds > verdict.read:
        said = f"the model reads {verdict.read:.2f} s of {verdict.seconds:.2f}: not the rest"
        console.print(said, highlight=False)
    if verdict.pieces is not None:
        print_sound(verdict.pieces, verdict.weights, "what it decided by", console)
        if verdict.silent:
            said = f"{100 * verdict.silent:.1f} % of it after the sound has ended, in silence"
            console.print(f"{said} (at {verdict.seconds:.2f} s)", highlight=False)
