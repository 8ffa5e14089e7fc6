"""An image in ``regard read``: what a classifier says of it, and the patches it decided by."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from regard.cli.shared.output import check_outputs, write_json_lines, write_trace_page
from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.inside.imagereading import ImageVerdict


def read_image(model: str, file: str, json_to: str | None, html_to: str | None) -> None:
    """Print what a classifier says of an image, and the patches that it decided by."""
    check_outputs(file, json=json_to, html=html_to)
    from regard.inside.imagereading import judge_image
    from regard.text import visible
    from regard.views.terminal.console import make_console
    from regard.views.terminal.image import print_image

    verdict = judge_image(model, file, traced=html_to is not None)
    shares = dict(zip(verdict.labels, verdict.probabilities, strict=True))
    if json_to is not None:
        weights = [float(weight) for weight in verdict.weights]
        content = {"model": model, "image": file, "labels": shares, "weights": weights}
        write_json_lines([json.dumps(content, ensure_ascii=False)], json_to)
    else:
        console = make_console()
        for label, share in list(shares.items())[:5]:
            console.print(f"{100 * share:6.2f} %  {visible(label)}", markup=False, highlight=False)
        if verdict.image is not None:
            print_image(verdict.image, verdict.weights, None, "what it decided by", console)
    if html_to is not None:
        _write_image_page(html_to, verdict, file, model, quietly=json_to == "-")


def _write_image_page(
    to: str, verdict: ImageVerdict, file: str, model: str, *, quietly: bool
) -> None:
    """The page of an image, on which its patches are drawn."""
    if verdict.image is None:
        raise RegardError(f"{model} reads no patches (conv), and a page shows attention to them")
    likely = list(zip(verdict.labels, verdict.probabilities, strict=True))[:3]
    said = ", ".join(f"{label} {100 * share:.1f} %" for label, share in likely)
    pieces, title = verdict.image.pieces, os.path.basename(file)
    write_trace_page(to, verdict.trace, title, model, pieces, quietly, notes=[said])
