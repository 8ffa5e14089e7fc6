"""Evaluation: how good a trained model is on text that it has not seen, as plain data."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from regard.errors import RegardError
from regard.models.images import ImageClassifier
from regard.models.reading import judge_sentence
from regard.models.translators.translation import Translation, translate_texts
from regard.store.folder import (
    RunFolder,
    load_classifier,
    load_forecaster,
    load_image_classifier,
    load_labeller,
    load_language_model,
    load_recommender,
    load_translator,
    load_word_labeller,
)
from regard.train.data.corpus import encode
from regard.train.data.examples import Examples
from regard.train.data.images import LabelledImages, read_images
from regard.train.data.labelled import check_labels, read_labelled
from regard.train.data.pairs import Pair, read_aligned, read_pairs
from regard.train.data.scenes import read_scenes
from regard.train.data.sentences import read_sentences
from regard.train.data.series import divided_series
from regard.train.data.sounds import read_sounds
from regard.train.data.states import divided_states
from regard.train.data.tagged import check_tags, read_tagged
from regard.train.data.thingconfig import (
    ImagesConfig,
    ScenesConfig,
    SeriesConfig,
    SoundsConfig,
    StatesConfig,
)
from regard.train.tasks.actscores import measure_actor
from regard.train.tasks.classify import Confusion, decide
from regard.train.tasks.forecast import errors_of, ways_of
from regard.train.tasks.images import DividedImages, Pictures, divided_images, said_of
from regard.train.tasks.labelpieces import divided_scenes, patch_pieces, step_pieces
from regard.train.tasks.labelscores import piece_scores, word_scores
from regard.train.tasks.metrics import bleu, by_length, chrf
from regard.train.tasks.perplexity import convention, score_text
from regard.train.tasks.ranking import BASELINES, FIRST, Mean, Ranks, ranked
from regard.train.tasks.recommend import Recommender, in_numbers, own_histories
from regard.train.tasks.rouge import copied, first_words, rouge_words
from regard.train.tasks.rouge import rouge as scores_of
from regard.train.tasks.sounds import divided_sounds

Figures = dict[str, Any]


def evaluate(folder: Path, name: str, **options: Any) -> Figures:
    """The figures of the model in a run folder, whose user calls it ``name``.

    Without a file among the options, of what its own training set aside to test on.
    """
    run = RunFolder(folder)
    return {"model": name, **MEASURES[run.read_config()["task"]](run, name, **options)}


def measure_translator(
    run: RunFolder,
    name: str,
    beam: int = 5,
    length_penalty: float = 1.0,
    rouge: bool = False,
    **files: Any,
) -> Figures:
    """BLEU and chrF, as a whole and by sentence length; ``rouge``: of summaries."""
    held = _pairs(run, name, **files)
    translator, tokens = load_translator(run.path)
    sources = [pair.source for pair in held.rows]
    references = [pair.target for pair in held.rows]
    options = {"beam": beam, "length_penalty": length_penalty}
    found = list(translate_texts(translator, tokens, sources, **options))
    said = [translation.text for translation in found]
    if rouge:
        own: Figures = {"sentences": len(sources), "empty": len(held.empty), "beam": beam}
        own |= _summaries(translator.config.model, sources, said, references)
        if translator.pointer is not None:
            own["summaries"][1]["pointer"] = _copy_share(found)
        return own
    return {
        "sentences": len(sources),
        "empty": len(held.empty),
        "beam": beam,
        "scores": [asdict(score(said, references)) for score in (bleu, chrf)],
        "by_length": [asdict(bucket) for bucket in by_length(sources, said, references)],
    }


def _summaries(name: str, texts: list[str], said: list[str], references: list[str]) -> Figures:
    """ROUGE of summaries, beside the first words of each text, as many as references have."""
    usual = round(sum(len(rouge_words(each)) for each in references) / len(references))
    ways = {
        f"the first {usual} words": [first_words(text, usual) for text in texts],
        name: said,
        "reference": references,
    }
    return {
        "summaries": [
            {
                "name": way,
                "rouge": None if own is references else scores_of(own, references),
                "words": sum(len(rouge_words(each)) for each in own) / len(own),
                "copied": copied(own, texts),
            }
            for way, own in ways.items()
        ]
    }


def _copy_share(found: list[Translation]) -> float:
    """How much of the words of all translations came through the pointer, on average."""
    shares = [share for each in found if each.copies is not None for share in each.copies.sum(-1)]
    return float(sum(shares)) / len(shares) if shares else 0.0


def _pairs(
    run: RunFolder,
    name: str,
    pairs: str | None = None,
    source: str | None = None,
    target: str | None = None,
    reverse: bool = False,
) -> Examples[Pair]:
    if pairs is not None and (source or target):
        raise RegardError("give --pairs or --source with --target, not both")
    if (source is None) != (target is None):
        raise RegardError("--source and --target go together")
    if source is not None and target is not None:
        return read_aligned(source, target)
    if pairs is not None:
        return read_pairs(pairs, 2, 1) if reverse else read_pairs(pairs)
    return read_pairs(_own(run.test, name, "pairs", "--pairs"))


def measure_language_model(
    run: RunFolder, name: str, text: str | None = None, column: int = 0
) -> Figures:
    """Perplexity, read as the model was trained: line by line or as a stream."""
    held = read_sentences(text or _own(run.test_text, name, "text", "--text"), column)
    data = run.read_config()["data"]
    model, tokens = load_language_model(run.path)
    score = score_text(
        model,
        tokens,
        [line.text for line in held.rows],
        continuous=data["continuous"],
        chunk=data["chunk"],
    )
    if not math.isfinite(score.loss):
        raise RegardError(f"{name!r} gives this text no probability: its weights are damaged")
    return {
        **asdict(score),
        "empty": len(held.empty),
        "perplexity": score.perplexity,
        "word_perplexity": score.word_perplexity,
        "convention": convention(score.continuous),
    }


def measure_classifier(
    run: RunFolder, name: str, data: str | None = None, show: int = 0
) -> Figures:
    """Accuracy, which label was taken for which, and the first sentences with what decided."""
    path = data or _own(run.test, name, "sentences", "--data")
    held = read_labelled(path)
    model, tokens = load_classifier(run.path)
    labels = list(model.config.labels)
    check_labels(held.rows, labels, path)
    found = decide(model, encode([row.text for row in held.rows], tokens))
    right = [labels.index(row.label) for row in held.rows]
    said = [int(d.logits.argmax()) for d in found]
    shown = [(row, judge_sentence(model, tokens, row.text)) for row in held.rows[:show]]
    return {
        "sentences": len(held.rows),
        "empty": len(held.empty),
        **_confused(labels, right, said),
        "shown": [
            {
                "label": row.label,
                "said": verdict.label,
                "words": verdict.words,
                "weights": verdict.weights.tolist(),
            }
            for row, verdict in shown
        ],
    }


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
    return _confused(labels, right, said_of(model, held.pixels))


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


def measure_labeller(run: RunFolder, name: str, data: str | None = None) -> Figures:
    """The share of words with the right label, beside what the word alone would say."""
    model, tokens, guesses = load_word_labeller(run.path)
    column = run.read_config()["data"]["column"]
    path = data or _own(run.test, name, "sentences", "--data")
    held = read_tagged(path, column if data else "")  # its own file has two columns
    check_tags(held.rows, model.config.labels, path)
    return word_scores(model, tokens, guesses, held.rows)


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


def _confused(labels: list[str], right: list[int], said: list[int]) -> Figures:
    confusion = Confusion.of(labels, right, said)
    return {
        "accuracy": confusion.accuracy,
        "commonest": confusion.commonest,
        "labels": labels,
        "confusion": confusion.counts.tolist(),
        "recall": confusion.recall(),
        "precision": confusion.precision(),
    }


MEASURES: dict[str, Callable[..., Figures]] = {
    "translate": measure_translator,
    "lm": measure_language_model,
    "classify": measure_classifier,
    "images": measure_images,
    "forecast": measure_forecaster,
    "recommend": measure_recommender,
    "sounds": measure_sounds,
    "label": measure_labeller,
    "label-images": measure_patches,
    "label-series": measure_steps,
    "act": measure_actor,
}


def _own(path: Path, name: str, what: str, option: str) -> Path:
    """The file that the model's own training set aside."""
    if not path.exists():
        raise RegardError(f"{name!r} has no test {what} of its own: give {option} FILE")
    return path
