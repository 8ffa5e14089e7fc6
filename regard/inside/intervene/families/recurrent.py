"""Recurrent networks: a word erased from the tape that later words attend to, and from the source
that a recurrent decoder looks at.

A tape is what a network remembers; its words are masked for all words that come later, not for one
of them. There are no heads to remove.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.mask import Mask
from regard.errors import RegardError
from regard.inside.intervene.change import Change, Extent
from regard.inside.intervene.hands import Hands
from regard.inside.observe.places import LayerPlace
from regard.models.translators.bahdanau import Annotations, Bahdanau
from regard.models.translators.lstmn import LSTMNTranslator
from regard.recurrent.reader import ReaderLayer
from regard.recurrent.tape import TapeMemory

LOOKING = (Bahdanau, LSTMNTranslator)
"""Translators whose recurrent decoder attends to the source."""


def find(model: nn.Module) -> bool:
    return any(isinstance(module, (ReaderLayer, *LOOKING)) for module in model.modules())


@contextmanager
def reach(model: nn.Module, hands: Hands) -> Iterator[None]:
    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, ReaderLayer):
                erase = partial(_erase, hands)
                stack.callback(module.register_forward_pre_hook(erase).remove)
            elif isinstance(module, LOOKING):
                vars(module)["encode"] = partial(_encode, hands, module, module.encode)
                stack.callback(vars(module).pop, "encode")
        yield


def _erase(hands: Hands, module: nn.Module, args: Any) -> None:
    """Forbid the slots of the words that are to be erased."""
    assert isinstance(module, ReaderLayer)
    if not hands.here:
        return
    due = hands.due(module, cross=False)
    _check(due)
    if not due[1] and hands.meets is None:
        return
    if not module.attends:
        if not due[1]:
            return
        raise RegardError(f"{due[0].name} is a recurrence without attention: it has no tape")
    x, memory = args[0], args[1]
    assert isinstance(memory, TapeMemory)
    slots = memory.before + memory.room
    if due[1] and memory.window is not None and slots > memory.window:
        raise RegardError(
            f"{due[0].name} keeps the last {memory.window} words alone, and the text is longer: a "
            "word that slides off its tape cannot be named by its position"
        )
    batch = x.shape[1]
    # Rows that have read less have their words in the last slots: where does each begin?
    allowed = memory.allowed
    begins = torch.zeros(batch, dtype=torch.long, device=x.device)
    if allowed is None:
        allowed = torch.ones(batch, slots, dtype=torch.bool, device=x.device)
    else:
        begins = allowed.long().argmax(-1)
    extent = Extent(batch, 1, memory.room, slots, memory.before, 0, x.device)
    hands.note_end(due[0], slots)
    plan = hands.planned(due, extent, lambda: None)
    if plan is None or plan.hidden is None:
        return
    erased = plan.hidden[:, 0, -1]  # the same for every query
    place = torch.arange(slots, device=x.device) - begins.unsqueeze(-1)
    memory.allowed = allowed & ~(erased.gather(1, place.clamp_min(0)) & (place >= 0))


def _encode(
    hands: Hands, module: nn.Module, encode: Callable[..., Any], source: Tensor, lengths: Tensor
) -> Any:
    """What the decoder will look at, with the words masked that are to be erased."""
    memory, state = encode(source, lengths)
    if not hands.here:
        return memory, state
    due = hands.due(module, cross=True)
    _check(due)
    batch, n = source.shape
    plan = hands.planned(due, Extent(batch, 1, 1, n, 0, 0, source.device), lambda: None)
    if plan is None or plan.hidden is None:
        return memory, state
    mask = (memory.mask or Mask()) & Mask(allowed=~plan.hidden[:, 0])
    if isinstance(memory, Annotations):
        return replace(memory, mask=mask), state
    return memory._replace(mask=mask), state


def _check(due: tuple[LayerPlace, list[Change]]) -> None:
    """Refuse what cannot be done to a tape."""
    for change in due[1]:
        if change.factor is not None:
            raise RegardError(
                f"{due[0].name or 'this network'} is recurrent: its scores are no products of "
                "queries and keys, and cannot be sharpened"
            )
        if change.edit is not None:
            raise RegardError(
                f"{due[0].name or 'this network'} is recurrent and has no heads: erase words from "
                "its tape, mask(key=…)"
            )
        if change.query is not None or not change.renormalise:
            raise RegardError(
                f"a word is erased from the tape of {due[0].name or 'a recurrent network'} for all "
                "later words: leave out query and renormalise"
            )
