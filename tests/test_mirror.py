"""Tests mirror modules: each module that holds logic has a test file of its name, at its place."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
ELSEWHERE = {
    "__init__.py": "test_exports.py",  # a test file named after __init__ would tell nobody
    "cli/__init__.py": "cli/test_main.py",
}
"""Modules whose tests have another name, and why."""


def holds_logic(module: Path) -> bool:
    """Whether a function in it does something: a docstring or ``...`` alone only declares."""
    functions = (
        node
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return any(
        not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))
        for function in functions
        for line in function.body
    )


def test_each_module_that_holds_logic_has_its_tests() -> None:
    modules = [path for path in (ROOT / "regard").rglob("*.py") if holds_logic(path)]
    assert len(modules) > 150
    missing = []
    for module in modules:
        place = module.relative_to(ROOT / "regard")
        usual = place.with_name(f"test_{place.name}").as_posix()
        tests = ROOT / "tests" / ELSEWHERE.get(place.as_posix(), usual)
        if not tests.exists() or "def test_" not in tests.read_text(encoding="utf-8"):
            missing.append(f"{place} has no {tests.relative_to(ROOT)}")
    assert missing == []
