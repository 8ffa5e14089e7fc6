"""The name of a model where others read it."""

from __future__ import annotations

from pathlib import Path

from regard.inside.realmodel import title_of


def test_of_a_path_the_last_part_and_any_other_name_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    assert title_of(str(tmp_path / "mine")) == "mine"
    assert title_of(f"{tmp_path}/mine/../mine/") == "mine"
    assert title_of("org/model-not-here") == "org/model-not-here"
