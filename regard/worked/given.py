"""Given: what a worked example is computed from, as plain data for another program.

The page computes examples from this (``script/worked``), as ``mechanisms`` does here.
"""

from __future__ import annotations

from typing import Any

from regard.trace import Trace
from regard.worked.example import Example
from regard.worked.stages import attention_in


def given_data(example: Example, trace: Trace) -> dict[str, Any]:
    """Its arrays as written and how to read them, its numbers, and what holds for all of it.

    ``trace`` is what was computed from it: there its mask is a matrix, whatever its rules.
    """
    numbers = given_numbers(example)
    attends = (attention_in(example) or (example, ""))[0].dialect
    mask = next((step.value.tolist() for step in trace if step.name == "mask"), None)
    return {
        "mechanism": example.mechanism,
        "layout": example.layout,
        "heads": example.heads,
        "keyHeads": example.heads_of("keys"),
        "query": example.dialect.query,
        "memory": example.dialect.memory,
        "projects": attends.projects,
        "scaled": attends.scaled,
        "positions": example.positions is not None,
        "mask": mask,
        "arrays": {name: value.tolist() for name, value in example.given.items()},
        "turned": [name for name in example.given if _is_turned(example, name)],
        "numbers": numbers,
        "options": {n: example.option(n) for n in example.dialect.options if n not in numbers},
    }


def given_numbers(example: Example) -> dict[str, float]:
    """The single numbers that are computed with; those that count something are no such."""
    found = {"d_k": example.d_k, "scale": example.scale}
    for name, kind in example.dialect.options.items():
        if not kind.choices and not kind.whole:
            found[name] = example.option(name)
    return {name: value for name, value in found.items() if value is not None}


def _is_turned(example: Example, name: str) -> bool:
    return example.layout == "rows-are-outputs" and example.is_matrix(name)
