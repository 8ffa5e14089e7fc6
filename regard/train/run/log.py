"""Log: one JSON object a line, as things happen; the same figures to TensorBoard and as curves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.errors import FileError, MissingExtraError
from regard.files import replacing, write_text
from regard.train.run.state import RunState


class Log:
    """Appends events to a file. ``Log(None)`` writes nowhere (processes other than rank 0)."""

    def __init__(self, path: Path | None, tensorboard: bool = False) -> None:
        self.path = path
        self.board = _board(path.parent / "tensorboard") if tensorboard and path else None

    def write(self, event: str, **values: Any) -> None:
        """Add {"event": event, …values}."""
        if self.path is None:
            return
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"event": event, **values}, ensure_ascii=False) + "\n")
        except OSError as error:
            reason = error.strerror or error
            raise FileError(f"cannot write the log {str(self.path)!r}: {reason}") from error
        if self.board is not None and "step" in values:
            for name, value in values.items():
                if isinstance(value, int | float) and name not in ("step", "epoch"):
                    self.board.add_scalar(f"{event}/{name}", value, values["step"])
            self.board.flush()

    def rewind(self, state: RunState) -> None:
        """Take back what was logged after ``state``: it will happen again."""
        if self.path is None or not self.path.exists():
            return
        after = {"valid": state.validated, "average": state.ended, "end": state.ended}

        def seen(event: dict[str, Any]) -> bool:
            step = int(event.get("step", 0))
            now = step == state.step and step <= after.get(event.get("event", ""), step)
            return step < state.step or now

        rows = [json.dumps(e, ensure_ascii=False) + "\n" for e in read_log(self.path) if seen(e)]
        write_text(self.path, "".join(rows))

    def clear(self) -> None:
        """Forget everything: the run begins."""
        if self.path is not None:
            write_text(self.path, "")


def read_log(path: Path) -> list[dict[str, Any]]:
    """The events of a log; a last line cut by a crash is left out."""
    events: list[dict[str, Any]] = []
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise FileError(f"cannot read {str(path)!r}: {error.strerror or error}") from error
    lines = text.removesuffix("\n").split("\n")  # a sentence may hold Unicode's other line ends
    for number, line in enumerate(lines, 1):
        try:
            event = json.loads(line)
        except ValueError as error:
            if number == len(lines):
                break
            raise FileError(f"{str(path)!r}, line {number} is not JSON") from error
        if isinstance(event, Mapping):
            events.append(dict(event))
    return events


def draw_curves(log: Path, picture: Path) -> None:
    """Draw what ``log`` says: training and validation loss on the left, the score on the right."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("the picture of the curves", "matplotlib") from error
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


def _board(folder: Path) -> Any:
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(folder))
