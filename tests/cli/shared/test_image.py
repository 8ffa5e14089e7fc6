"""``regard look --image``: the words, the picture, the files, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.run import regard
from tests.inside.vision import save_image, save_vit


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("vision")
    save_vit(made / "vit")
    save_image(made / "a.png")
    return made


def test_a_patch_by_its_pixel(folder: Path) -> None:
    files = ("--png", "o.png", "--json", "o.json", "--html", "o.html")
    done = regard("look", "vit", "--image", "a.png", "--at", "50,40", *files, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "vit: 26 pieces, 3 layers, 2 heads each" in done.stdout
    assert "'2,2' attends to" in done.stdout
    assert "2,2: mean of the 6 heads of 3 layers" in done.stdout
    assert (folder / "o.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((folder / "o.json").read_text())["model"] == "vit"
    assert "2,2" in (folder / "o.html").read_text()


def test_one_head_and_the_overview(folder: Path) -> None:
    one = ("--layer", "1", "--head", "0", "--piece", "17")
    done = regard("look", "vit", "--image", "a.png", *one, folder=folder)
    assert "3,1: layer 1, head 0" in done.stdout
    done = regard("look", "vit", "--image", "a.png", folder=folder)
    assert "Strongest links between two patches" in done.stdout
    assert "[CLS]: mean of the 6 heads" in done.stdout


def test_rollout_is_drawn_after_the_last_layer_and_called_derived(folder: Path) -> None:
    asked = ("--measure", "rollout", "--at", "50,40", "--json", "r.json")
    done = regard("look", "vit", "--image", "a.png", *asked, folder=folder)
    assert "2,2: through the layers up to 2, derived: rollout" in done.stdout
    assert "Derived, not weights: attention rollout" in done.stdout
    assert json.loads((folder / "r.json").read_text())["measure"] == "rollout"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--at", "left"), "--at is a pixel of the image, X,Y such as 120,80; got 'left'"),
        (("--at", "500,3"), "the image has 120 x 90 pixels, counted from 0; got 500,3"),
        (("--piece", "26"), "pieces are counted from 0: there are 26, of which 1 special; got 26"),
        (("--at", "1,1", "--piece", "2"), "both name a piece of the image"),
        (("--word", "cat"), "--word is for texts"),
        (("a text",), "look takes a text or --image FILE; got both"),
        (("--layer", "1", "--head", "7"), "heads are counted from 0: this layer has 2, got 7"),
    ],
)
def test_refused_in_one_line(folder: Path, given: tuple[str, ...], said: str) -> None:
    done = regard("look", "vit", "--image", "a.png", *given, folder=folder)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_an_image(folder: Path) -> None:
    done = regard("look", "vit", "--at", "1,1", folder=folder)
    assert "--at is a place in an image: it goes with --image" in done.stderr
    done = regard("look", "vit", "--image", "none.png", folder=folder)
    assert done.returncode == 2
    assert "none.png" in done.stderr
