"""One step of Bahdanau's decoder: it attends to the annotations, then renews its state."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from regard.models.translators.maxout import Maxout
from regard.record import leading, note
from regard.recurrent import GatedUnit
from regard.recurrent.gated import renew
from regard.worked.example import Example
from regard.worked.mechanisms import attention
from regard.worked.mechanisms.module import filled
from regard.worked.stage import Known, Stage, Wrongly, weights_of

GATES = {"update gate": "_z", "reset gate": "_r"}
ATTENTION = ("s", "h", "w_a", "u_a", "v_a")


def run(example: Example) -> None:
    """Attend, then run :class:`GatedUnit` and, if asked for, :class:`Maxout`."""
    known = weights_of(example)
    context = attention.run(attention_of(example))["context"]
    note(
        "word",
        known["y"],
        axes=("query", "width"),
        formula="E y_{i-1}",
        meaning="The vector of the word written before.",
    )
    unit = _unit(known)
    with leading("query"):
        unit.step(unit.inputs(known["y"]) + unit.context(context), known["s"])
    if example.option("readout") == "maxout":
        _readout(known)(known["s"], known["y"], context)


def stages(example: Example) -> list[Stage]:
    """Those of attention, then gates, candidate, state and readout."""
    made = [*attention.stages(attention_of(example)), *(_gate(name) for name in GATES)]
    return [*made, _candidate(), _state(), *_readout_stage(example)]


def attention_of(example: Example) -> Example:
    """The attention of the step, as an example of its own."""
    return Example(
        "additive",
        example.tokens,
        {name: example.given[name] for name in ATTENTION},
        layout=example.layout,
        mask=example.mask,
        memory_tokens=example.memory_tokens,
    )


def _unit(known: Known) -> GatedUnit:
    width, hidden = known["w"].shape
    zeros = known["w"].new_zeros(hidden)
    parts = ("_z", "_r", "")
    return filled(
        GatedUnit(width, hidden, context=known["c"].shape[0]),
        {
            "inputs.weight": torch.cat([known[f"w{p}"].mT for p in parts]),
            "inputs.bias": torch.cat([known.get(f"b{p}", zeros) for p in parts]),
            "context.weight": torch.cat([known[f"c{p}"].mT for p in parts]),
            "gates": torch.cat([known[f"u{p}"].mT for p in parts[:2]]),
            "candidate": known["u"].mT,
        },
    )


def _readout(known: Known) -> Maxout:
    """The paper pairs neighbours, the module its halves: the outputs are put in its order."""
    names = ("u_o", "v_o", "c_o")
    units = known["u_o"].shape[-1] // 2
    weights = {f"parts.{i}.weight": torch.cat((known[n].mT[::2], known[n].mT[1::2]))
               for i, n in enumerate(names)}  # fmt: skip
    module = Maxout(tuple(known[n].shape[0] for n in names), units)
    return filled(module, {**weights, "parts.0.bias": None})


def _projected(known: Known) -> tuple[GatedUnit, Tensor, Tensor]:
    """The unit, and what its gates and its candidate get from the word and the context."""
    unit = _unit(known)
    inputs = unit.inputs(known["word"]) + unit.context(known["context"])
    gates, candidate = inputs.split((2 * unit.hidden, unit.hidden), -1)
    return unit, gates, candidate


def _gate(name: str) -> Stage:
    part = GATES[name]

    def gate(known: Known) -> Tensor:
        unit, gates, _ = _projected(known)
        return unit.opened(gates, known["input"])[part == "_r"]

    def summed(known: Known) -> Tensor:
        y, s, c = (known[n] for n in ("word", "input", "context"))
        made: Tensor = y @ known[f"w{part}"] + s @ known[f"u{part}"] + c @ known[f"c{part}"]
        return made + known.get(f"b{part}", 0)

    return Stage(
        name,
        ("word", "input", "context"),
        gate,
        weights=tuple(f"{letter}{part}" for letter in "wucb"),
        slips=(
            Wrongly("tanh is taken for a sigmoid", lambda k: summed(k).tanh()),
            Wrongly("the sigmoid is forgotten", summed),
        ),
    )


def _candidate() -> Stage:
    def fresh(known: Known) -> Tensor:
        unit, _, candidate = _projected(known)
        return unit.proposed(candidate, known["reset gate"], known["input"])

    def reset_late(known: Known) -> Tensor:
        _, _, candidate = _projected(known)
        return torch.tanh(candidate + known["reset gate"] * (known["input"] @ known["u"]))

    def never_reset(known: Known) -> Tensor:
        unit, _, candidate = _projected(known)
        return unit.proposed(candidate, torch.ones_like(known["reset gate"]), known["input"])

    def summed(known: Known) -> Tensor:
        _, _, candidate = _projected(known)
        return candidate + (known["reset gate"] * known["input"]) @ known["u"]

    return Stage(
        "candidate",
        ("word", "input", "context", "reset gate"),
        fresh,
        weights=("w", "u", "c", "b"),
        slips=(
            Wrongly("the reset gate acts after the product with U, as in nn.GRU", reset_late),
            Wrongly("the reset gate is forgotten", never_reset),
            Wrongly("a sigmoid is taken for tanh", lambda k: summed(k).sigmoid()),
            Wrongly("tanh is forgotten", summed),
        ),
    )


def _state() -> Stage:
    def made(swapped: bool) -> Callable[[Known], Tensor]:
        def new(known: Known) -> Tensor:
            sides = [known["input"], known["candidate"]]
            old, fresh = sides[::-1] if swapped else sides
            return renew(old, fresh, known["update gate"])

        return new

    says = "z keeps the old state and 1 - z takes the candidate: the wrong way round"
    needs = ("input", "candidate", "update gate")
    return Stage("state", needs, made(False), slips=(Wrongly(says, made(True)),))


def _readout_stage(example: Example) -> list[Stage]:
    if example.option("readout") != "maxout":
        return []

    def read(known: Known) -> Tensor:
        made: Tensor = _readout(known)(known["input"], known["word"], known["context"])
        return made

    def halves(known: Known) -> Tensor:
        turned = {n: torch.cat(known[n].chunk(2, -1), -1) for n in ("u_o", "v_o", "c_o")}
        parts = [known["input"] @ turned["u_o"], known["word"] @ turned["v_o"]]
        before: Tensor = parts[0] + parts[1] + known["context"] @ turned["c_o"]
        return torch.maximum(*before.chunk(2, -1))

    slip = Wrongly("the halves are paired, not neighbours", halves)
    needs = ("input", "word", "context")
    return [Stage("readout", needs, read, weights=("u_o", "v_o", "c_o"), slips=(slip,))]
