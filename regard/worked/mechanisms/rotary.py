"""Rotary positions: queries and keys are turned, and then attend."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from regard.attention.self_attention import MEANINGS, note_projection, note_turned
from regard.vectors.positions import Rotary
from regard.worked.example import Example
from regard.worked.mechanisms import attention
from regard.worked.stage import Known, Stage, Wrongly

TURNED = {"turned_queries": "queries", "turned_keys": "keys"}
LATER = ("scores", "scaled", "weights", "weighted_values", "context")


def run(example: Example) -> None:
    """Turn with :class:`Rotary`, then attend."""
    known = attention.given_steps(example)
    for name in MEANINGS:
        if name in known:
            note_projection(name, known[name], "given", apart=False)
    known |= {name: _turned(example, known[of]) for name, of in TURNED.items()}
    note_turned(known["turned_queries"], known["turned_keys"], cached=False)
    for stage in stages(example)[len(TURNED) :]:
        if stage.noted and all(need in known for need in stage.needs):
            known[stage.name] = stage.run(known)


def stages(example: Example) -> list[Stage]:
    """The turned queries and keys, then the steps of attention."""
    turned = [_stage(example, name) for name in TURNED]
    made = []
    for stage in attention.stages(attention_of(example)):
        if stage.name == "scores":
            made.append(stage._replace(needs=tuple(TURNED), run=_of_turned(stage)))
        elif stage.name in LATER:
            made.append(stage)
    return [*turned, *made]


def attention_of(example: Example) -> Example:
    """The attention of what is turned, as an example of its own."""
    return Example("scaled", example.tokens, dict(example.given), mask=example.mask)


def _of_turned(stage: Stage) -> Callable[[Known], Tensor]:
    def run_stage(known: Known) -> Tensor:
        return stage.run({**known, **{of: known[name] for name, of in TURNED.items()}})

    return run_stage


def _turned(example: Example, x: Tensor, *, shift: int = 0, other: bool = False) -> Tensor:
    interleaved = (example.option("pairs") == "neighbours") != other
    module = Rotary(x.shape[-1], base=example.option("base"), interleaved=interleaved)
    made: Tensor = module(x, example.option("first") + shift)
    return made


def _stage(example: Example, name: str) -> Stage:
    of = TURNED[name]
    return Stage(
        name,
        (of,),
        lambda k: _turned(example, k[of]),
        slips=(
            Wrongly("nothing is turned", lambda k: k[of]),
            Wrongly("positions are counted from 1, not from 0",
                    lambda k: _turned(example, k[of], shift=1)),
            Wrongly("the other pairs are turned: halves and neighbours are mixed up",
                    lambda k: _turned(example, k[of], other=True)),
        ),
    )  # fmt: skip
