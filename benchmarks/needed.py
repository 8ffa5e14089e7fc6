"""How many heads are needed? Heads removed in the order of their importance (Michel et al. 2019).

    python benchmarks/needed.py --pairs deu.txt.gz [--sentences 300] [--texts 30] [--png FILE]

The shipped Transformer translator (36 heads) and a language model (--language, smollm2: 270 heads).
The importance of a head is the mean of |change of log p| by its removal, over other sentences than
those that are then measured: of the translator, removed and measured (as `regard ablate --corpus`
does); of the language model, estimated by a backward pass (`--estimate`). The least important go
first; beside that, as many in a random order (mean of three). Measured on held-out sentences
(benchmarks/heldout.py): BLEU of greedy translations, and perplexity of the English sentences.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import defaultdict
from collections.abc import Callable
from random import Random
from typing import Any

import torch
from heldout import held_out

import regard
from regard.inside.ablate.engine import engine
from regard.inside.ablate.estimate import estimated
from regard.inside.ablate.loading import own_reading, text_reading
from regard.inside.ablate.trial import AblationTrial
from regard.inside.ablate.variant import HeadAt, Variant
from regard.inside.textmodel import TextModel, load
from regard.models.translators.translation import translate_texts
from regard.store.folder import load_translator
from regard.store.shipped import find_folder
from regard.train.data.pairs import Pair
from regard.train.tasks.metrics import bleu

SEED, DRAWS, STEPS = 1, 3, 12
Curve = list[tuple[int, float, list[float]]]
"""Heads removed, what is left without the least important, and without random ones."""


def exact(trial: AblationTrial) -> dict[HeadAt, float]:
    """The change of log p by the removal of each head."""
    with engine(trial) as running:
        compared = trial.measured(running.base, "logprob")
        variants = [Variant((head,), how={"by": "zero"}) for head in running.heads]
        found: dict[HeadAt, float] = {}
        for places, output in running.run(variants):
            values = compared.values(output).tolist()
            changes = zip(places, values, strict=True)
            found |= {running.heads[i]: value - compared.base for i, value in changes}
    return found


def ranked(changes: list[dict[HeadAt, float]]) -> list[HeadAt]:
    """The least important first."""
    total: dict[HeadAt, float] = defaultdict(float)
    for one in changes:
        for head, change in one.items():
            total[head] += abs(change)
    return sorted(total, key=lambda head: total[head])


def curve(heads: list[HeadAt], network: Any, measure: Callable[[], float]) -> Curve:
    """What is left with fewer and fewer heads."""
    orders = [Random(SEED + draw).sample(heads, len(heads)) for draw in range(DRAWS)]
    found: Curve = []
    for step in range(STEPS + 1):
        count = round(step * len(heads) / STEPS)
        same = count in (0, len(heads))
        values = [
            without(order[:count], network, measure) for order in [heads, *([] if same else orders)]
        ]
        found.append((count, values[0], values[1:] or values))
        others = sum(found[-1][2]) / len(found[-1][2])
        print(f"{count:>7}  {count / len(heads):>5.0%}  {values[0]:>12.2f}  {others:>12.2f}")
    return found


def without(heads: list[HeadAt], network: Any, measure: Callable[[], float]) -> float:
    with torch.inference_mode(), regard.intervene(network) as hands:
        for head in heads:
            hands.remove(head.layer, head.head, kind=head.part)
        return measure()


def of_translator(rank: list[Pair], test: list[Pair]) -> Curve:
    """BLEU of the shipped translator."""
    read = own_reading("transformer")
    heads = ranked([exact(read(pair.source, None)) for pair in rank])
    print(f"least important: {', '.join(f'{h.part} {h.layer}.{h.head}' for h in heads[:4])}")
    print(f"most important: {', '.join(f'{h.part} {h.layer}.{h.head}' for h in heads[:-5:-1])}")
    model, tokens = load_translator(find_folder("transformer"))
    sources, references = [p.source for p in test], [p.target for p in test]

    def measure() -> float:
        said = [t.text for t in translate_texts(model, tokens, sources, beam=1, words=False)]
        return bleu(said, references).value

    print("removed  share          BLEU   random order")
    return curve(heads, model, measure)


def of_language(model: TextModel, rank: list[str], test: list[str]) -> Curve:
    """Perplexity of a language model, over the tokens but the first of each sentence."""
    read = text_reading(model)
    heads = ranked([estimated(read(text, None), "logprob")[1] for text in rank])
    network: Any = model.network
    texts = [torch.tensor([model.read(text).ids]) for text in test]

    def measure() -> float:
        total = 0.0
        for ids in texts:
            logs = network(input_ids=ids, use_cache=False).logits[:, :-1].log_softmax(-1)
            total -= float(logs.gather(-1, ids[:, 1:, None]).sum())
        return math.exp(total / sum(ids.shape[1] - 1 for ids in texts))

    print("removed  share    perplexity   random order")
    return curve(heads, network, measure)


def draw(path: str, curves: dict[str, Curve]) -> None:
    """A panel a model: in the order of importance, and in random order with its draws."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    for axes, (what, found) in zip(figure.subplots(1, 2), curves.items(), strict=True):
        most = found[-1][0]
        shares = [100 * count / most for count, _, _ in found]
        axes.plot(shares, [value for _, value, _ in found], "o-", label="least important first")
        means = [sum(drawn) / len(drawn) for _, _, drawn in found]
        axes.plot(shares, means, "s--", label=f"random order, mean of {DRAWS}")
        for share, (_, _, drawn) in zip(shares, found, strict=True):
            axes.plot([share] * len(drawn), drawn, ".", color="gray", markersize=3)
        axes.set(xlabel=f"heads removed, per cent of {most}", ylabel=what.split(", ")[1])
        axes.set_title(what, fontsize=10)
        if "perplexity" in what:
            axes.set_yscale("log")
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", required=True, metavar="FILE")
    parser.add_argument("--sentences", type=int, default=300, help="to translate (default 300)")
    parser.add_argument("--texts", type=int, default=30, help="for perplexity (default 30)")
    parser.add_argument("--language", default="smollm2", metavar="MODEL")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--png", metavar="FILE", help="draw it")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    start = time.process_time()
    rank = held_out(given.pairs, "valid", 200, SEED)
    test = held_out(given.pairs, "test", given.sentences, SEED)
    print(f"transformer: ranked by {len(rank)} sentences, BLEU of {len(test)}, greedy")
    curves = {"transformer, BLEU": of_translator(rank, test)}
    few = [pair.target for pair in test[: given.texts]]
    some = [pair.target for pair in rank[: given.texts]]
    print(f"\n{given.language}: ranked by {len(some)} sentences, perplexity of {len(few)}")
    model = load(given.language, predicts=True)
    curves[f"{given.language}, perplexity"] = of_language(model, some, few)
    print(f"\nseed {SEED}, {(time.process_time() - start) / 60:.1f} minutes of the processor")
    if given.png:
        draw(given.png, curves)


if __name__ == "__main__":
    main()
