"""The log: events, a cut last line, going back; and the picture of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from regard.errors import FileError, MissingExtraError
from regard.train.run.log import Log, draw_curves, read_log
from regard.train.run.state import RunState


def test_events_and_rewind(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl")
    log.write("data", train=5, name="größe")
    for step in (1, 2, 3):
        log.write("train", step=step, loss=1 / step)
    log.rewind(RunState(step=2))
    assert [event.get("step") for event in read_log(tmp_path / "log.jsonl")] == [None, 1, 2]
    assert read_log(tmp_path / "log.jsonl")[0] == {"event": "data", "train": 5, "name": "größe"}
    log.clear()
    assert read_log(tmp_path / "log.jsonl") == []


@pytest.mark.parametrize(
    ("state", "kept"),
    [
        (RunState(step=2), ["train", "changed"]),
        (RunState(step=2, validated=2), ["train", "valid", "changed"]),
        (RunState(step=2, validated=2, ended=2), ["train", "valid", "average", "end", "changed"]),
    ],
)
def test_what_the_checkpoint_has_not_seen_is_taken_back(
    state: RunState, kept: list[str], tmp_path: Path
) -> None:
    log = Log(tmp_path / "log.jsonl")
    for step in (1, 2, 3):
        for event in ("train", "valid", "average", "end", "changed"):
            log.write(event, step=step)
    log.rewind(state)
    events = read_log(tmp_path / "log.jsonl")
    assert [event["event"] for event in events if event["step"] == 2] == kept
    assert [event["step"] for event in events] == [1] * 5 + [2] * len(kept)


def test_a_last_line_cut_by_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"event": "train", "step": 1}\n{"event": "tr')
    assert [event["step"] for event in read_log(path)] == [1]
    path.write_text('{"event"\n{"event": "train", "step": 1}\n')
    with pytest.raises(FileError, match="line 1 is not JSON"):
        read_log(path)


def test_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log = Log(None)
    log.write("train", step=1)
    log.rewind(RunState())
    log.clear()
    assert not list(tmp_path.iterdir())


class Board:
    def __init__(self) -> None:
        self.points: list[tuple[str, float, int]] = []

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.points.append((name, value, step))

    def flush(self) -> None:
        pass


def test_tensorboard_gets_the_numbers(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl")
    log.board = board = Board()
    log.write("train", step=7, loss=2.5, best="BLEU 3")
    log.write("data", train=5)
    assert board.points == [("train/loss", 2.5, 7)]


def test_curves(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl")
    log.write("data", train=5)
    draw_curves(tmp_path / "log.jsonl", tmp_path / "empty.png")
    for step in (1, 2, 3):
        log.write("train", step=step, loss=1 / step)
    log.write("valid", step=3, loss=0.5, score=12.0, name="BLEU")
    draw_curves(tmp_path / "log.jsonl", tmp_path / "curves.png")
    for name in ("empty.png", "curves.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_curves_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match="needs matplotlib: pip install matplotlib"):
        draw_curves(tmp_path / "log.jsonl", tmp_path / "curves.png")


def test_other_ends_of_lines_are_part_of_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    said = "one\x85two\u2028three"
    log = Log(path)
    log.write("valid", step=1, said=said)
    log.write("train", step=2)
    assert [event.get("said") for event in read_log(path)] == [said, None]
