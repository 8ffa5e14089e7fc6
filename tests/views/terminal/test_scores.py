"""Figures of each kind of model, as lines."""

from __future__ import annotations

import io

from rich.console import Console

from regard.views.terminal.scores import print_scores


def printed(figures: dict[str, object]) -> str:
    stream = io.StringIO()
    print_scores(figures, Console(file=stream, width=80))
    return stream.getvalue()


def test_a_translator() -> None:
    bucket = {"least": 31, "most": None, "sentences": 2, "bleu": 7.0, "chrf": 30.5}
    text = printed(
        {
            "sentences": 3,
            "empty": 1,
            "beam": 5,
            "scores": [{"name": "BLEU", "value": 31.25, "signature": "nrefs:1"}],
            "by_length": [{**bucket, "least": 6, "most": 10}, bucket],
        }
    )
    assert text.splitlines() == [
        "3 sentences, beam 5",
        "1 line left out: a side is empty",
        "BLEU    31.25   nrefs:1",
        "",
        "words in source   sentences    BLEU    chrF",
        "           6-10           2    7.00   30.50",
        "    31 and more           2    7.00   30.50",
    ]


def test_a_language_model() -> None:
    figures: dict[str, object] = {
        "sentences": 1200,
        "tokens": 4000,
        "words": 2000,
        "unknown": 10,
        "empty": 0,
        "perplexity": 14.18,
        "word_perplexity": 99.5,
        "convention": "[each line]",
    }
    assert printed(figures).splitlines() == [
        "1,200 lines, 4,000 tokens with the ends of lines, 0.25% <unk>",
        "perplexity 14.18 per token",
        "perplexity 99.50 per word between spaces",
        "[each line]",
    ]
    assert "per word" not in printed({**figures, "words": 4000})


def test_a_classifier() -> None:
    shown = {"label": "yes", "said": "no", "words": ["a"], "weights": [1.0]}
    text = printed(
        {
            "sentences": 5,
            "empty": 0,
            "accuracy": 0.6,
            "commonest": 0.8,
            "labels": ["no", "yes"],
            "confusion": [[3, 1], [1, 0]],
            "recall": [0.75, 0.0],
            "precision": [0.75, None],
            "shown": [shown],
        }
    )
    assert text.startswith("5 sentences\naccuracy 60.00 %   (always the commonest label: 80.00 %)")
    assert "true \\ said" in text
    assert "no (it is yes)" in text


def test_summaries() -> None:
    scores = {"ROUGE-1": 26.27, "ROUGE-2": 10.22, "ROUGE-L": 23.94}
    rows = [
        {"name": "the first 7 words", "rouge": scores, "words": 7.0, "copied": 1.0},
        {"name": "reference", "rouge": None, "words": 6.5, "copied": 0.705},
    ]
    text = printed({"sentences": 3, "empty": 1, "beam": 5, "summaries": rows})
    assert text.splitlines()[:6] == [
        "3 texts, beam 5",
        "1 line left out: a side is empty",
        "",
        "                         ROUGE-1   ROUGE-2   ROUGE-L     words    copied",
        "the first 7 words          26.27     10.22     23.94       7.0    100.0%",
        "reference                      –         –         –       6.5     70.5%",
    ]


def test_the_share_of_a_pointer_stands_beside() -> None:
    scores = {"ROUGE-1": 30.0, "ROUGE-2": 10.0, "ROUGE-L": 25.0}
    row = {"rouge": scores, "words": 7.0, "copied": 0.875}
    rows = [{"name": "the first 7 words", **row}, {"name": "bahdanau", **row, "pointer": 0.625}]
    text = printed({"sentences": 3, "empty": 0, "beam": 5, "summaries": rows})
    assert text.splitlines()[2:5] == [
        "                         ROUGE-1   ROUGE-2   ROUGE-L     words    copied   pointer",
        "the first 7 words          30.00     10.00     25.00       7.0     87.5%         –",
        "bahdanau                   30.00     10.00     25.00       7.0     87.5%     62.5%",
    ]
    assert "pointer: the share of the words' probability that was copied" in text


def test_a_labeller() -> None:
    ways = [
        {"name": "commonest label", "accuracy": 0.25, "known": 0.25},
        {"name": "lstmn", "accuracy": 0.75, "known": 1.0, "unknown": 0.5, "f1": 0.125},
    ]
    figures: dict[str, object] = {
        "sentences": 1000,
        "of": "words",
        "labelled": 4000,
        "ways": ways,
        "shares": {"known": 0.5, "unknown": 0.5},
        "labels": ["a", "b"],
        "confusion": [[3, 0], [1, 0]],
        "recall": [1.0, 0.0],
        "precision": [0.75, None],
        "shown": [],
    }
    lines = printed(figures).splitlines()
    assert lines[:7] == [
        "1,000 sentences, 4,000 words with a label each",
        "",
        "                           accuracy      known    unknown         F1",
        "commonest label             25.00 %    25.00 %          –          –",
        "lstmn                       75.00 %   100.00 %    50.00 %    12.50 %",
        "",
        "most labels right: lstmn",
    ]
    assert lines[7] == "unknown: 50.0% of the words, which training did not have"
    assert "true \\ said" in "\n".join(lines)
