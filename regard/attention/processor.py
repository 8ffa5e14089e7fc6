"""Processor: what the system says of it."""

from __future__ import annotations

from pathlib import Path

INFO = Path("/proc/cpuinfo")


def processor() -> dict[str, str]:
    """Of the first one, by Linux's names in small letters; empty on other systems."""
    try:
        text = INFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    pairs = (line.partition(":") for line in text.split("\n\n")[0].splitlines())
    return {name.strip().lower(): value.strip() for name, _, value in pairs}
