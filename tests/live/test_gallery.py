"""The gallery: an index that leads to every page, and says whose work the models are."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from regard.errors import RegardError
from regard.live.carried import BERT, DESIGNS, CarriedModel
from regard.live.gallery import ABOUT, INDEX, file_name, save_gallery
from regard.views.page.inline import source_hash
from tests.views.page.test_axe import AXE, FINDINGS


@pytest.fixture(scope="module")
def folder(
    carried: dict[str, CarriedModel], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """A gallery of three models, and its index."""
    to = tmp_path_factory.mktemp("gallery")
    hostile = replace(carried["near"], name="<b>a+b</b>", examples=("</script><i>the dog",))
    save_gallery(to, [carried["bahdanau"], carried["encoder-decoder"], hostile])
    return to, (to / INDEX).read_text(encoding="utf-8")


def test_the_index_leads_to_every_page(folder: tuple[Path, str]) -> None:
    to, index = folder
    links = re.findall(r'href="([^"]*)"', index)
    assert links == ["bahdanau.html", "encoder-decoder.html", "-b-a-b--b-.html"]
    assert sorted(path.name for path in to.iterdir()) == sorted([*links, INDEX])
    for link in links:
        size = (to / link).stat().st_size
        assert f"{size / 1e6:.1f} MB, weights of " in index
        assert "worker-src blob:" in (to / link).read_text(encoding="utf-8")


def test_the_index_says_what_each_is_and_whose(folder: tuple[Path, str]) -> None:
    _, index = folder
    assert index.count("licence CC-BY 2.0 (France): the sentences are by the contributors") == 2
    assert index.count("ask them for the licence of weights and data") == 1
    assert "Können Sie mir helfen?" in index
    assert index.count('<img alt="" src="data:image/png;base64,') == 3
    assert "&lt;b&gt;a+b&lt;/b&gt;" in index
    assert "<i>" not in index
    assert {design for designs in DESIGNS.values() for design in designs} | {"bert"} == ABOUT.keys()


def test_the_index_runs_nothing_and_fetches_nothing(folder: tuple[Path, str]) -> None:
    _, index = folder
    assert "<script" not in index
    style = index.split("<style>")[1].split("</style>")[0]
    assert f"style-src {source_hash(style)};".replace("'", "&#x27;") in index
    assert re.findall(r'src="(?!data:)', index) == []


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not here: make script fetches it")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 390)])
def test_axe_finds_nothing(scheme: str, width: int, folder: tuple[Path, str], browser: Any) -> None:
    size = {"width": width, "height": 860}
    context = browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto((folder[0] / INDEX).as_uri())
    page.evaluate(AXE.read_text(encoding="utf-8"))
    assert page.evaluate(FINDINGS) == []
    context.close()


def test_a_file_has_a_name_that_every_host_takes() -> None:
    assert file_name("simple-rnn+attention") == "simple-rnn-attention.html"
    assert file_name("../a b") == "-a-b.html"
    assert file_name(BERT) == "minilm.html"


@pytest.mark.parametrize("names", [("near", "Near"), ("a+b", "a-b"), ("index",)])
def test_no_page_takes_the_place_of_another(
    names: tuple[str, ...], carried: dict[str, CarriedModel], tmp_path: Path
) -> None:
    models = [replace(carried["near"], name=name) for name in names]
    with pytest.raises(RegardError, match="each model of a gallery has its own file: ") as caught:
        save_gallery(tmp_path / "new", models)
    assert f"{names[-1]!r} would be {file_name(names[-1])}, which is there" in str(caught.value)
    assert not (tmp_path / "new").exists()
