"""intervene(): change the attention of a model while it runs as always.

The model's fused kernel still computes. A masked link is one more masked pair among those that
the model masks itself; what a head puts out is changed before it is projected. Where nothing is
asked for, nothing is done: the same kernel gets the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from regard.errors import RegardError
from regard.inside.intervene.families import huggingface, own, recurrent, torchmodules
from regard.inside.intervene.hands import Hands, run_on
from regard.inside.observe.observe import observe
from regard.inside.observe.places import counting
from regard.inside.observe.switch import compiled_code

FAMILIES = (huggingface, torchmodules, own, recurrent)


@contextmanager
def intervene(model: nn.Module) -> Iterator[Hands]:
    """Change the attention of ``model`` inside the block.

    >>> with regard.intervene(model) as hands:
    ...     hands.mask(layer=3, head=1, query=10, key=2)
    ...     hands.remove(layer=5, head=11)
    ...     changed = model(**inputs)

    See :class:`Hands` for what can be done. Changes add up, may be asked for at any time inside
    the block, and are in effect from then on, in ``generate`` too; together with ``observe`` the
    changed attention is seen. Outside the block the model is as it was, bit for bit. What a
    family cannot do is refused, and so is a change that met no layer or position of what ran.
    """
    if not isinstance(model, nn.Module):
        raise RegardError(f"intervene() wants a torch.nn.Module, got {type(model).__name__}")
    families = [family for family in FAMILIES if family.find(model)]
    if not families:
        raise RegardError(
            f"{type(model).__name__} has no attention that can be changed: no Hugging Face model, "
            "no nn.MultiheadAttention, and nothing of regard's that attends in it"
        )
    model = getattr(model, "_orig_mod", model)

    def means(layer: int, head: int, kind: str, texts: Iterable[Any]) -> Tensor:
        with hands.held_back():
            return mean_output(model, layer, head, kind, texts)

    hands = Hands(model, means)
    with ExitStack() as stack:
        stack.enter_context(compiled_code.changed())
        stack.enter_context(counting(model, hands))
        for family in families:
            stack.enter_context(family.reach(model, hands))
        yield hands
        hands.check()


def mean_output(model: nn.Module, layer: int, head: int, kind: str, texts: Iterable[Any]) -> Tensor:
    """What a head puts out on the mean over all positions of ``texts``, padding left out."""
    total, count = torch.zeros(()), 0
    for text in texts:
        with observe(model, layers=[layer], heads=[head], values=True) as observation:
            run_on(model, text)
        found = observation.layer(layer, kind)
        for batch in range(found.query.shape[0]):
            context = found.item(batch).context
            if context is None:
                raise RegardError(
                    f"{type(model).__name__} does not show what its heads mix, so that there is "
                    "no mean of it: remove the head by 'zero'"
                )
            total = total + context[0].double().sum(0).cpu()
            count += context.shape[1]
    if not count:
        raise RegardError("texts= is empty: there is nothing to take the mean over")
    return total / count
