"""Scores on the terminal: the figures of whatever was evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from regard.text import number_of, visible
from regard.views.terminal.confusion import print_confusion
from regard.views.terminal.reading import print_weighted


def print_scores(figures: Mapping[str, Any], console: Console) -> None:
    """Print what ``evaluate`` found; its keys say of which kind of model."""
    if "summaries" in figures:
        lines = summary_lines(figures)
    elif "scores" in figures:
        lines = translator_lines(figures)
    elif "perplexity" in figures:
        lines = language_lines(figures)
    elif "errors" in figures:
        lines = forecaster_lines(figures)
    elif "rankings" in figures:
        lines = ranking_lines(figures)
    elif "ways" in figures:
        lines = labeller_lines(figures)
    elif "accuracies" in figures:
        lines = actor_lines(figures)
    else:
        lines = classifier_lines(figures)
    console.print("\n".join(lines), markup=False, soft_wrap=True, highlight=False)
    if "confusion" in figures:
        print_decisions(figures, console)


def translator_lines(figures: Mapping[str, Any]) -> list[str]:
    """BLEU and chrF with their signatures, then by length."""
    lines = [f"{number_of(figures['sentences'], 'sentence')}, beam {figures['beam']}"]
    if figures["empty"]:
        lines.append(f"{number_of(figures['empty'], 'line')} left out: a side is empty")
    for score in figures["scores"]:
        lines.append(f"{score['name']:<6} {score['value']:6.2f}   {score['signature']}")
    lines += ["", "words in source   sentences    BLEU    chrF"]
    for b in figures["by_length"]:
        span = f"{b['least']}-{b['most']}" if b["most"] else f"{b['least']} and more"
        lines.append(f"{span:>15} {b['sentences']:>11} {b['bleu']:>7.2f} {b['chrf']:>7.2f}")
    return lines


def summary_lines(figures: Mapping[str, Any]) -> list[str]:
    """ROUGE of summaries beside that of the first words, their length, and what they copy."""
    rows = figures["summaries"]
    names = list(next(row["rouge"] for row in rows if row["rouge"]))
    pointer = any("pointer" in row for row in rows)
    titles = [*names, "words", "copied", *["pointer"] * pointer]
    lines = [f"{number_of(figures['sentences'], 'text')}, beam {figures['beam']}"]
    if figures["empty"]:
        lines.append(f"{number_of(figures['empty'], 'line')} left out: a side is empty")
    lines += ["", f"{'':<22}" + "".join(f"{title:>10}" for title in titles)]
    for row in rows:
        scores = [f"{row['rouge'][name]:.2f}" if row["rouge"] else "–" for name in names]
        cells = [*scores, f"{row['words']:.1f}", f"{row['copied']:.1%}"]
        cells += [f"{row['pointer']:.1%}" if "pointer" in row else "–"] * pointer
        lines.append(f"{row['name']:<22}" + "".join(f"{cell:>10}" for cell in cells))
    return [
        *lines,
        "",
        "ROUGE: F1 of words, of pairs, of the longest common sequence; small letters, no stemming",
        "copied: words of a summary that stand in its text too",
        *["pointer: the share of the words' probability that was copied"] * pointer,
    ]


def language_lines(figures: Mapping[str, Any]) -> list[str]:
    """Perplexity, and of what."""
    lines = [
        f"{number_of(figures['sentences'], 'line')}, {number_of(figures['tokens'], 'token')} with "
        "the ends of lines, "
        f"{figures['unknown'] / figures['tokens']:.2%} <unk>"
    ]
    if figures["empty"]:
        they = "it is" if figures["empty"] == 1 else "they are"
        lines.append(f"{number_of(figures['empty'], 'line')} left out: {they} empty")
    lines.append(f"perplexity {figures['perplexity']:.2f} per token")
    if figures["words"] != figures["tokens"]:
        lines.append(f"perplexity {figures['word_perplexity']:.2f} per word between spaces")
    return [*lines, figures["convention"]]


def ranking_lines(figures: Mapping[str, Any]) -> list[str]:
    """HR and NDCG of a recommender and of its baselines, with standard errors."""
    first, ahead = figures["first"], figures["ahead"]
    had = "those that a user had too" if figures["again"] else "but those that the user had"
    lines = [
        f"{number_of(figures['users'], 'user')}; all {figures['items']:,} items are ranked, {had}",
        "",
        f"{'':<24}{f'HR@{first}':>14}{f'NDCG@{first}':>18}",
    ]
    for each in figures["rankings"]:
        hr, ndcg = (f"{each[k]['value']:.3f} ± {each[k]['error']:.3f}" for k in ("hr", "ndcg"))
        lines.append(f"{each['name']:<24}{hr:>14}{ndcg:>18}")
    hr, ndcg = ahead["hr"], ahead["ndcg"]
    beaten = "beats it" if hr["value"] > 2 * hr["error"] else "does not clearly beat it"
    return [
        *lines,
        "",
        f"difference to {ahead['of']}, user by user: HR {hr['value']:+.3f} ± {hr['error']:.3f}, "
        f"NDCG {ndcg['value']:+.3f} ± {ndcg['error']:.3f}: {beaten}",
        "± is one standard error over users, of this one training run",
    ]


def classifier_lines(figures: Mapping[str, Any]) -> list[str]:
    """Accuracy, beside that of always saying the same."""
    what = next(name for name in ("images", "sounds", "sentences") if name in figures)
    lines = [number_of(figures[what], what.removesuffix("s"))]
    if figures.get("empty"):
        they = "it has" if figures["empty"] == 1 else "they have"
        lines.append(f"{number_of(figures['empty'], 'line')} left out: {they} no sentence")
    return [
        *lines,
        f"accuracy {100 * figures['accuracy']:.2f} %   "
        f"(always the commonest label: {100 * figures['commonest']:.2f} %)",
        "",
    ]


def labeller_lines(figures: Mapping[str, Any]) -> list[str]:
    """The share of right labels, the model's below those of guesses, and who is best."""
    ways, shares = figures["ways"], figures["shares"]
    whole = next(name for name in ("sentences", "images", "windows") if name in figures)
    heads = {"accuracy": "accuracy", **{key: key for key in shares}, "iou": "mean IoU", "f1": "F1"}
    shown = {key: title for key, title in heads.items() if any(key in way for way in ways)}
    lines = [
        f"{number_of(figures[whole], whole.removesuffix('s'))}, {figures['labelled']:,} "
        f"{figures['of']} with a label each",
        "",
        f"{'':<24}" + "".join(f"{title:>11}" for title in shown.values()),
    ]
    for way in ways:
        cells = (f"{100 * way[key]:.2f} %" if key in way else "–" for key in shown)
        lines.append(f"{way['name']:<24}" + "".join(f"{cell:>11}" for cell in cells))
    best = max(ways, key=lambda way: way["accuracy"])["name"]
    lines += ["", f"most labels right: {best}"]
    if "unknown" in shares:
        lines.append(f"unknown: {shares['unknown']:.1%} of the words, which training did not have")
    return [*lines, ""]


