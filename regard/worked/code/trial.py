"""Trial: one case, what the function answered, and what is wrong with the answer."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.trace import Array
from regard.worked.code.candidate import Answer
from regard.worked.code.cases import VECTORS, Case, Slice
from regard.worked.code.mistakes import Mistake
from regard.worked.fields import times
from regard.worked.mechanisms.attention import SOURCES
from regard.worked.stage import weights_of
from regard.worked.stages import stages

DIGITS = 6
"""So many decimals of an answer are written into a worked example."""


class Trial(NamedTuple):
    """A case, what was answered, and the kind of fault: "" if none."""

    case: Case
    answer: Answer
    fault: str = ""
    detail: str = ""

    @property
    def name(self) -> str:
        return self.case.plan.name

    def has(self, circumstance: str) -> bool:
        return circumstance in self.case.plan.circumstances

    def agrees(self, mistake: Mistake) -> bool:
        """Whether the answer is what this mistake gives."""
        answer = self.answer
        own, other = answer.result, mistake.result
        if self.fault == "weights" and mistake.weights is not None:
            own, other = answer.weights, mistake.weights
        return own is not None and _alike(self.case, own, other)

    def example(self) -> dict[str, Any] | None:
        """The first slice that is wrong as a worked example; the answer stands as its claims."""
        case, answer = self.case, self.answer
        if answer.result is None or self.fault == "shape":
            return None
        whole = case.stacked(case.slices[0].last)
        index = next(
            (i for i in np.ndindex(case.plan.lead) if off(case, answer.result[i], whole[i]).any()),
            (0,) * len(case.plan.lead),
        )
        part = case.slices[int(np.ravel_multi_index(index, case.plan.lead)) if index else 0]
        content: dict[str, Any] = {"mechanism": case.mechanism}
        if case.heads > 1:
            content["heads"] = case.heads
        for key, value in part.example.given.items():
            content[key] = value.tolist()
        if part.example.matrices:
            content["layout"] = "columns-are-outputs"
        mask = part.example.mask
        if mask is not None:
            content["mask"] = "causal" if "causal" in mask else mask["matrix"].tolist()
        content["tolerance"] = 10 * 10.0**-DIGITS  # what is made of rounded numbers is not wrong
        content["claims"] = {}
        if answer.weights is not None and answer.weights.shape == case.stacked("weights").shape:
            content["claims"] |= _claims("weights", answer.weights[index])
        content["claims"] |= _claims(part.last, answer.result[index])
        return content


def try_answer(case: Case, answer: Answer, passed: dict[str, Any]) -> tuple[Trial, list[str]]:
    """What is wrong with an answer, and what is to be remarked."""
    if answer.error:
        return Trial(case, answer, "error", answer.error), []
    assert answer.result is not None
    right = case.stacked(case.slices[0].last)
    if answer.result.shape != right.shape:
        got, due = times(answer.result.shape) or "one number", times(right.shape)
        return Trial(case, answer, "shape", f"it returns {got}, and should return {due}"), []
    wrong = off(case, answer.result, right)
    empty = case.empty
    only_empty = empty is not None and wrong.any() and not wrong[~empty].any()
    if only_empty and not np.isfinite(answer.result).all():
        return Trial(case, answer, "empty"), []
    if only_empty:
        return Trial(case, answer), [ALIKE]
    if "large" in case.plan.circumstances and not np.isfinite(answer.result).all():
        return Trial(case, answer, "overflow"), []
    if wrong.any():
        return Trial(case, answer, "numbers"), []
    if answer.changed:
        return Trial(case, answer, "changed", " and ".join(answer.changed)), []
    return _weights(case, answer, passed)


ALIKE = (
    "A row that may attend to nothing gets equal weights here, as if nothing were masked (its "
    "scores are large negative numbers, not -inf); regard gives zeros."
)


def _weights(case: Case, answer: Answer, passed: dict[str, Any]) -> tuple[Trial, list[str]]:
    if answer.weights is not None and "weights" in case.slices[0].known:
        right = case.stacked("weights")
        if answer.weights.shape == right.shape:
            wrong = off(case, answer.weights, right)
            if case.empty is not None:  # what nobody may attend to was judged by the result
                wrong &= ~np.broadcast_to(_widened(case.empty, right), right.shape)
            if wrong.any():
                return Trial(case, answer, "weights"), []
    if "gradients" in case.plan.circumstances and answer.raw is not None:
        detail = _gradients(case, answer.raw, passed)
        if detail:
            return Trial(case, answer, "gradients", detail), []
    return Trial(case, answer), []


def _widened(empty: Array, like: Array) -> Array:
    """The rows of ``empty`` for each head and number."""
    wide: Array = empty[..., None]
    return wide if wide.ndim == like.ndim else np.expand_dims(wide, -3)


def _gradients(case: Case, result: Tensor, passed: dict[str, Any]) -> str:
    """What is wrong with the gradients; "" if nothing is."""
    if not result.requires_grad:
        return "no gradient comes through: the result is detached"
    share = torch.linspace(-1, 1, result.numel(), dtype=result.dtype).reshape(result.shape)
    (result * share).sum().backward()
    part = case.slices[0]
    for key, right in _right_gradients(part, share.reshape(part.known[part.last].shape)).items():
        own = passed[key].grad
        if own is None:
            return f"no gradient reaches {key}"
        if not torch.isfinite(own).all():
            return f"the gradient of {key} is NaN"
        if off(case, own.numpy().reshape(right.shape), right).any():
            return f"the gradient of {key} is wrong"
    return ""


def _right_gradients(part: Slice, share: Tensor) -> dict[str, Array]:
    example = part.example
    own = {k: torch.tensor(v, requires_grad=True) for k, v in example.given.items() if k in VECTORS}
    known = weights_of(example) | {SOURCES.get(k, k): v for k, v in own.items()}
    for stage in stages(example):
        if stage.noted and stage.name not in known and all(n in known for n in stage.needs):
            known[stage.name] = stage.run(known)
    (known[part.last] * share).sum().backward()
    return {k: v.grad.numpy() for k, v in own.items() if v.grad is not None}


def off(case: Case, value: Array, right: Array) -> Array:
    """Which numbers are not the right ones."""
    most = max(1.0, float(np.abs(right[np.isfinite(right)]).max(initial=0)))
    with np.errstate(invalid="ignore"):
        wrong: Array = ~(np.abs(value - right) <= case.tolerance * most)
    return wrong


def _alike(case: Case, value: Array, mistake: Array) -> bool:
    """Whether these are the mistake's numbers; a row of NaN may stand for one of zeros."""
    if value.shape != mistake.shape:
        return False
    nothing = ~np.isfinite(mistake) & ~np.isfinite(value)
    if np.isfinite(value).any():
        nothing |= ((mistake == 0) | ~np.isfinite(mistake)) & ~(np.abs(value) > 0)
    if case.empty is not None:  # such rows have faults of their own
        nothing = nothing | np.broadcast_to(_widened(case.empty, value), value.shape)
    return bool((~off(case, value, mistake) | nothing).all())


def _claims(step: str, value: Array) -> dict[str, Any]:
    """The numbers as claims; rows that hold NaN cannot be claimed."""
    if np.isfinite(value).all():
        return {step: value.astype(float).round(DIGITS).tolist()}
    rows = [i for i in np.ndindex(value.shape[:-1]) if np.isfinite(value[i]).all()]
    named = {i: step + "".join(f"[{n}]" for n in i) for i in rows}
    return {name: value[i].astype(float).round(DIGITS).tolist() for i, name in named.items()}
