"""Switch: a setting of the whole process that is changed while anybody observes.

Several threads may observe at once: the first one in changes it, the last one out puts it back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from regard.attention import private


class Switch:
    """``change`` returns what ``put_back`` needs."""

    def __init__(self, change: Callable[[], Any], put_back: Callable[[Any], None]) -> None:
        self.change, self.put_back = change, put_back
        self._lock = threading.Lock()
        self._users, self._before = 0, None

    @contextmanager
    def changed(self) -> Iterator[None]:
        with self._lock:
            if self._users == 0:
                self._before = self.change()
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self.put_back(self._before)


def _run_uncompiled() -> Any:
    """Compiled code runs as it was written."""
    return torch.compiler.set_stance("force_eager") if private.compiles() else None


def _run_compiled(stance: Any) -> None:
    if stance is not None:
        stance.__exit__(None, None, None)


compiled_code = Switch(_run_uncompiled, _run_compiled)
"""Hooks inside compiled code would have it compiled anew for every observation."""


def is_compiled(model: torch.nn.Module) -> bool:
    """Whether ``model`` or a module in it was given to torch.compile."""
    return any(
        hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None
        for module in model.modules()
    )
