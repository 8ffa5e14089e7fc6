"""regard: see, run, check and train attention.

Every mechanism is the same four verbs (``regard.attention``): score, mask, weigh, mix.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Here, not by __getattr__: the module of the same name would otherwise hide the function.
from regard.record import record

__version__ = "0.2.0"

if TYPE_CHECKING:
    from regard.attention.attend import attend
    from regard.attention.map import AttentionMap
    from regard.attention.mask import Mask
    from regard.attention.multihead import MultiHeadAttention
    from regard.attention.self_attention import self_attention
    from regard.errors import RegardError
    from regard.inside.intervene.intervene import intervene
    from regard.inside.observe.observe import observe
    from regard.trace import Step, Trace
    from regard.vectors.words import Words
    from regard.worked.check import check

__all__ = [
    "AttentionMap",
    "Mask",
    "MultiHeadAttention",
    "RegardError",
    "Step",
    "Trace",
    "Words",
    "attend",
    "check",
    "intervene",
    "observe",
    "record",
    "self_attention",
]

_HOME = {
    "AttentionMap": "regard.attention",
    "Mask": "regard.attention",
    "MultiHeadAttention": "regard.attention",
    "RegardError": "regard.errors",
    "Step": "regard.trace",
    "Trace": "regard.trace",
    "Words": "regard.vectors.words",
    "attend": "regard.attention",
    "check": "regard.worked.check",
    "intervene": "regard.inside.intervene.intervene",
    "observe": "regard.inside.observe.observe",
    "self_attention": "regard.attention",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``regard --help`` need not load torch."""
    if name not in _HOME:
        raise AttributeError(f"module 'regard' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)  # once: it is then found
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
