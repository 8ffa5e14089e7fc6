"""Scores on the terminal: the figures of a translator, a language model or a classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from regard.text import visible
from regard.views.terminal.confusion import print_confusion
from regard.views.terminal.reading import print_weighted


def print_scores(figures: Mapping[str, Any], console: Console) -> None:
    """Print what ``evaluate`` found; its keys say of which kind of model."""
    if "scores" in figures:
        lines = translator_lines(figures)
    elif "perplexity" in figures:
        lines = language_lines(figures)
    else:
        lines = classifier_lines(figures)
    console.print("\n".join(lines), markup=False, soft_wrap=True, highlight=False)
    if "confusion" in figures:
        print_decisions(figures, console)


def translator_lines(figures: Mapping[str, Any]) -> list[str]:
    """BLEU and chrF with their signatures, then by length."""
    lines = [f"{figures['sentences']} sentences, beam {figures['beam']}"]
    if figures["empty"]:
        lines.append(f"{figures['empty']} lines left out: a side is empty")
    for score in figures["scores"]:
        lines.append(f"{score['name']:<6} {score['value']:6.2f}   {score['signature']}")
    lines += ["", "words in source   sentences    BLEU    chrF"]
    for b in figures["by_length"]:
        span = f"{b['least']}-{b['most']}" if b["most"] else f"{b['least']} and more"
        lines.append(f"{span:>15} {b['sentences']:>11} {b['bleu']:>7.2f} {b['chrf']:>7.2f}")
    return lines


def language_lines(figures: Mapping[str, Any]) -> list[str]:
    """Perplexity, and of what."""
    lines = [
        f"{figures['sentences']:,} lines, {figures['tokens']:,} tokens with the ends of lines, "
        f"{figures['unknown'] / figures['tokens']:.2%} <unk>"
    ]
    if figures["empty"]:
        lines.append(f"{figures['empty']:,} lines left out: they are empty")
    lines.append(f"perplexity {figures['perplexity']:.2f} per token")
    if figures["words"] != figures["tokens"]:
        lines.append(f"perplexity {figures['word_perplexity']:.2f} per word between spaces")
    return [*lines, figures["convention"]]


def classifier_lines(figures: Mapping[str, Any]) -> list[str]:
    """Accuracy, beside that of always saying the same."""
    what = next(name for name in ("images", "sounds", "sentences") if name in figures)
    lines = [f"{figures[what]:,} {what}"]
    if figures.get("empty"):
        lines.append(f"{figures['empty']:,} lines left out: they have no sentence")
    return [
        *lines,
        f"accuracy {100 * figures['accuracy']:.2f} %   "
        f"(always the commonest label: {100 * figures['commonest']:.2f} %)",
        "",
    ]


def print_decisions(figures: Mapping[str, Any], console: Console) -> None:
    """Which label was taken for which; then single sentences with the words that decided."""
    print_confusion(
        figures["labels"], figures["confusion"], figures["recall"], figures["precision"], console
    )
    for each in figures["shown"]:
        said, label = visible(each["said"]), visible(each["label"])
        verdict = f"\n{said}" + ("" if said == label else f" (it is {label})")
        console.print(verdict, markup=False, soft_wrap=True, highlight=False)
        print_weighted(each["words"], each["weights"], console)
