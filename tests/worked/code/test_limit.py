"""A function is waited for no longer than so many seconds."""

from __future__ import annotations

import sys
import threading
import time

import pytest

from regard.worked.code.limit import TimeUpError, within


def test_what_is_returned_and_raised_comes_back() -> None:
    assert within(5, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 // 0)
    with pytest.raises(SystemExit):
        within(5, lambda: sys.exit(3))


def test_a_loop_is_left_and_ends() -> None:
    def endless() -> None:
        while True:
            try:
                time.sleep(0.001)
            except Exception:
                continue

    before = threading.active_count()
    started = time.monotonic()
    with pytest.raises(TimeUpError, match=r"no answer within 0\.1 seconds"):
        within(0.1, endless)
    assert time.monotonic() - started < 5
    for _ in range(500):
        if threading.active_count() <= before:
            break
        time.sleep(0.01)
    assert threading.active_count() <= before
