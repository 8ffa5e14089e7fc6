"""Forgetting, measured: a word is to be named again after a gap of n others.

    python benchmarks/recall.py [--seeds 3] [--updates 3000] [--picture docs/images/recall.png]

A text of random words, each with a mark (a colour, say); at the end one mark is shown, and the
network must name the word that had it:

    cup/red  dog/blue  sun/green  tea/blue  …  hat/green     ?/red  =     →  cup

The others are distractors of the same words and of the other marks. Nothing says before the end
which word will be wanted, so all must be kept. A gap is the number of words between the wanted one
and the question; up to 8 stand before it, so that its place is not known. A batch has one gap,
drawn from TRAINED; accuracy is measured on new texts, and at gaps that were never trained.

All networks have about the same number of weights, the same texts, optimiser and number of
updates. SimpleRNN and LSTM are the attentive ones with attention switched off, begun alike.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.recurrent import LSTMN, SelfAttentiveRNN
from regard.vectors.positions import sinusoidal

WORDS, MARKS = 16, 8
CHANCE = 1 / WORDS
TRAINED = (1, 2, 4, 8, 16)
TESTED = (*TRAINED, 32, 64, 128, 256)
LEAD = 8
"""At most so many words stand before the wanted one."""
WEIGHTS = 50_000
BATCH, RATE, CLIP = 32, 2e-3, 1.0
TEXTS = 1024
"""Texts of each gap that accuracy is measured on: one standard error is at most 1.6 points."""


def texts(gap: int, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """``count`` texts (n, count, 2) of words and marks with this gap, and the words asked for."""
    lead = int(torch.randint(0, LEAD + 1, (), generator=generator))
    n = lead + 1 + gap
    words = torch.randint(0, WORDS, (n + 2, count), generator=generator)
    marks = torch.randint(1, MARKS, (n + 2, count), generator=generator)
    asked = torch.randint(0, MARKS, (count,), generator=generator)
    marks[lead], marks[n] = 0, 0  # the wanted word is the only one with the mark asked for
    marks = (marks + asked) % MARKS
    words[n], words[n + 1], marks[n + 1] = WORDS, WORDS + 1, MARKS  # "?" and "="
    return torch.stack((words, marks), -1), words[lead].clone()


class Recurrent(nn.Module):
    """A network over (n, batch, width) that gives its states (n, batch, hidden)."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Tensor:
        states: Tensor = self.network(x)[0]
        return states


