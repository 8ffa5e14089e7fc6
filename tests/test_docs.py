"""Every Python sample of the README and of these pages runs; the paths through the pages hold."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

import regard
from regard.attention import MultiHeadAttention

ROOT = Path(__file__).parent.parent
PAGES = (
    "README.md",
    "docs/attention.md",
    "docs/explain.md",
    "docs/intervene.md",
    "docs/learn.md",
    "docs/map.md",
    "docs/observe.md",
    "docs/page.md",
    "docs/recurrent.md",
    "docs/trace.md",
)


def prepared() -> dict[str, Any]:
    """What a page's samples take for granted."""
    torch.manual_seed(0)
    return {
        "torch": torch,
        "regard": regard,
        "attention": MultiHeadAttention(512, 8),
        "query": torch.randn(2, 4, 8),
        "key": torch.randn(2, 5, 8),
        "value": torch.randn(2, 5, 3),
        "x": torch.randn(2, 3, 512),
        "memory": torch.randn(2, 5, 512),
        "lengths": torch.tensor([5, 2]),
        "nn_module": torch.nn.MultiheadAttention(8, 2),
        "tokens": [0, 1, 2],
        "embed": lambda token: torch.full((2, 1, 512), float(token)),
    }


@pytest.mark.parametrize("page", PAGES)
def test_samples_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    if 'find("minilm")' in text:
        request.getfixturevalue("minilm")
    samples = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert samples
    monkeypatch.chdir(tmp_path)  # some write files
    names = prepared()
    for sample in samples:
        exec(compile(sample, page, "exec"), names)


def paths() -> list[list[str]]:
    """The pages of each path of docs/index.md, in their order."""
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    parts = re.split(r"^## ", index, flags=re.MULTILINE)[1:]
    return [re.findall(r"\]\((\w+)\.md\)", part) for part in parts]


@pytest.mark.parametrize(
    "page", ["act", "forecast", "images", "label", "ocr", "recommend", "sounds", "summarise"]
)
def test_a_page_of_an_application_has_its_sections_in_the_same_order(page: str) -> None:
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## ([^:\n]*)", text, re.MULTILINE)
    order = ["The question", "The commands", "The picture", "The figures", "What it does not show"]
    assert sections[:5] == order
    between = dict(zip(order, re.split(r"^## .*$", text, flags=re.MULTILINE)[1:], strict=False))
    assert "regard " in between["The commands"]
    assert "![" in between["The picture"] or re.search(r"^(    |```)", between["The picture"], re.M)
    assert "|---" in between["The figures"]


def test_every_page_is_on_one_path() -> None:
    found = [page for path in paths() for page in path]
    assert sorted([*found, "index"]) == sorted(p.stem for p in (ROOT / "docs").glob("*.md"))


def test_every_page_leads_to_the_next_of_its_path() -> None:
    for path in paths():
        for page, after in zip(path, [*path[1:], "index"], strict=True):
            text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
            last = text.splitlines()[-1]
            assert last.startswith("Next: "), page
            assert f"]({after}.md" in last, page


@pytest.mark.parametrize(
    "page", ["README.md", *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", text)
    folder = (ROOT / page).parent
    assert [link for link in links if not (folder / link).exists()] == []


WRITTEN = [
    "README.md",
    "CONTRIBUTING.md",
    *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md")),
]


def is_there(name: str) -> bool:
    """Whether ``regard.a.b.c`` is a module, or something in one, however deep."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: Any = import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def test_what_is_looked_for_in_pages_is_seen() -> None:
    assert is_there("regard.train.run.loop.Loop.run")
    assert not is_there("regard.train.loop")
    assert not is_there("regard.attention.nothing")


@pytest.mark.parametrize("page", WRITTEN)
def test_names_and_paths_of_the_code_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    names = set(re.findall(r"(?<![\w/.-])regard(?:\.[A-Za-z_]\w*)+", text))
    assert [name for name in sorted(names) if not is_there(name)] == []
    paths = set(
        re.findall(r"(?<![\w.])(?:regard|tests|benchmarks|docs)(?:/[\w+-]+)+(?:\.\w+)?", text)
    )
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_the_walks_name_files_that_exist() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    walks = text.split("## Four walks")[1].split("\n## ")[0]
    files = re.findall(r"`((?:\w+/)+\w+\.\w+)`", walks)
    assert len(files) > 30
    assert [file for file in files if not (ROOT / "regard" / file).exists()] == []


@pytest.mark.parametrize(
    "folder", sorted(p.parent for p in (ROOT / "regard").rglob("__init__.py")), ids=lambda p: p.name
)
def test_a_folder_names_files_that_it_has(folder: Path) -> None:
    text = (folder / "__init__.py").read_text(encoding="utf-8").split('"""')[1]
    files = re.findall(r"(?<![\w/])\w+(?:\.py|/)(?=[\s,:;)(])", text)
    assert [file for file in files if not (folder / file).exists()] == []
