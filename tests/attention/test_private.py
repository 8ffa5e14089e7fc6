"""PyTorch's private names: in one place, and what they tell."""

from __future__ import annotations

import re
from pathlib import Path

import torch
from torch import Tensor
from torch.autograd import forward_ad

import regard
from regard.attention import private

PRIVATE = re.compile(r"torch(\.\w+)*\._[a-z_]|forward_ad\._|\._cdata|functional\._", re.IGNORECASE)


def test_they_stand_in_one_place() -> None:
    root = Path(regard.__file__).parent
    found = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if PRIVATE.search(path.read_text(encoding="utf-8").replace("torch.__version__", ""))
    }
    assert found == {"attention/private.py"}


def test_who_watches() -> None:
    assert private.UNKNOWN == ""
    assert not private.watched()
    seen: dict[str, bool] = {}

    def look(name: str) -> None:
        seen[name] = private.watched()

    def asked(x: Tensor) -> Tensor:
        look("vmap")
        return x

    torch.vmap(asked)(torch.ones(2))
    with torch.autocast("cpu", torch.bfloat16):
        look("autocast")
    with forward_ad.dual_level():
        look("forward gradients")
    with private.DispatchMode():  # type: ignore[no-untyped-call]
        look("dispatch mode")
    assert seen == dict.fromkeys(("vmap", "autocast", "forward gradients", "dispatch mode"), True)
    assert not private.watched()
