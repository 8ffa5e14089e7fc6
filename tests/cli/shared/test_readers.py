"""What reads a thing that is no sentence, and what is refused beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.cli.shared.readers import COMPANIONS, READERS, reader_of
from regard.errors import RegardError
from tests.cli.run import regard


@pytest.mark.parametrize("option", sorted({reader.option for reader in READERS}))
def test_a_thing_has_one_reader_that_takes_what_it_says(option: str) -> None:
    found = reader_of(None, [option])
    assert found is not None
    assert (found.option, found.tasks) == (option, ())
    assert reader_of(None, [option, *found.takes]) is found
    with pytest.raises(RegardError, match=f"^--{option} is read alone: of the other options it t"):
        reader_of(None, [option, "all"])


def test_without_a_thing_there_is_no_reader() -> None:
    assert reader_of("lstmn", ["model", "sentences", "layer"]) is None


@pytest.mark.parametrize("name", COMPANIONS)
def test_what_only_a_thing_takes_says_so(name: str) -> None:
    with pytest.raises(RegardError, match=f"^--{name} .*goes with --(series|episode|user)"):
        reader_of(None, ["sentences", name])
    assert any(name in reader.takes for reader in READERS) or reader_of(None, ["series", name])


@pytest.mark.parametrize(
    "more", [("--n-best", "3"), ("--sample",), ("--continue", "3"), ("a text",), ("--file", "-")]
)
def test_options_of_sentences_are_refused_beside_an_image(more: tuple[str, ...]) -> None:
    done = regard("read", "--image", "boot.png", *more)
    assert done.returncode == 2
    assert done.stderr == (
        "regard: error: --image is read alone: of the other options it takes --model, --json, "
        "--html\n"
    )


def test_the_model_decides_between_two_readers(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"regard": 1, "task": "label-images"}')
    found = reader_of(str(tmp_path), ["model", "image", "at"])
    assert found is not None
    assert found.tasks == ("label-images",)
    with pytest.raises(RegardError, match="--image is read alone"):
        reader_of("fashion", ["model", "image", "at"])
