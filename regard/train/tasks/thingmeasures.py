"""Measures of things that are no text: images, sounds, series, histories, and their labels."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from typing import Any

from regard.errors import RegardError
from regard.models.images import ImageClassifier
from regard.store.folder import (
    RunFolder,
    load_forecaster,
    load_image_classifier,
    load_labeller,
    load_recommender,
)
from regard.train.data.images import LabelledImages, read_images
from regard.train.data.scenes import read_scenes
from regard.train.data.series import divided_series
from regard.train.data.sounds import read_sounds
from regard.train.data.states import divided_states
from regard.train.data.thingconfig import (
    ImagesConfig,
    ScenesConfig,
    SeriesConfig,
    SoundsConfig,
    StatesConfig,
)
from regard.train.tasks.classify import Confusion
from regard.train.tasks.forecast import errors_of, ways_of
from regard.train.tasks.images import DividedImages, Pictures, divided_images, said_of
from regard.train.tasks.labelpieces import divided_scenes, patch_pieces, step_pieces
from regard.train.tasks.labelscores import piece_scores
from regard.train.tasks.ranking import BASELINES, FIRST, Mean, Ranks, ranked
from regard.train.tasks.recommend import Recommender, in_numbers, own_histories
from regard.train.tasks.sounds import divided_sounds

Figures = dict[str, Any]


def measure_images(run: RunFolder, name: str, images: str | None = None) -> Figures:
    """Accuracy of an image classifier, and which label was taken for which."""
    model = load_image_classifier(run.path)
    if images is None:
        data = ImagesConfig(**run.read_config()["data"])
        _check_there(name, data.images, "--images FILE")
        held = _unchanged(run, name, divided_images(data), data.images, "--images FILE")
    else:
        held = read_images(images)
    shape = (model.config.rows, model.config.columns, model.config.channels)
    _check_shape(held.pixels.shape[1:], shape, name)
    return {"images": len(held), **_of_pictures(model, held, name), "shown": []}


def _check_shape(got: tuple[int, ...], shape: tuple[int, int, int], name: str) -> None:
    if got != shape:
        raise RegardError(f"{name!r} reads images of {shape} (rows, columns, channels), got {got}")


def measure_sounds(run: RunFolder, name: str, sounds: str | None = None) -> Figures:
    """Accuracy of a sound classifier, and which label was taken for which."""
    model = load_image_classifier(run.path, "sounds")
    if sounds is None:
        data = SoundsConfig(**run.read_config()["data"])
        _check_there(name, data.sounds, "--sounds DIR")
        held = _unchanged(run, name, divided_sounds(data), data.sounds, "--sounds DIR")
    else:
        held = read_sounds(sounds, model.config.rows, model.config.columns)
    return {"sounds": len(held), **_of_pictures(model, held, name), "shown": []}


def _check_there(name: str, path: str | None, option: str) -> None:
    """Raise if what the model was trained on is not here, so that its test part cannot be read."""
    if path is None or not os.path.exists(path):
        raise RegardError(f"{name!r} was trained on {path!r}: give {option}")


def _unchanged(
    run: RunFolder, name: str, found: DividedImages[Pictures], path: str | None, option: str
) -> Pictures:
    """The test part of what the model was trained on, if it is still the same."""
    config = run.read_config()
    if found.digest != config["made"][config["task"].removeprefix("label-")]:
        raise RegardError(f"{path!r} has changed since {name!r} was trained on it: give {option}")
    return found.test


def _of_pictures(model: ImageClassifier, held: LabelledImages, name: str) -> Figures:
    labels = list(model.config.labels)
    _check_known(set(held.labels), labels, name)
    right = [labels.index(label) for label in held.labels]
    return Confusion.of(labels, right, said_of(model, held.pixels)).figures()


def _check_known(found: set[str], labels: list[str], name: str) -> None:
    strange = sorted(found - set(labels))
    if strange:
        raise RegardError(f"{name!r} knows no label {strange[0]!r}: it has {', '.join(labels)}")


def measure_recommender(run: RunFolder, name: str, history: str | None = None) -> Figures:
    """Where the last item of each user stands among all items, beside what the baselines say."""
    model, catalogue = load_recommender(run.path)
    corpus = in_numbers(own_histories(run, name, history), catalogue)
    most = run.read_config()["data"]["max_length"]
    scorers = {model.config.model: Recommender(model, most)} | {
        named: make(corpus.train, len(catalogue)) for named, make in BASELINES.items()
    }
    trials = corpus.trials(1)
    found = {named: ranked(each, trials, catalogue.again) for named, each in scorers.items()}
    own, *others = found.values()
    best = max(others, key=lambda ranks: ranks.hits.mean())
    return {
        "users": len(trials),
        "items": len(catalogue.items),
        "first": FIRST,
        "again": catalogue.again,
        "rankings": [{"name": named, **_ranking(ranks)} for named, ranks in found.items()],
        "ahead": {
            "of": next(named for named, ranks in found.items() if ranks is best),
            "hr": Mean.of(own.hits - best.hits)._asdict(),
            "ndcg": Mean.of(own.gains - best.gains)._asdict(),
        },
    }


def _ranking(ranks: Ranks) -> Figures:
    return {"hr": Mean.of(ranks.hits)._asdict(), "ndcg": Mean.of(ranks.gains)._asdict()}


def measure_forecaster(run: RunFolder, name: str, series: str | None = None) -> Figures:
    """MSE, MAE and MASE of a forecaster and of its baselines, on the last part of a series."""
    config = run.read_config()
    model, baselines = load_forecaster(run.path)
    shape = {"context": model.config.context, "horizon": model.config.horizon}
    data = SeriesConfig(**{**config["data"], **shape})
    if series is not None:
        data = replace(data, series=series)
    else:
        _check_there(name, data.series, "--series FILE")
    found = divided_series(data)
    if series is None and found.series.digest() != config["made"]["series"]:
        raise RegardError(
            f"{data.series!r} has changed since {name!r} was trained on it: give --series FILE"
        )
    clock = found.series.clock
    baselines = replace(baselines, season=found.season)
    return {
        "windows": len(found.starts("test")),
        "channels": found.series.channels,
        "first": clock.name(found.test),
        "last": clock.name(len(clock) - 1),
        **shape,
        "season": found.season,
        "errors": [asdict(each) for each in errors_of(found, ways_of(model, baselines))],
    }


def measure_patches(run: RunFolder, name: str, images: str | None = None) -> Figures:
    """The share of patches with the right label, beside what a patch alone would say."""
    model, guesses = load_labeller(run.path, "label-images")
    labels, side = list(model.config.labels), model.config.patch
    if images is None:
        data = ScenesConfig(**run.read_config()["data"])
        _check_there(name, data.images, "--images FILE")
        divided = divided_scenes(data).images
        held = _unchanged(run, name, divided, data.images, "--images FILE")
    else:
        held = read_scenes(images)
        _check_known(held.kinds(), labels, name)
    rows, columns = model.config.places // model.config.columns, model.config.columns
    shape = (rows * side, columns * side, model.config.channels)
    _check_shape(held.pixels.shape[1:], shape, name)
    part = patch_pieces(held, side, labels)
    scored = piece_scores(model, guesses, part, "the patch alone, linear")
    return {"images": len(held), "of": "patches", **scored}


def measure_steps(run: RunFolder, name: str, series: str | None = None) -> Figures:
    """The share of steps with the right state, beside what the numbers of a step alone say."""
    config = run.read_config()
    model, guesses = load_labeller(run.path, "label-series")
    data = StatesConfig(**config["data"])
    if series is None:
        _check_there(name, data.series, "--series FILE")
    found = divided_states(data, series)
    if series is None and found.digest() != config["made"]["series"]:
        raise RegardError(
            f"{data.series!r} has changed since {name!r} was trained on it: give --series FILE"
        )
    _check_known(set(found.states), list(model.config.labels), name)
    starts = found.starts("test")
    part = step_pieces(found, model.config.labels, starts)
    scored = piece_scores(model, guesses, part, "the step alone, linear")
    return {"windows": len(starts), "of": "steps", **scored}
