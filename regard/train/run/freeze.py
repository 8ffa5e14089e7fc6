"""Freeze: parts of a model that keep the weights that they begin with."""

from __future__ import annotations

from fnmatch import fnmatchcase

from torch import nn

from regard.errors import ConfigError, nearest


def freeze(model: nn.Module, parts: str | None) -> str:
    """Keep the weights of these parts out of training; what was frozen, as it is said.

    ``parts`` has commas between them. A part is what a weight is called, or the beginning of that
    up to a dot (``encoder``, ``decoder.layers.0``); ``*`` stands for anything.
    """
    weights = dict(model.named_parameters())
    found: set[str] = set()
    wanted = [part.strip() for part in (parts or "").split(",") if part.strip()]
    for part in wanted:
        named = {n for n in weights if fnmatchcase(n, part) or fnmatchcase(n, f"{part}.*")}
        if not named:
            known = sorted({name.partition(".")[0] for name in weights})
            raise ConfigError(
                f"train.freeze: the model has no part {part!r}; its parts are {', '.join(known)}"
                f"{nearest(part, known)}"
            )
        found |= named
    if len(found) == len(weights):
        raise ConfigError(f"train.freeze ({parts}) is the whole model: nothing is left to train")
    for name in found:
        weights[name].requires_grad_(False)
    still = sum(weights[name].numel() for name in found)
    total = sum(weight.numel() for weight in weights.values())
    return f"frozen: {', '.join(wanted)} ({still:,} of {total:,} parameters)" if wanted else ""
