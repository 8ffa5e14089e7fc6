"""Do induction heads do induction? Remove them, and as many others, and see (Olsson et al. 2022).

    python benchmarks/induction.py [--model smollm2] [--texts N] [--length N] [--png FILE]

Random tokens, twice: the second time each token can be foretold from the first. Heads are ranked
by how much of their attention goes from a token to the one that followed it the first time
("induction" of `regard heads`). Then the first 1, 5, 10, 20 of them are removed, and as many others
at random, and the probability of the repeated token is measured over the second half.
"""

from __future__ import annotations

import argparse
from random import Random
from typing import Any

import torch
from torch import Tensor

import regard
from regard.inside.textmodel import load

COUNTS = (1, 5, 10, 20)
DRAWS = 5
SEED = 1
HeadPlace = tuple[int, int]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--texts", type=int, default=8, help="random texts (default 8)")
    parser.add_argument("--length", type=int, default=25, help="tokens before they repeat")
    parser.add_argument("--png", help="draw it")
    options = parser.parse_args()
    network: Any = load(options.model, predicts=True).network
    torch.manual_seed(SEED)
    half = torch.randint(1000, network.config.vocab_size, (options.texts, options.length))
    ids = torch.cat((half, half), 1)
    ranked = by_induction(network, ids)
    print(f"{options.model}: {options.texts} texts of {options.length} random tokens, twice")
    print("induction heads: " + "  ".join(f"L{a}H{b} {s:.2f}" for (a, b), s in ranked[:10]))
    base = repeated(network, ids, [])
    print(f"\nprobability of the repeated token: {base:.4f}\n")
    print("removed   induction heads   as many others (mean, least, most of 5 draws)")
    heads = [place for place, _ in ranked]
    rows = []
    for count in COUNTS:
        kept = heads[:count]
        others = heads[count:]
        chance = Random(SEED)
        found = repeated(network, ids, kept)
        drawn = [repeated(network, ids, chance.sample(others, count)) for _ in range(DRAWS)]
        mean = sum(drawn) / len(drawn)
        print(f"{count:>7}   {found:>15.4f}   {mean:.4f}  ({min(drawn):.4f} to {max(drawn):.4f})")
        rows.append((count, found, drawn))
    if options.png:
        draw(options.png, options.model, base, rows)
    return 0


@torch.inference_mode()
def by_induction(network: Any, ids: Tensor) -> list[tuple[HeadPlace, float]]:
    """The heads by the mean weight from a repeated token to what followed it the first time."""
    scores: dict[HeadPlace, float] = {}
    length = ids.shape[1] // 2
    rows = torch.arange(length, 2 * length - 1)

    def each(layer: Any) -> None:
        for head in range(layer.query.shape[1]):
            total = 0.0
            for batch in range(len(ids)):
                weights = layer.map(head, batch).dense()
                total += float(weights[rows, rows - length + 1].mean())
            scores[layer.number, head] = total / len(ids)

    with regard.observe(network, each=each):
        network(ids, use_cache=False)
    return sorted(scores.items(), key=lambda one: -one[1])


@torch.inference_mode()
def repeated(network: Any, ids: Tensor, removed: list[HeadPlace]) -> float:
    """The mean probability of the tokens of the second half but the first."""
    length = ids.shape[1] // 2
    with regard.intervene(network) as hands:
        for layer, head in removed:
            hands.remove(layer, head)
        logits = network(ids, use_cache=False).logits[:, length:-1]
    right = ids[:, length + 1 :].unsqueeze(-1)
    return float(logits.softmax(-1).gather(-1, right).mean())


def draw(path: str, model: str, base: float, rows: list[Any]) -> None:
    """Both lines, with the draws as dots."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 3.2), layout="constrained")
    axes = figure.subplots()
    counts = [0, *(count for count, _, _ in rows)]
    axes.plot(counts, [base, *(found for _, found, _ in rows)], "o-", label="induction heads")
    means = [base, *(sum(drawn) / len(drawn) for _, _, drawn in rows)]
    axes.plot(counts, means, "s--", label="as many others, mean")
    for count, _, drawn in rows:
        axes.plot([count] * len(drawn), drawn, ".", color="gray", markersize=3)
    axes.set_xlabel("heads removed")
    axes.set_xticks(counts)
    axes.set_ylabel("probability of the repeated token")
    axes.set_ylim(0, 1.1 * max(base, *(max(drawn) for _, _, drawn in rows)))
    axes.set_title(f"{model}: random tokens, twice", fontsize=10)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)  # no line runs through it
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    raise SystemExit(main())
