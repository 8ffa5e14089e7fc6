"""Forgetting, measured: a word is to be named again after a gap of n others.

    python benchmarks/recall.py [--seeds 3] [--most 30000] [--state recall.jsonl]
        [--picture docs/images/recall.png]

A text of random words, each with a mark (a colour, say); at the end one mark is shown, and the
network must name the word that had it:

    cup/red  dog/blue  sun/green  tea/blue  …  hat/green     ?/red  =     →  cup

The others are distractors of the same words and of the other marks. Nothing says before the end
which word will be wanted, so all must be kept. A gap is the number of words between the wanted one
and the question; up to 8 stand before it, so that its place is not known. A batch has one gap,
drawn from TRAINED; accuracy is measured on new texts, and at gaps that were never trained.

All networks have about the same number of weights, the same texts and optimiser, and one rule for
when they are done: every 500 updates they are tried on new texts of the trained gaps; one that
names 99 % has learned the task, and one that was not better by a point for 5,000 updates has
stopped. ``--most`` ends what does neither. SimpleRNN and LSTM are the attentive ones with attention
switched off, begun alike. With ``--state`` each finished network is kept, and not trained again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import MultiHeadAttention, causal
from regard.recurrent import LSTMN, SelfAttentiveRNN
from regard.vectors.positions import Rotary, sinusoidal

WORDS, MARKS = 16, 8
CHANCE = 1 / WORDS
TRAINED = (1, 2, 4, 8, 16)
TESTED = (*TRAINED, 32, 64, 128, 256)
LEAD = 8
"""At most so many words stand before the wanted one."""
WEIGHTS = 50_000
BATCH, RATE, CLIP, WARM = 32, 2e-3, 1.0, 500
"""The step size rises over the first WARM updates, and stays."""
EVERY, LEARNED, BETTER, PATIENCE = 500, 0.99, 0.01, 5000
"""When a network is done: see above."""
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


class Layer(nn.Module):
    """y = x + attention(norm x);  y + W_2 relu(W_1 norm y)"""

    def __init__(self, width: int, heads: int, rotary: Rotary | None) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(width, heads, rotary=rotary)
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.inner = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU())
        self.outer = nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = x + self.attention(self.before(x), mask=causal())[0]
        added: Tensor = self.outer(self.inner(self.between(y)))
        return y + added


class Causal(nn.Module):
    """A Transformer of two layers in which each word sees itself and those before it."""

    positions: Tensor

    def __init__(self, width: int, rotary: bool, heads: int = 4) -> None:
        super().__init__()
        turned = Rotary(width // heads) if rotary else None
        layers = [Layer(width, heads, turned) for _ in range(2)]
        self.layers = nn.Sequential(*layers, nn.LayerNorm(width))
        length = LEAD + TESTED[-1] + 3
        added = torch.zeros(length, width) if rotary else sinusoidal(length, width)
        self.register_buffer("positions", added)

    def forward(self, x: Tensor) -> Tensor:
        states: Tensor = self.layers(x.transpose(0, 1) + self.positions[: len(x)])
        return states.transpose(0, 1)


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
    "Transformer, sinusoidal": lambda h: Causal(h, rotary=False),
    "Transformer, rotary": lambda h: Causal(h, rotary=True),
}


def sized(network: Callable[[int], nn.Module]) -> Recaller:
    """The recaller whose number of weights is nearest to WEIGHTS; widths are multiples of 8."""
    made = [Recaller(network, hidden) for hidden in range(16, 200, 8)]
    return min(made, key=lambda net: abs(count(net) - WEIGHTS))


def count(net: nn.Module) -> int:
    return sum(parameter.numel() for parameter in net.parameters())


def train(net: Recaller, seed: int, most: int) -> int:
    """Train until the task is learned or nothing more is; the number of updates."""
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(net.parameters(), lr=RATE)
    warm = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda t: min(1.0, (t + 1) / WARM))
    best, since = 0.0, 0
    for update in range(1, most + 1):
        gap = TRAINED[int(torch.randint(0, len(TRAINED), (), generator=generator))]
        ids, answers = texts(gap, BATCH, generator)
        optimiser.zero_grad()
        F.cross_entropy(net(ids), answers).backward()
        nn.utils.clip_grad_norm_(net.parameters(), CLIP)
        optimiser.step()
        warm.step()
        if update % EVERY == 0:
            now = mean(accuracy(net, gap, 20_000 + seed, 128) for gap in TRAINED)
            if now >= best + BETTER:
                best, since = now, update
            if now >= LEARNED or update - since >= PATIENCE:
                return update
    return most


@torch.no_grad()
def accuracy(net: Recaller, gap: int, seed: int, count: int = TEXTS) -> float:
    """The share of words named rightly, in new texts, 64 at a time."""
    generator = torch.Generator().manual_seed(10_000 + seed)
    right = 0
    for _ in range(count // 64):
        ids, answers = texts(gap, 64, generator)
        right += int((net(ids).argmax(-1) == answers).sum())
    return right / count


@dataclass(frozen=True)
class Found:
    """What one trained network does."""

    name: str
    seed: int
    weights: int
    updates: int
    seconds: float
    """Of the processor, for its training and its measurement."""
    shares: list[float]
    """Named rightly, at each gap of TESTED."""


def found(name: str, seed: int, most: int) -> Found:
    """Train one network and measure it."""
    start = time.process_time()
    torch.manual_seed(seed)
    net = sized(NETWORKS[name])
    updates = train(net, seed, most)
    shares = [accuracy(net, gap, seed) for gap in TESTED]
    return Found(name, seed, count(net), updates, time.process_time() - start, shares)


def recalled(path: Path | None) -> dict[tuple[str, int], Found]:
    """What an earlier start has found."""
    if path is None or not path.exists():
        return {}
    kept = [Found(**json.loads(line)) for line in path.read_text().splitlines()]
    return {(one.name, one.seed): one for one in kept}


def format_row(name: str, shares: Sequence[float], note: str) -> str:
    return f"{name:<28}" + "".join(f"{100 * share:>6.1f}" for share in shares) + f"  {note}"


def format_mean(name: str, of: Sequence[Found]) -> str:
    """The mean over seeds, with the updates that each took."""
    updates = ", ".join(f"{one.updates:,}" for one in of)
    return format_row(name, means(of), f"{of[0].weights:,} weights; {updates} updates")


def means(of: Sequence[Found]) -> list[float]:
    return [mean(shares) for shares in zip(*(one.shares for one in of), strict=True)]


def draw(shares: dict[str, list[float]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
    for (name, row), marker in zip(shares.items(), "osv^DP", strict=False):
        axes.plot(TESTED, [100 * share for share in row], marker=marker, label=name)
    axes.axhline(100 * CHANCE, color="grey", linestyle=":", label="chance")
    axes.axvspan(TRAINED[-1] * 1.4, TESTED[-1] * 1.15, color="grey", alpha=0.12, lw=0)
    axes.text(TRAINED[-1] * 1.5, 22, "never trained", color="grey")
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
    parser.add_argument("--most", type=int, default=30_000, help="updates of a run (30000)")
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch's (default 1)")
    parser.add_argument("--networks", nargs="+", metavar="NAME", default=list(NETWORKS))
    parser.add_argument("--state", type=Path, help="a file to keep what is found, line by line")
    parser.add_argument("--picture", type=Path, help="a file to draw the result into")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"named rightly, %; chance {100 * CHANCE:.1f}; updates of {BATCH} texts")
    print(f"{'gap':<28}" + "".join(f"{gap:>6}" for gap in TESTED))
    kept = recalled(options.state)
    for seed in range(options.seeds):
        for name in options.networks:
            if (name, seed) not in kept:
                one = kept[name, seed] = found(name, seed, options.most)
                if options.state:
                    with options.state.open("a") as file:
                        file.write(json.dumps(asdict(one)) + "\n")
            one = kept[name, seed]
            note = f"{one.updates:,} updates, {one.seconds:.0f} s"
            print(format_row(f"{name} {seed}", one.shares, note), flush=True)
    groups = {n: [kept[n, seed] for seed in range(options.seeds)] for n in options.networks}
    for name, of in groups.items():
        print(format_mean(name, of))
    print(f"{sum(one.seconds for of in groups.values() for one in of):.0f} s of processor time")
    if options.picture:
        draw({name: means(of) for name, of in groups.items()}, options.picture)


if __name__ == "__main__":
    main()
