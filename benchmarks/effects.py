"""Does a weight, or what is derived from it, tell what a link or a head does to the output?

    python benchmarks/effects.py --pairs deu.txt.gz --model transformer [--sentences 500]
        [--state FILE] [--links 24] [--heads 36] [--words 100] [--threads N]

For every sentence (benchmarks/heldout.py: German for a translator, English for a language model;
the test side of the split) some links and some heads are drawn at random, taken away one at a time,
and the change of log p of what the model says is measured: a link between two tokens is masked in
all heads of all layers at once, its row shared out anew; a head's output becomes zeros. Beside it
stand, before anything was taken away:

    weight      of a link the sum of a over all heads; of a head what `regard ablate` shows
    norm        ‖a v W_O‖, of a link the sum over heads, of a head the sum over its links
    rollout     of a link, through all layers; a head has none
    gradient    |sum of a ∂y/∂a|, y = log p: of a link over heads, of a head over its links

Printed is Spearman's rank correlation with |change| in each sentence, its mean over sentences and
the standard error of that. ``--state`` keeps what was measured, a line a sentence; the same command
goes on from there.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from heldout import held_out
from torch import Tensor

from regard.inside.ablate.engine import Engine, engine
from regard.inside.ablate.loading import TrialOf, own_reading, text_reading
from regard.inside.ablate.measure import rank_correlation
from regard.inside.ablate.trial import AblationTrial
from regard.inside.ablate.variant import HeadAt, Variant
from regard.inside.ablate.weights import WordWeights
from regard.inside.measures.dense import dense_weights
from regard.inside.measures.gradient import GradientMeasure
from regard.inside.measures.norm import NormMeasure
from regard.inside.measures.outputs import find_outputs
from regard.inside.measures.rollout import RolloutMeasure
from regard.inside.observe.layer import ObservedLayer
from regard.inside.observe.observe import observe
from regard.inside.textmodel import load
from regard.store.shipped import is_own
from regard.text import Word

SEED = 1
MEASURES = ("weight", "norm", "rollout", "gradient")
Row = dict[str, float | None]


class Guesses:
    """All measures of one text: of links in the self-attention that reads it, and of heads."""

    def __init__(self, trial: AblationTrial, norm: NormMeasure) -> None:
        self.trial, self.norm = trial, norm
        self.part = trial.parts[0]
        self.gradient = GradientMeasure(trial.network, lambda: trial.score()[0])
        self.rollout, self.words = RolloutMeasure(), WordWeights(trial)
        self.links: dict[str, Tensor] = {}
        self.heads: dict[HeadAt, Row] = {}
        with torch.inference_mode(), observe(trial.network, each=self._add, values=True):
            trial.run(1)

    def _add(self, layer: ObservedLayer) -> None:
        item = layer.item()
        sizes = self.norm.sizes(layer.name, item)
        products = self.gradient.products(layer.kind, layer.part, layer.number, item)
        part = "cross" if layer.kind == "cross" else layer.part
        part = part if part in self.trial.parts else "self"
        for head in range(len(sizes)):
            place = HeadAt(part, layer.number, head)
            self.heads[place] = {
                "weight": self.words.of(Variant((place,)), None),
                "norm": float(sizes[head].sum()),
                "rollout": None,
                "gradient": abs(float(products[head].sum())),
            }
        if part != self.part:
            return
        rolled = self.rollout(layer).weights
        assert rolled is not None
        self.links["rollout"] = rolled[0]
        several = {"weight": dense_weights(item), "norm": sizes, "gradient": products}
        for name, found in several.items():
            self.links[name] = self.links.get(name, 0) + found.sum(0)

    def link(self, query: int, key: int) -> Row:
        return {name: abs(float(self.links[name][query, key])) for name in MEASURES}


def measured(trial: AblationTrial, norm: NormMeasure, counts: tuple[int, int]) -> dict[str, Any]:
    """What some links and heads of one text do, and what was to be guessed."""
    guesses, chance = Guesses(trial, norm), Random(SEED)
    with engine(trial) as running:
        links = list(_links(trial))
        links = chance.sample(links, min(counts[0], len(links)))
        heads = chance.sample(running.heads, min(counts[1], len(running.heads)))
        parts, how = (guesses.part,), {"renormalise": True}
        variants = [Variant((), _token(i), _token(j), parts, how) for i, j in links]
        variants += [Variant((head,), how={"by": "zero"}) for head in heads]
        changes = _changes(trial, running, variants)
    rows = [{"first": float(j == 0), **guesses.link(i, j)} for i, j in links]
    rows += [{"first": 0.0, **guesses.heads[head]} for head in heads]
    rows = [row | {"effect": abs(c)} for row, c in zip(rows, changes, strict=True)]
    return {"tokens": len(trial.pieces), "links": rows[: len(links)], "heads": rows[len(links) :]}


def _links(trial: AblationTrial) -> Iterator[tuple[int, int]]:
    special = trial.pieces.special
    for i in range(len(special)):
        for j in range(i if trial.looks_back else len(special)):
            if i != j and not (special[i] or special[j]):
                yield i, j


def _token(place: int) -> Word:
    return Word("", place, place + 1)


def _changes(trial: AblationTrial, running: Engine, variants: list[Variant]) -> list[float]:
    compared = trial.measured(running.base, "logprob")
    found = [0.0] * len(variants)
    for places, output in running.run(variants):
        for i, value in zip(places, compared.values(output).tolist(), strict=True):
            found[i] = value - compared.base
    return found


def table(texts: list[dict[str, Any]]) -> str:
    """Mean rank correlation ± standard error, a line a thing that is taken away."""
    kinds = {
        "link": [[row for row in text["links"]] for text in texts],
        "link, not to the first token": [
            [row for row in text["links"] if not row["first"]] for text in texts
        ],
        "head": [text["heads"] for text in texts],
    }
    lines = [f"{'':<30}" + "".join(f"{name:>15}" for name in MEASURES)]
    for kind, several in kinds.items():
        cells = []
        for name in MEASURES:
            found = [_correlation(rows, name) for rows in several]
            there = np.array([one for one in found if one is not None])
            error = there.std(ddof=1) / np.sqrt(len(there)) if len(there) > 1 else 0.0
            cells.append(f"{there.mean():.2f} ± {error:.2f}" if len(there) else "–")
        lines.append(f"{kind:<30}" + "".join(f"{cell:>15}" for cell in cells))
    return "\n".join(lines)


def _correlation(rows: list[Row], name: str) -> float | None:
    pairs = [(row[name], row["effect"]) for row in rows]
    there = [(a, b) for a, b in pairs if a is not None and b is not None]
    return rank_correlation([a for a, _ in there], [b for _, b in there])


def reading(name: str) -> TrialOf:
    return own_reading(name) if is_own(name) else text_reading(load(name, predicts=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", required=True, metavar="FILE")
    parser.add_argument("--model", default="transformer")
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--links", type=int, default=24, help="of a sentence (default 24)")
    parser.add_argument("--heads", type=int, default=36, help="of a sentence (default 36)")
    parser.add_argument("--words", type=int, default=100, help="at most in a sentence")
    parser.add_argument("--state", type=Path, metavar="FILE")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    pairs = held_out(given.pairs, "test", given.sentences, SEED, given.words)
    texts: list[dict[str, Any]] = []
    if given.state and given.state.exists():
        texts = [json.loads(line) for line in given.state.read_text().splitlines()]
    start, read, norm = time.process_time(), reading(given.model), NormMeasure({})
    for pair in pairs[len(texts) :]:
        trial = read(pair.source if is_own(given.model) else pair.target.rstrip(".!?"), None)
        if not norm.outputs:
            with torch.inference_mode():
                norm = NormMeasure(find_outputs(trial.network, partial(trial.run, 1)))
        texts.append(measured(trial, norm, (given.links, given.heads)))
        if given.state:
            with given.state.open("a") as file:
                file.write(json.dumps(texts[-1]) + "\n")
    spent = (time.process_time() - start) / 60
    tokens = sum(text["tokens"] for text in texts)
    print(f"{given.model}: {len(texts)} sentences, {tokens:,} tokens, seed {SEED}")
    print(
        f"{sum(len(t['links']) for t in texts):,} links, {sum(len(t['heads']) for t in texts):,} "
        f"heads; {spent:.1f} minutes of the processor in this run"
    )
    print(table(texts))


if __name__ == "__main__":
    main()