def actor_lines(figures: Mapping[str, Any]) -> list[str]:
    """The share of right actions; then what everyone got in an environment."""
    lines = [
        f"{number_of(figures['episodes'], 'episode')}, {number_of(figures['steps'], 'step')}",
        "",
        f"{'next action':<36}{'right':>10}",
        *(f"{each['name']:<36}{100 * each['accuracy']:>8.2f} %" for each in figures["accuracies"]),
    ]
    if "acted" not in figures:
        return [*lines, "", "what it gets when it acts: --environment NAME (such as CartPole-v1)"]
    first, last = figures["seeds"]
    lines += [
        "",
        f"return in {visible(figures['environment'])}, {number_of(figures['played'], 'episode')} "
        f"each (seeds {first} to {last}), mean ± standard error",
        "",
        f"{'':<36}{'actions drawn':>18}{'the likeliest':>18}",
        f"{'recorded (the episodes above)':<36}{_mean(figures['recorded']):>18}",
    ]
    for each in figures["acted"]:
        asked = "" if each["asked"] is None else f", asked for {each['asked']:g}"
        ways = [_mean(each[way]) if each[way] else "" for way in ("drawn", "likeliest")]
        lines.append(f"{each['name'] + asked:<36}{ways[0]:>18}{ways[1]:>18}".rstrip())
    return lines


def _mean(each: Mapping[str, float]) -> str:
    return f"{each['value']:.1f} ± {each['error']:.1f}"


def forecaster_lines(figures: Mapping[str, Any]) -> list[str]:
    """The errors of the model among those of its baselines, and who is best."""
    many = len(figures["channels"])
    lines = [
        f"{number_of(figures['windows'], 'window')} of {number_of(many, 'channel')} from "
        f"{visible(figures['first'])} to {visible(figures['last'])}: "
        f"{number_of(figures['context'], 'step')} read, {figures['horizon']:,} forecast",
        "",
        f"{'':<22}{'MSE':>9}{'MAE':>9}{'MASE':>9}",
    ]
    for row in figures["errors"]:
        mase = "–" if row["mase"] is None else f"{row['mase']:.3f}"
        lines.append(f"{row['name']:<22}{row['mse']:>9.4f}{row['mae']:>9.4f}{mase:>9}")
    best = min(figures["errors"], key=lambda row: row["mse"])["name"]
    return [*lines, "", f"least MSE: {best}"]


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
