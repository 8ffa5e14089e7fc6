"""Recurrent self-attention: the written-out gradient against a loop written from the equations.

    python benchmarks/recurrent.py [--rounds N] [--threads N] [--step]
    REGARD_KERNEL=off python benchmarks/recurrent.py --step          (without a compiler)

1. One training step (forward and backward, batch 64, length 64, hidden 300): the goal is a third
   of the time of the straightforward loop, which stacks the tape at each step, projects it, and
   leaves the gradient to autograd. A second loop keeps each word's key instead of projecting the
   tape anew. Both get our weights, and their outputs and gradients are compared first.
2. Memory of that step: the goal is no more than twice nn.LSTM's plus the tapes.
3. Words per second of training and reading at lengths 32, 128 and 512, and how the cost grows.

Exits with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

import torch
from goals import Goal, tell
from timing import format_seconds, interleaved
from torch import Tensor, nn

from regard.attention.kernel.library import kernel
from regard.cost.peak import peak_bytes
from regard.recurrent import LSTMN, SelfAttentiveRNN
from regard.recurrent.reader import Reader

BATCH, LENGTH, HIDDEN = 64, 64, 300
LENGTHS, FEWER = (32, 128, 512), 16
GOAL = 3.0
ROOM = 2 << 30
"""A loop that would keep more bytes than this for its gradient is left out."""

Run = Callable[[Tensor], Tensor]


class LoopLSTMN(nn.Module):
    """The LSTMN (Cheng, Dong & Lapata 2016, section 3.1), one line for each equation."""

    def __init__(self, like: LSTMN, keep_keys: bool) -> None:
        super().__init__()
        own: Any = like.parts()[0]
        self.hidden, self.keep_keys = like.hidden_size, keep_keys
        self.gates = linear(torch.cat((own.recurrent, own.inputs.weight), 1), own.inputs.bias)
        self.w_key, self.w_summary = linear(own.w_key), linear(own.w_summary)
        self.w_input, self.v = linear(own.w_input), linear(own.v.unsqueeze(0))

    def forward(self, x: Tensor) -> Tensor:
        old_h = old_c = x.new_zeros(x.shape[1], self.hidden)
        states: list[Tensor] = []
        cells: list[Tensor] = []
        keys: list[Tensor] = []
        for x_t in x.unbind():
            if states:
                h, c = torch.stack(states, 1), torch.stack(cells, 1)
                k = torch.stack(keys, 1) if self.keep_keys else self.w_key(h)
                q = self.w_input(x_t) + self.w_summary(old_h)
                a = self.v(torch.tanh(k + q.unsqueeze(1))).softmax(1).transpose(1, 2)
                old_h, old_c = (a @ h).squeeze(1), (a @ c).squeeze(1)
            i, f, g, o = self.gates(torch.cat((old_h, x_t), -1)).chunk(4, -1)
            cells.append(f.sigmoid() * old_c + i.sigmoid() * g.tanh())
            states.append(o.sigmoid() * cells[-1].tanh())
            if self.keep_keys:
                keys.append(self.w_key(states[-1]))
        return torch.stack(states)


class LoopSelfAttentive(nn.Module):
    """The simple RNN with self-attention, one line for each equation."""

    def __init__(self, like: SelfAttentiveRNN, keep_keys: bool) -> None:
        super().__init__()
        own: Any = like.parts()[0]
        self.hidden, self.keep_keys = like.hidden_size, keep_keys
        self.new = linear(torch.cat((own.inputs.weight, own.recurrent), 1), own.inputs.bias)
        self.w_key, self.w_query = linear(own.w_key), linear(own.w_query)
        self.v = None if own.v is None else linear(own.v.unsqueeze(0))

    def forward(self, x: Tensor) -> Tensor:
        c = x.new_zeros(x.shape[1], self.hidden)
        states: list[Tensor] = []
        keys: list[Tensor] = []
        for x_t in x.unbind():
            states.append(torch.tanh(self.new(torch.cat((x_t, c), -1))))
            if self.keep_keys:
                keys.append(self.w_key(states[-1]))
            h = torch.stack(states, 1)
            k = torch.stack(keys, 1) if self.keep_keys else self.w_key(h)
            q = self.w_query(states[-1])
            additive = None if self.v is None else self.v(torch.tanh(k + q.unsqueeze(1)))
            e = k @ q.unsqueeze(-1) if additive is None else additive
            c = (e.softmax(1).transpose(1, 2) @ h).squeeze(1)
        return torch.stack(states)


class Design(NamedTuple):
    """A network of ours, the loops that compute the same, and PyTorch's network without a tape."""

    name: str
    ours: Reader
    loop: Callable[..., nn.Module]
    plain: nn.RNNBase

    def runs(self) -> dict[str, tuple[nn.Module, Run]]:
        loops = {
            "straightforward loop": self.loop(self.ours, keep_keys=False),
            "loop that keeps keys": self.loop(self.ours, keep_keys=True),
        }
        return {name: (net, net) for name, net in loops.items()} | {
            f"nn.{type(self.plain).__name__}": (self.plain, lambda x: self.plain(x)[0]),
            "regard": (self.ours, lambda x: self.ours(x).output),
        }


def designs(hidden: int = HIDDEN) -> list[Design]:
    torch.manual_seed(0)
    dot = SelfAttentiveRNN(hidden, hidden, score="dot")
    additive, plain = SelfAttentiveRNN(hidden, hidden), nn.RNN(hidden, hidden)
    return [
        Design("LSTMN", LSTMN(hidden, hidden), LoopLSTMN, nn.LSTM(hidden, hidden)),
        Design("SimpleRNN + self-attention, additive", additive, LoopSelfAttentive, plain),
        Design("SimpleRNN + self-attention, dot", dot, LoopSelfAttentive, plain),
    ]


