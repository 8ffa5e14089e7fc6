"""Measures of text: translators, language models, classifiers and labellers of words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from regard.errors import RegardError
from regard.models.reading import judge_sentence
from regard.models.translators.together import judged_texts
from regard.models.translators.translation import Translation, translate_texts
from regard.store.folder import (
    RunFolder,
    load_classifier,
    load_language_model,
    load_translator,
    load_word_labeller,
)
from regard.train.data.config import LABELLED, SIDES, TEXT, named_columns
from regard.train.data.corpus import encode
from regard.train.data.examples import Examples
from regard.train.data.labelled import check_labels, read_labelled
from regard.train.data.pairs import Pair, read_aligned, read_pairs
from regard.train.data.sentences import read_sentences
from regard.train.data.tagged import check_tags, read_tagged
from regard.train.tasks.classify import Confusion, decide
from regard.train.tasks.labelscores import word_scores
from regard.train.tasks.metrics import bleu, by_length, chrf
from regard.train.tasks.perplexity import convention, score_text
from regard.train.tasks.rouge import copied, first_words, rouge_words
from regard.train.tasks.rouge import rouge as scores_of

Figures = dict[str, Any]


def measure_translator(
    run: RunFolder,
    name: str,
    beam: int = 5,
    length_penalty: float = 1.0,
    rouge: bool = False,
    beside: Sequence[Path] = (),
    **files: Any,
) -> Figures:
    """BLEU and chrF, as a whole and by sentence length; ``rouge``: of summaries.

    ``beside``: the folders of other models, with which it speaks together.
    """
    if rouge and beside:
        raise RegardError("--rouge is of the summaries of one model: leave --with out")
    held = _pairs(run, name, **files)
    translator, tokens = load_translator(run.path)
    sources = [pair.source for pair in held.rows]
    references = [pair.target for pair in held.rows]
    options: dict[str, Any] = {"beam": beam, "length_penalty": length_penalty}
    found: list[Translation] = []
    if beside:
        speakers = [(translator, tokens), *map(load_translator, beside)]
        said = [judged[0].text for judged in judged_texts(speakers, sources, **options)]
    else:
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
    columns: str | None = None,
) -> Examples[Pair]:
    if pairs is not None and (source or target):
        raise RegardError("give --pairs or --source with --target, not both")
    if (source is None) != (target is None):
        raise RegardError("--source and --target go together")
    if source is not None and target is not None:
        return read_aligned(target, source) if reverse else read_aligned(source, target)
    if columns is not None and pairs is None:
        raise RegardError("--columns are of a table: give --pairs FILE")
    if pairs is not None:
        names = list(named_columns(columns, *SIDES).values())
        names = names[::-1] if reverse else names
        return read_pairs(pairs, *((2, 1) if reverse else (1, 2)), columns=names)
    return read_pairs(_own(run.test, name, "pairs", "--pairs"))


def measure_language_model(
    run: RunFolder, name: str, text: str | None = None, column: int = 0, columns: str | None = None
) -> Figures:
    """Perplexity, read as the model was trained: line by line or as a stream."""
    if column and columns:
        raise RegardError("--columns names the column: leave --column out")
    place = named_columns(columns, *TEXT).get("text", column)
    held = read_sentences(text or _own(run.test_text, name, "text", "--text"), place)
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
    run: RunFolder, name: str, data: str | None = None, show: int = 0, columns: str | None = None
) -> Figures:
    """Accuracy, which label was taken for which, and the first sentences with what decided."""
    path = data or _own(run.test, name, "sentences", "--data")
    held = read_labelled(path, list(named_columns(columns, *LABELLED).values()))
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
        **Confusion.of(labels, right, said).figures(),
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


def measure_labeller(run: RunFolder, name: str, data: str | None = None) -> Figures:
    """The share of words with the right label, beside what the word alone would say."""
    model, tokens, guesses = load_word_labeller(run.path)
    column = run.read_config()["data"]["column"]
    path = data or _own(run.test, name, "sentences", "--data")
    held = read_tagged(path, column if data else "")  # its own file has two columns
    check_tags(held.rows, model.config.labels, path)
    return word_scores(model, tokens, guesses, held.rows)


def _own(path: Path, name: str, what: str, option: str) -> Path:
    """The file that the model's own training set aside."""
    if not path.exists():
        raise RegardError(f"{name!r} has no test {what} of its own: give {option} FILE")
    return path
