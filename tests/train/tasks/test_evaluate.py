"""Evaluation: every task has its measure, and the figures say whose they are."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import regard.train.tasks
from regard.train.tasks.evaluate import MEASURES, evaluate
from regard.train.tasks.job import Job

SAVED = Path(__file__).parents[2] / "store" / "saved" / "run"


def test_the_figures_are_of_the_model_as_its_user_calls_it() -> None:
    figures = evaluate(SAVED, "mine")
    assert figures["model"] == "mine"
    assert {"perplexity", "sentences"} <= figures.keys()


def test_every_task_has_its_measure() -> None:
    for module in iter_modules(regard.train.tasks.__path__):
        import_module(f"regard.train.tasks.{module.name}")
    below = kinds(Job)  # type: ignore[type-abstract]
    own = [kind for kind in below if kind.__module__.startswith("regard.")]  # not of other tests
    tasks = {kind.task for kind in own if hasattr(kind, "task")}
    assert len(tasks) >= 11
    assert tasks == MEASURES.keys()


def kinds(of: type[Job]) -> Iterator[type[Job]]:  # type: ignore[type-arg]
    """All classes below one."""
    for kind in of.__subclasses__():
        yield kind
        yield from kinds(kind)