class Causal(nn.Module):
    """A Transformer of two layers in which each word sees those before it."""

    positions: Tensor

    def __init__(self, width: int, heads: int = 4) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, heads, 2 * width, dropout=0, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, nn.LayerNorm(width), False)
        self.register_buffer("positions", sinusoidal(LEAD + TESTED[-1] + 3, width).unsqueeze(1))

    def forward(self, x: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(len(x))
        states: Tensor = self.layers(x + self.positions[: len(x)], mask, is_causal=True)
        return states


class Recaller(nn.Module):
    """Words and marks → vectors → a network → which word."""

    def __init__(self, network: Callable[[int], nn.Module], hidden: int) -> None:
        super().__init__()
        self.words, self.marks = nn.Embedding(WORDS + 2, hidden), nn.Embedding(MARKS + 1, hidden)
        self.network, self.out = network(hidden), nn.Linear(hidden, WORDS)

    def forward(self, ids: Tensor) -> Tensor:
        """Scores (count, words) after the last token of ``ids`` (n, count, 2)."""
        x = self.words(ids[..., 0]) + self.marks(ids[..., 1])
        scores: Tensor = self.out(self.network(x)[-1])
        return scores


NETWORKS: dict[str, Callable[[int], nn.Module]] = {
    "SimpleRNN": lambda h: Recurrent(SelfAttentiveRNN(h, h, attention=False).to_torch()),
    "SimpleRNN + self-attention": lambda h: Recurrent(SelfAttentiveRNN(h, h)),
    "LSTM": lambda h: Recurrent(LSTMN(h, h, attention=False).to_torch()),
    "LSTMN": lambda h: Recurrent(LSTMN(h, h)),
    "Transformer": Causal,
}


def sized(network: Callable[[int], nn.Module]) -> Recaller:
    """The recaller whose number of weights is nearest to WEIGHTS; widths are multiples of 4."""
    made = [Recaller(network, hidden) for hidden in range(16, 200, 4)]
    return min(made, key=lambda net: abs(count(net) - WEIGHTS))


def count(net: nn.Module) -> int:
    return sum(parameter.numel() for parameter in net.parameters())


def train(net: Recaller, seed: int, updates: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(net.parameters(), lr=RATE)
    for _ in range(updates):
        gap = TRAINED[int(torch.randint(0, len(TRAINED), (), generator=generator))]
        ids, answers = texts(gap, BATCH, generator)
        optimiser.zero_grad()
        F.cross_entropy(net(ids), answers).backward()
        nn.utils.clip_grad_norm_(net.parameters(), CLIP)
        optimiser.step()


@torch.no_grad()
def accuracy(net: Recaller, gap: int, seed: int) -> float:
    """The share of words named rightly, in new texts, 64 at a time."""
    generator = torch.Generator().manual_seed(10_000 + seed)
    right = 0
    for _ in range(TEXTS // 64):
        ids, answers = texts(gap, 64, generator)
        right += int((net(ids).argmax(-1) == answers).sum())
    return right / TEXTS


def print_row(name: str, cells: list[float], note: str) -> None:
    print(
        f"{name:<28}" + "".join(f"{100 * cell:>6.1f}" for cell in cells) + f"  {note}", flush=True
    )


def draw(means: dict[str, list[float]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
    for (name, shares), marker in zip(means.items(), "osv^D", strict=False):
        axes.plot(TESTED, [100 * share for share in shares], marker=marker, label=name)
    axes.axhline(100 * CHANCE, color="grey", linestyle=":", label="chance")
    axes.axvspan(TRAINED[-1] * 1.4, TESTED[-1] * 1.15, color="grey", alpha=0.12, lw=0)
    axes.text(TRAINED[-1] * 1.5, 50, "never trained", color="grey")
    axes.set_xscale("log", base=2)
    axes.set_xticks(TESTED, [str(gap) for gap in TESTED])
    axes.set_xlabel("words between the wanted one and the question")
    axes.set_ylabel("named rightly, %")
    axes.set_ylim(0, 103)
    figure.legend(loc="outside right upper")
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3, help="0, 1 … of each network (default 3)")
    parser.add_argument("--updates", type=int, default=3000, help="of each run (default 3000)")
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch's (default 1)")
    parser.add_argument("--networks", nargs="+", metavar="NAME", default=list(NETWORKS))
    parser.add_argument("--picture", type=Path, help="a file to draw the result into")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(
        f"named rightly, %; chance {100 * CHANCE:.1f}; {options.updates} updates of {BATCH} texts"
    )
    print(f"{'gap':<28}" + "".join(f"{gap:>6}" for gap in TESTED))
    means: dict[str, list[float]] = {}
    began = time.process_time()
    for name in options.networks:
        found = []
        for seed in range(options.seeds):
            torch.manual_seed(seed)
            net, start = sized(NETWORKS[name]), time.process_time()
            train(net, seed, options.updates)
            found.append([accuracy(net, gap, seed) for gap in TESTED])
            print_row(f"  {name} {seed}", found[-1], f"{time.process_time() - start:.0f} s")
        means[name] = [mean(shares) for shares in zip(*found, strict=True)]
        print_row(name, means[name], f"{count(net):,} weights, width {net.out.in_features}")
    print(f"{time.process_time() - began:.0f} s of processor time")
    if options.picture:
        draw(means, options.picture)


if __name__ == "__main__":
    main()
