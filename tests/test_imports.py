"""Imports go one way, and a class name means one thing. Read from the sources: imports inside
functions and those for types alone count like all others.

What stands higher is known by what stands lower, never the other way round; every folder has its
row. The one exception is ``show.py``, the door through which objects show themselves.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import regard

ROOT = Path(regard.__file__).parent
BASE = {"errors", "files", "record", "text", "trace"}
PARTS = BASE | {"attention", "pieces", "vectors", "recurrent"}
KNOWS: dict[str, set[str]] = {
    "errors": set(),
    "files": {"errors"},
    "text": {"errors"},
    "trace": {"errors", "files", "text", "show"},
    "record": {"trace"},
    "attention": BASE | {"show"},
    "pieces": BASE,
    "vectors": BASE | {"pieces"},
    "recurrent": BASE | {"attention"},
    "models": PARTS,
    "store": PARTS | {"models"},
    "train": PARTS | {"models", "store"},
    "inside": PARTS | {"models", "store", "show"},
    "worked": PARTS | {"models"},
    "cost": PARTS | {"models"},
    "learn": PARTS | {"models", "store", "inside", "worked"},
    "doctor": BASE | {"attention"},
    "views": BASE | {"pieces", "attention"},
    "show": BASE | {"pieces", "attention", "views"},
    "live": PARTS | {"models", "store", "inside", "views"},
    "web": PARTS | {"models", "store", "inside", "learn", "views"},
    "cli": PARTS
    | {"models", "store", "train", "inside", "worked", "cost", "learn", "doctor", "views"}
    | {"show", "web", "live"},
    "__main__": {"cli"},
    "__init__": PARTS | {"inside", "worked"},
}
"""Each folder or file of regard, and the others that it may import."""
HEAVY = {"torch", "numpy", "transformers", "matplotlib", "gensim"}


def imports(path: Path) -> Iterator[str]:
    """The full names of the modules that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            assert node.level == 0, f"{path}: write imports out in full"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def part(name: str) -> str:
    """The folder (or file) of regard that a module belongs to."""
    return name.split(".")[1] if "." in name else "__init__"


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def within(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def known(path: Path) -> set[str]:
    """The parts of regard that a file imports, itself and ``regard`` alone left out."""
    names = {name for name in imports(path) if name.startswith("regard.")}
    return {part(name) for name in names} & KNOWS.keys() - {within(path)}


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
    assert {"regard.cli", "regard.cli.main", "typing", "hidden"} <= set(imports(tmp_path / "m.py"))


def test_every_folder_has_its_row() -> None:
    assert {within(path) for path in modules()} == KNOWS.keys()


def test_no_two_folders_know_each_other() -> None:
    above: dict[str, set[str]] = {name: set() for name in KNOWS}
    for name, others in KNOWS.items():
        above[name] |= others - {"show"}
    for _ in KNOWS:  # what is known of what is known
        for others in above.values():
            others |= {further for other in others for further in above[other]}
    assert [name for name, others in above.items() if name in others] == []


def module_name(path: Path) -> str:
    return ".".join(("regard", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(
        ".__init__"
    )


def test_no_two_modules_need_each_other() -> None:
    """Modules that need none that is left, or that none needs, are taken away; the rest are rings.

    What stands below needs show.py, and through it the views, only when somebody looks.
    """
    names = {module_name(path): path for path in modules()}
    left = {
        name: (set(imports(path)) & names.keys()) - {name, "regard", "regard.show"}
        for name, path in names.items()
    }
    while free := {
        name
        for name, needed in left.items()
        if not needed & left.keys() or not any(name in others for others in left.values())
    }:
        left = {name: needed for name, needed in left.items() if name not in free}
    assert sorted(left) == []


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    assert known(path) - KNOWS[within(path)] == set()


def test_views_know_of_attention_its_map_alone() -> None:
    known = {
        name
        for path in (ROOT / "views").rglob("*.py")
        for name in imports(path)
        if name.startswith("regard.attention") and not name.startswith("regard.attention.map.")
    }
    assert known == {"regard.attention.map"}


def test_a_class_name_means_one_thing() -> None:
    homes = defaultdict(list)
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(str(path.relative_to(ROOT)))
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


@pytest.mark.parametrize("module", ["regard", "regard.cli", "regard.errors", "regard.record"])
def test_importing_stays_light(module: str) -> None:
    script = f"import {module}, sys; print(*({HEAVY!r} & sys.modules.keys()))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == []


def test_views_are_imported_only_to_show_something_and_sympy_never() -> None:
    script = (
        "import regard.attention.map, regard.inside.observe.observe, regard.trace, sys, torch; "
        "x, mask = torch.ones(2, 3, 5, 7), torch.ones(2, 1, 5, 5, dtype=torch.bool); "
        "regard.attend(x, x[:1], x[:, :1], mask=mask); "
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert "regard.views" not in done.stdout
    assert "sympy" not in done.stdout, "some functions of torch import it: a third of a second"


def test_trace_works_without_torch() -> None:
    script = "import regard.trace, sys; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "False\n"


def test_looking_does_not_import_what_is_trained() -> None:
    script = (
        "import regard.inside.look.look, regard.train.run.stop, sys; "
        "print(*(m for m in sys.modules if m.startswith(('regard.models', 'regard.train.config'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert "regard.models.translators" not in done.stdout.split(), "a twentieth of a second"
    assert "regard.train.config" not in done.stdout.split()