def linear(weight: Tensor, bias: Tensor | None = None) -> nn.Linear:
    made = nn.Linear(weight.shape[1], weight.shape[0], bias is not None, dtype=weight.dtype)
    with torch.no_grad():
        made.weight.copy_(weight)
        if bias is not None:
            made.bias.copy_(bias)
    return made


def training(net: nn.Module, run: Run, n: int, batch: int) -> Callable[[], None]:
    """One forward and backward pass, to the inputs too, as a network over embeddings needs."""
    x = torch.randn(n, batch, HIDDEN, requires_grad=True)
    grad = torch.randn(n, batch, HIDDEN)

    def step() -> None:
        net.zero_grad()
        x.grad = None
        run(x).backward(grad)

    return step


def reading(run: Run, n: int, batch: int) -> Callable[[], None]:
    x = torch.randn(n, batch, HIDDEN)

    def read() -> None:
        with torch.no_grad():
            run(x)

    return read


def check(design: Design) -> None:
    """Outputs and gradients of the loops are ours, in float64."""
    exact = design._replace(ours=deepcopy(design.ours).double())
    x, results = torch.randn(9, 4, HIDDEN, dtype=torch.float64, requires_grad=True), []
    for name, (_, run) in exact.runs().items():
        if not name.startswith("nn."):
            output = run(x)
            (grad,) = torch.autograd.grad(output.square().sum(), x)
            results.append((output.detach(), grad))
    for result in results[:-1]:
        for theirs, ours in zip(result, results[-1], strict=True):
            torch.testing.assert_close(theirs, ours, rtol=1e-9, atol=1e-9)


def compare_steps(every: list[Design], rounds: int) -> list[Goal]:
    print(f"Training step, batch {BATCH}, length {LENGTH}, hidden {HIDDEN}")
    print(f"  {'':<36} {'least':>9} {'median':>9}   regard is")
    goals = []
    for design in every:
        check(design)
        ways = {
            name: training(net, run, LENGTH, BATCH) for name, (net, run) in design.runs().items()
        }
        times = interleaved(ways, rounds=rounds, seconds=0)
        ours = times["regard"]
        print(f"  {design.name}")
        for name, time in times.items():
            ratio = time.least / ours.least
            if name == "straightforward loop":
                by = "" if kernel() else ", by PyTorch alone"
                what = f"training step of {design.name}{by}, as fast as the straightforward loop"
                goals.append(Goal(what, ratio, GOAL, " x"))
            print(
                f"    {name:<34} {format_seconds(time.least):>9} {format_seconds(time.median):>9} "
                f"{ratio:>7.2f} x"
            )
    return goals


def compare_memory(every: list[Design]) -> list[Goal]:
    print("\nMemory of that step, most bytes of tensors alive at once besides weights and inputs")
    goals = []
    lstm = peak_bytes(training(*every[0].runs()["nn.LSTM"], LENGTH, BATCH))
    for design in every:
        tapes = 4 * BATCH * LENGTH * HIDDEN * (3 if design.ours.has_cells else 2)
        limit = 2 * lstm + tapes
        peaks = {
            name: peak_bytes(training(net, run, LENGTH, BATCH))
            for name, (net, run) in design.runs().items()
        }
        what = f"memory of that step, {design.name} (twice nn.LSTM's and the tapes)"
        goals.append(Goal(what, peaks["regard"] / 1e6, round(limit / 1e6), " MB", most=True))
        print(f"  {design.name}: the limit is 2 x {lstm / 1e6:.0f} + {tapes / 1e6:.0f} MB")
        for name, peak in peaks.items():
            print(f"    {name:<34} {peak / 1e6:>9.0f} MB")
    return goals


def compare_lengths(every: list[Design], rounds: int) -> None:
    print(f"\nWords per second, batch {FEWER}, hidden {HIDDEN}; growth: time for one word at 512")
    print("against one at 32. A loop is left out where its gradient would keep too much.")
    header = "".join(f"{n:>10,}" for n in LENGTHS)
    for what in ("training", "reading"):
        print(f"  {what:<36} {header}   growth")
        for design in every:
            print(f"  {design.name}")
            speeds: dict[str, list[float]] = {name: [] for name in design.runs()}
            for n in LENGTHS:
                ways = {}
                for name, (net, run) in design.runs().items():
                    kept = FEWER * n * n / 2 * HIDDEN * 4 * 2 * ("loop" in name)
                    if what == "reading":
                        ways[name] = reading(run, n, FEWER)
                    elif kept < ROOM:
                        ways[name] = training(net, run, n, FEWER)
                times = interleaved(ways, rounds=max(2, rounds * 32 // n), seconds=0)
                for name, time in times.items():
                    speeds[name].append(FEWER * n / time.least)
            for name, words in speeds.items():
                cells = "".join(f"{speed:>10,.0f}" for speed in words)
                cells += "         —" * (len(LENGTHS) - len(words))
                growth = f"{words[0] / words[-1]:>8.1f}" if len(words) == len(LENGTHS) else ""
                print(f"    {name:<34} {cells} {growth}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10, help="turns of each way (default 10)")
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch's (default 1)")
    parser.add_argument("--step", action="store_true", help="the first part alone")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"torch {torch.__version__}, {options.threads} thread(s), float32, interleaved rounds\n")
    every = designs()
    if options.step:
        return tell(compare_steps(every[:2], options.rounds))
    goals = compare_steps(every, options.rounds) + compare_memory(every)
    compare_lengths(every, options.rounds)
    return tell(goals)


if __name__ == "__main__":
    raise SystemExit(main())
