"""Evaluation: how good a trained model is on what it has not seen, as plain data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from regard.store.folder import RunFolder
from regard.train.tasks import textmeasures as text
from regard.train.tasks import thingmeasures as things
from regard.train.tasks.actscores import measure_actor

Figures = dict[str, Any]

MEASURES: dict[str, Callable[..., Figures]] = {
    "translate": text.measure_translator,
    "lm": text.measure_language_model,
    "classify": text.measure_classifier,
    "label": text.measure_labeller,
    "images": things.measure_images,
    "sounds": things.measure_sounds,
    "forecast": things.measure_forecaster,
    "recommend": things.measure_recommender,
    "label-images": things.measure_patches,
    "label-series": things.measure_steps,
    "act": measure_actor,
}
"""What measures a model, by the task that it was trained for."""


def evaluate(folder: Path, name: str, **options: Any) -> Figures:
    """The figures of the model in a run folder, whose user calls it ``name``.

    Without a file among the options, of what its own training set aside to test on.
    """
    run = RunFolder(folder)
    return {"model": name, **MEASURES[run.read_config()["task"]](run, name, **options)}
