"""Units: seconds and bytes as a person reads them, with three figures."""

from __future__ import annotations

SECONDS = ((1e-6, "µs"), (1e-3, "ms"), (1.0, "s"))
BYTES = ((1e0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"), (1e15, "PB"))


def in_seconds(seconds: float) -> str:
    """0.0123 -> '12.3 ms'; whole seconds from 100 on."""
    return _with_unit(seconds, SECONDS)


def in_bytes(size: float) -> str:
    """201330688 -> '201 MB'; decimal units, MB = 1,000,000 bytes."""
    return _with_unit(size, BYTES)


def _with_unit(amount: float, units: tuple[tuple[float, str], ...]) -> str:
    """The largest unit that leaves 1 or more in front of it."""
    # 0.9995 already rounds to 1.00: 999,600 bytes are 1 MB, not 1000 kB.
    size, unit = next((u for u in reversed(units) if amount >= 0.9995 * u[0]), units[0])
    value = amount / size
    if value >= 1e6:  # beyond the last unit
        return f"{value:.3g} {unit}"
    places = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    text = f"{value:.{places}f}"
    return f"{text.removesuffix('.00').removesuffix('.0')} {unit}"
