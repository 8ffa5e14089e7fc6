"""Progress: the line, the bar, the time."""

from __future__ import annotations

import io
from pathlib import Path

from regard.train.run.progress import (
    Outcome,
    ProgressBar,
    ProgressLines,
    Status,
    format_outcome,
    format_seconds,
    format_status,
    progress_on,
)
from regard.train.run.state import RunState

STATUS = Status(120, 1.5, 2.3456, 1e-3, 12345.6, 0.25, 60.0, "BLEU 31.20")


def test_line() -> None:
    assert format_status(STATUS) == (
        "step 120  epoch 1.50  loss 2.346  rate 1.00e-03  12,346 tokens/s  "
        "best BLEU 31.20  3:00 left"
    )
    assert "left" not in format_status(STATUS._replace(done=0.0))


def test_seconds() -> None:
    assert [format_seconds(s) for s in (5, 65, 3725)] == ["0:05", "1:05", "1:02:05"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_on_a_terminal_and_lines_elsewhere() -> None:
    stream = Terminal()
    bar = progress_on(stream)
    assert isinstance(bar, ProgressBar)
    bar.note("[not markup] validation")
    bar.update(STATUS, line=False)
    bar.close()
    assert "[not markup] validation" in stream.getvalue()
    assert isinstance(progress_on(io.StringIO()), ProgressLines)


def test_the_last_line_names_a_model_only_if_there_is_one(tmp_path: Path) -> None:
    done = Outcome("minutes", RunState(), "BLEU")
    assert format_outcome(done, "translate", str(tmp_path)).endswith(
        f"; there is no model in {tmp_path} yet, as no validation was reached"
    )
    (tmp_path / "model.safetensors").touch()
    assert format_outcome(done, "translate", str(tmp_path)).endswith(
        f"; the model is in {tmp_path}"
    )
