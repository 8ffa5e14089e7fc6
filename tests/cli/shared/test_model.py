"""A model loaded and run for a command: parts, notes, estimates, one pass."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from regard.cli.shared.model import exit_stopped, load_model, look_at, noted, read_part
from regard.errors import ModelError, RegardError
from regard.pieces.look import Look, LookRequest
from tests.inside.tinytext import SENTENCE
from tests.models.bert.tinybert import save_tiny


@pytest.mark.parametrize(
    ("both", "part", "target", "read"),
    [
        (True, None, None, "encoder"),
        (True, None, "Haus", "cross"),
        (True, "decoder", None, "decoder"),
        (False, None, None, ""),
    ],
)
def test_which_attention(both: bool, part: str | None, target: str | None, read: str) -> None:
    model: Any = SimpleNamespace(has_both=both, name="m")
    assert read_part(model, part, target) == read


def test_a_part_that_is_not_there() -> None:
    plain: Any = SimpleNamespace(has_both=False, name="m")
    both: Any = SimpleNamespace(has_both=True, name="m")
    with pytest.raises(RegardError, match="--target is for models with an encoder and a decoder"):
        read_part(plain, None, "Haus")
    with pytest.raises(RegardError, match="--target is what the decoder reads"):
        read_part(both, "encoder", "Haus")


def test_warnings_are_notes_each_once(capsys: pytest.CaptureFixture[str]) -> None:
    with noted():
        for _ in range(2):
            warnings.warn("slow\x1b", stacklevel=1)
    assert capsys.readouterr().err == "regard: note: slow\\x1b\n"


def test_the_page_comes_out_of_the_pass_of_the_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_tiny(tmp_path)
    model = load_model(str(tmp_path))
    passes = []
    run = type(model).run

    def counted(*given: Any) -> Any:
        passes.append(1)
        return run(*given)

    monkeypatch.setattr(type(model), "run", counted)
    found, stopped = look_at(model, SENTENCE, LookRequest(page=True), None, None)
    assert (found.done, found.layers, stopped) == (3, 3, False)
    assert found.page is not None
    assert [sheet.number for sheet in found.page.sheets] == [0, 1, 2]
    assert passes == [1, 1]  # and one that finds the output matrices, for the measures of a page


def test_a_model_that_is_not_there() -> None:
    with pytest.raises(ModelError, match="there is no folder 'no such!'"):
        load_model("no such!")


def test_a_stop_is_said_and_ends_as_ctrl_c_does(capsys: pytest.CaptureFixture[str]) -> None:
    look: Any = Look("m", LookRequest(), [], [], layers=6, done=2)  # type: ignore[arg-type]
    with click.Context(click.Command("look")), pytest.raises(click.exceptions.Exit) as ended:
        exit_stopped(look)
    assert ended.value.exit_code == 130
    assert capsys.readouterr().err == (
        "regard: stopped after layer 2 of 6; this is what was finished\n"
    )
