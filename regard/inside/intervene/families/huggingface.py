"""Hugging Face models: the registry's functions ask for what is due (observe/families).

Attention that is not computed by a function of the registry cannot be changed, and is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import nn

from regard.inside.intervene.hands import Hands, is_named
from regard.inside.observe.families.huggingface import find as find
from regard.inside.observe.families.huggingface import registered

OUTSIDE = "computes attention outside transformers' registry of attention functions"


@contextmanager
def reach(model: nn.Module, hands: Hands) -> Iterator[None]:
    """While a module that is called attention runs, the registry must be asked for some function:
    if it is not, the module's attention is beside what can be changed."""

    def before(module: nn.Module, args: Any) -> None:
        if hands.here:
            hands.enter_attention()

    def after(module: nn.Module, args: Any, output: Any) -> None:
        if hands.here and hands.leave_attention() and output is not None:
            hands.beside(module, OUTSIDE)

    with ExitStack() as stack:
        stack.enter_context(registered(model))
        for module in model.modules():
            if is_named(module):
                stack.callback(module.register_forward_pre_hook(before, prepend=True).remove)
                stack.callback(module.register_forward_hook(after, always_call=True).remove)
        yield
