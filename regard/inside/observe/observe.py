"""observe(): see the attention of a model while it runs as always.

The model's fused kernel computes the output; only queries, keys and the rule between them are kept,
and weights are computed where somebody looks. Or, if statistics are asked for, regard's kernel
computes the output and them in one pass.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

import torch
from torch import nn

from regard.attention.wanted import EVERYTHING, Wanted
from regard.errors import RegardError
from regard.inside.observe.families import eager, huggingface, onnx, own, torchmodules
from regard.inside.observe.layer import ObservedLayer
from regard.inside.observe.observation import Observation, Tokens
from regard.inside.observe.switch import compiled_code, is_compiled
from regard.inside.observe.watch import Watcher, watching

FAMILIES = (huggingface, torchmodules, own, onnx)


@contextmanager
def observe(
    model: nn.Module,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    dtype: torch.dtype | None = None,
    tokens: Tokens | Mapping[str, Tokens] | None = None,
    statistics: bool | Mapping[str, int] | Wanted = False,
    each: Callable[[ObservedLayer], None] | None = None,
    values: bool = False,
) -> Iterator[Observation]:
    """Observe the attention of ``model`` inside the block.

    >>> with regard.observe(model) as observation:
    ...     model(**inputs)
    >>> observation[3, 1].top(5)

    ``layers`` and ``heads`` keep only these (numbers from 0); ``dtype`` keeps queries and keys in
    this type, such as ``torch.float16`` for half the memory; ``values`` keeps the values and what
    the model's kernel mixed of them too, so that a page can show and prove all steps. Of several
    texts run in the block the last one is kept; the steps of one ``generate`` are joined into one
    map. Nothing seen is an error.

    ``each`` is called with a layer as soon as it has run, and then the layer's queries and keys
    are dropped: memory is that of one layer. It is for one pass, not for ``generate``; what it
    raises ends the pass.

    ``statistics`` names what :meth:`Observation.statistics` will be asked for, as a mapping of its
    options, or True for all. Where the native kernel is in use it then computes the attention of a
    Hugging Face model and its statistics in one pass: looking costs little, and outputs may differ
    from the model's own by rounding. Without it they are the same, bit for bit.
    """
    if not isinstance(model, nn.Module):
        raise RegardError(f"observe() wants a torch.nn.Module, got {type(model).__name__}")
    families = [family for family in FAMILIES if family.find(model)]
    if not families:
        raise RegardError(
            f"{type(model).__name__} has no attention that can be observed: no Hugging Face model, "
            "no nn.MultiheadAttention and no regard.MultiHeadAttention in it"
        )
    observation = Observation(
        layers=layers,
        heads=heads,
        dtype=dtype,
        tokens=tokens,
        wanted=_wanted(statistics),
        values=values,
    )
    compiled, model = is_compiled(model), getattr(model, "_orig_mod", model)
    if compiled:
        warnings.warn(
            f"{type(model).__name__} is compiled: it runs uncompiled while it is observed, and "
            "outputs may differ from the compiled ones by rounding",
            stacklevel=3,
        )
    with ExitStack() as stack:
        stack.enter_context(compiled_code.changed())
        watcher = stack.enter_context(watching(model, observation, each))
        for family in families:
            stack.enter_context(family.watch(model, watcher))
        yield observation
    _check(model, watcher)


def _wanted(statistics: bool | Mapping[str, int] | Wanted) -> Wanted | None:
    if isinstance(statistics, bool):
        return EVERYTHING if statistics else None
    return statistics if isinstance(statistics, Wanted) else Wanted.of(statistics)


def _check(model: nn.Module, watcher: Watcher) -> None:
    """Nothing is ever silently empty, or silently not there."""
    name, observation = type(model).__name__, watcher.observation
    if observation.layers:
        if observation.unseen:
            _warn(f"part of {name} was not observed{observation.not_seen}")
        if watcher.stored:
            _warn(
                f"the weights of {name} are kept, layers x heads x n² numbers: its attention gives "
                "no queries and keys from which they could be computed"
            )
        return
    if watcher.count:
        numbers = sorted(observation.chosen_layers or ())
        most = max(watcher.numbers.values())
        raise RegardError(
            f"no layer was observed: layers={numbers}, but {name} has {most} of a kind, from 0"
        )
    if watcher.runs and not any(eager.NAMED.search(type(m).__name__) for m in model.modules()):
        raise RegardError(f"{name} ran, but no module in it is called attention: there is none")
    if watcher.runs:
        raise RegardError(
            f"{name} ran, but none of its attention was seen: it computes attention in a way "
            f"that regard does not know{observation.not_seen}"
        )
    raise RegardError(f"nothing was observed: {name} was not called inside the block")


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=5)  # _warn, _check, observe, contextlib, the user's block
