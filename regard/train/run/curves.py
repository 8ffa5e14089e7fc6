"""Curves: loss and validation score of a run as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regard.errors import MissingExtraError
from regard.files import replacing
from regard.train.run.log import read_log


def draw_curves(log: Path, picture: Path) -> None:
    """Draw what ``log`` says: training and validation loss on the left, the score on the right."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("the picture of the curves", "plot") from error
    events = read_log(log)
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    loss, score = figure.subplots(1, 2)
    _line(loss, events, "train", "loss", "training (with label smoothing, if any)")
    _line(loss, events, "valid", "loss", "validation")
    loss.set(xlabel="updates", ylabel="loss per token (nats)")
    if loss.lines:
        loss.legend()
    names = [event["name"] for event in events if event.get("event") == "valid" and "name" in event]
    _line(score, events, "valid", "score", names[0] if names else "score")
    score.set(xlabel="updates", ylabel=f"validation {names[0]}" if names else "score")
    for axes in (loss, score):
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    with replacing(picture) as temporary:
        figure.savefig(temporary, dpi=120)


def _line(axes: Any, events: list[dict[str, Any]], event: str, key: str, label: str) -> None:
    points = [(e["step"], e[key]) for e in events if e.get("event") == event and key in e]
    if points:
        axes.plot(*zip(*points, strict=True), label=label, marker="." if event == "valid" else "")
