"""Freed: memory that layers let go of, given back to the system.

PyTorch asks glibc for memory whose address is a multiple of 64. A hole that such memory left is too
small for as much again by the bytes that the address may need, so that from layer to layer of a
long text new memory is taken beside the holes, which stay with the process: as chance will, few, or
more than all that is kept.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable

ENOUGH = 16_000_000
"""Bytes of queries and keys of layers, after which it is worth the few milliseconds."""


class Freed:
    """Counts what layers let go of, and gives holes back from time to time."""

    def __init__(self) -> None:
        self.bytes = 0

    def add(self, count: int) -> None:
        self.bytes += count
        if self.bytes >= ENOUGH:
            self.bytes = 0
            give_back()()


@functools.cache
def give_back() -> Callable[[], object]:
    """glibc's own way; elsewhere there is nothing to do."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    return (lambda: None) if trim is None else functools.partial(trim, 0)
