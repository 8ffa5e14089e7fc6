"""Masks as models pass them: additive ones become boolean where they only forbid."""

from __future__ import annotations

import torch
from torch import Tensor


def split_additive(mask: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """(True = may attend, what is added to the scores) of a mask that is added to the scores.

    A mask of zeros and of very large negative numbers forbids and adds nothing.
    """
    never = mask <= torch.finfo(mask.dtype).min / 2
    rest = mask.masked_fill(never, 0)
    allowed = ~never if bool(never.any()) else None
    return allowed, rest.float() if bool(rest.any()) else None
