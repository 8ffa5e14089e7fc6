"""Imports go one way. Read from the sources, those inside functions included.

    attention, embed  <-  recurrent  <-  models  <-  train

``pretrained`` knows attention, embed, models and the base; ``trace`` knows NumPy only; ``views``
know traces and the interface of the attention map; nothing but themselves imports ``cli`` or
``web``.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import regard

ROOT = Path(regard.__file__).parent
LAYERS = [{"attention", "embed"}, {"recurrent"}, {"models"}, {"train"}]
BASE = {"errors", "files", "record", "text", "trace"}
SHOWN = {"attention/map.py", "pretrained/observation.py", "pretrained/page.py", "trace/trace.py"}
"""Objects that show themselves: their methods import a view when they are called."""
HEAVY = {"torch", "numpy", "transformers", "matplotlib", "gensim"}


def imports(path: Path) -> Iterator[str]:
    """The full names of the modules that a file imports, but not those for the types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in _running(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports out in full"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _running(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield from _running(other)
        else:
            yield child
            yield from _running(child)


def part(name: str) -> str:
    """The folder (or file) of regard that a module belongs to."""
    return name.split(".")[1] if "." in name else ""


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def within(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def ours(path: Path) -> set[str]:
    shown = path.is_relative_to(ROOT) and str(path.relative_to(ROOT)) in SHOWN
    names = {name for name in imports(path) if name.split(".")[0] == "regard"}
    return {name for name in names if not (shown and part(name) == "views")}


def params(*parts: str) -> pytest.MarkDecorator:
    chosen = [p for p in modules() if within(p) in parts]
    return pytest.mark.parametrize("path", chosen, ids=lambda p: str(p.relative_to(ROOT)))


def test_the_reader_of_imports_sees_them(tmp_path: Path) -> None:
    source = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import hidden
def f():
    with open("x"):
        from regard.cli import main
"""
    (tmp_path / "m.py").write_text(source)
    assert {"regard.cli", "regard.cli.main", "typing"} <= set(imports(tmp_path / "m.py"))
    assert "hidden" not in set(imports(tmp_path / "m.py"))


@params("attention", "embed", "recurrent", "models", "train")
def test_a_layer_knows_those_below_it(path: Path) -> None:
    level = next(i for i, layer in enumerate(LAYERS) if within(path) in layer)
    above = {name for layer in LAYERS[level + 1 :] for name in layer} | {"views"}
    assert not {name for name in ours(path) if part(name) in above}


@params("pretrained")
def test_pretrained_knows_the_models(path: Path) -> None:
    known = {"attention", "embed", "models", "pretrained"}
    assert {part(name) for name in ours(path)} - BASE <= known


@params("attention", "embed", "recurrent", "models", "train")
def test_the_bricks_do_not_know_pretrained(path: Path) -> None:
    assert not {name for name in ours(path) if part(name) == "pretrained"}


@params(*BASE)
def test_the_base_knows_only_itself(path: Path) -> None:
    assert {part(name) for name in ours(path)} <= BASE


@params("trace")
def test_trace_knows_numpy_only(path: Path) -> None:
    allowed = sys.stdlib_module_names | {"numpy", "regard"}
    assert {name.split(".")[0] for name in imports(path)} <= allowed
    assert {part(name) for name in ours(path)} <= {"trace", "errors", "files", "text"}


@params("views")
def test_views_know_traces_and_the_map_only(path: Path) -> None:
    known = ("views", "trace", "errors", "files", "text")
    other = {name for name in ours(path) if part(name) not in known}
    assert {name for name in other if not name.startswith("regard.attention.map")} == set()
    assert "torch" not in {name.split(".")[0] for name in imports(path)}


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_imports_the_command_line_or_the_web(path: Path) -> None:
    foreign = {"cli", "web"} - {within(path)}
    if within(path) == "__main__":  # python -m regard is the command line
        foreign = {"web"}
    if within(path) == "cli":  # one of its commands starts the explorer
        foreign = set()
    assert not {name for name in ours(path) if part(name) in foreign}


@pytest.mark.parametrize("module", ["regard", "regard.cli", "regard.errors", "regard.record"])
def test_importing_stays_light(module: str) -> None:
    script = f"import {module}, sys; print(*({HEAVY!r} & sys.modules.keys()))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == []


def test_views_are_imported_only_to_show_something() -> None:
    script = (
        "import regard.attention.map, regard.pretrained, regard.trace, sys; print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert "regard.views" not in done.stdout


def test_trace_works_without_torch() -> None:
    script = "import regard.trace, sys; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "False\n"
