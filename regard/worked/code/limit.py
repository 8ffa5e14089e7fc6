"""Limit: run somebody's function and wait no longer than so many seconds."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class TimeUpError(Exception):
    """A function did not come back in time."""


class Interrupted(BaseException):
    """Raised inside a function whose time is up; no ``except Exception`` of its own takes it."""


def within(seconds: float, function: Callable[[], T]) -> T:
    """What ``function`` returns or raises; TimeUpError if it takes longer.

    It runs in a thread, for a sleep or a long product in C cannot be interrupted. A thread left
    behind ends at its next line of Python.
    """
    answer: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            answer.append(function())
        except Interrupted:
            pass
        except BaseException as error:  # SystemExit too: the file is somebody's
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        assert thread.ident is not None
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(Interrupted)
        )
        raise TimeUpError(f"no answer within {seconds:g} seconds")
    if raised:
        raise raised[0]
    return answer[0]
