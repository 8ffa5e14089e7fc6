"""The compiled kernel: found, checked, loaded, or a reason why not."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.attention.kernel import build
from regard.attention.kernel.layout import (
    CallLayout,
    ChoiceLayout,
    GradientLayout,
    LookLayout,
    PlaceLayout,
    RowsLayout,
    ScanLayout,
    SearchLayout,
    difference,
)
from regard.attention.private import UNKNOWN
from regard.errors import ConfigError

SWITCH = "REGARD_KERNEL"
"""The environment variable: ``off``, or the name of a variant to use and no other."""
MOST_TOP = 32
"""The kernel finds at most so many of a row's largest weights."""
MOST_WIDTH = 256
NO_MEMORY, NO_TOKEN = 1, 2
"""Outcomes; the same in search.h."""


@dataclass(frozen=True)
class Kernel:
    """A loaded library and the variant in use."""

    path: Path
    variant: str
    number: int
    variants: dict[str, bool]
    """Every variant in the library, and whether this CPU can run it."""
    shares_threads: bool
    """Whether its threads are those of PyTorch's OpenMP."""
    library: ctypes.CDLL

    def attend(self, call: CallLayout) -> None:
        if self.library.regard_attend(self.number, call):
            raise MemoryError("the attention kernel found no memory for its working space")

    def attend_back(self, call: CallLayout, gradient: GradientLayout) -> None:
        if self.library.regard_attend_back(self.number, call, gradient):
            raise MemoryError("the gradient of attention found no memory for its working space")

    def look(self, call: LookLayout, back: bool, t: int, start: int, stop: int) -> None:
        self.library.regard_look(self.number, call, back, t, start, stop)

    def scan(self, scan: ScanLayout, back: bool) -> None:
        if self.library.regard_scan(self.number, scan, back):
            raise MemoryError("the kernel found no memory for the matrices of a recurrent network")

    def rows(self, rows: RowsLayout) -> None:
        _found_all(self.library.regard_rows(self.number, rows))

    def search(self, search: SearchLayout) -> bool:
        """Whether all sums were finite numbers; else nothing is found."""
        return _found_all(self.library.regard_search(self.number, search))

    def choose(self, choice: ChoiceLayout) -> bool:
        """Whether all sums were finite numbers; else nothing is chosen."""
        return not self.library.regard_choose(self.number, choice)


def _found_all(outcome: int) -> bool:
    """Whether a network's sums were finite numbers; raise if it could not run."""
    if outcome == NO_TOKEN:
        raise IndexError("a token is not in the model's vocabulary")
    if outcome == NO_MEMORY:
        raise MemoryError("the kernel found no memory for a network's working space")
    return not outcome


def load(path: Path, wanted: str = "") -> Kernel | str:
    """The kernel in ``path`` with the ``wanted`` variant (the best if empty), or why not."""
    if not path.exists():
        return f"it is not compiled: {build.LIBRARY} is not beside its sources"
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        return f"it cannot be loaded: {error}"
    try:
        library.regard_variant.restype = library.regard_sources.restype = ctypes.c_char_p
        library.regard_layout.restype = ctypes.POINTER(PlaceLayout)
        number, long = ctypes.c_int, ctypes.c_int64
        library.regard_attend.argtypes = (number, ctypes.POINTER(CallLayout))
        gradient = ctypes.POINTER(GradientLayout)
        library.regard_attend_back.argtypes = (number, ctypes.POINTER(CallLayout), gradient)
        look = ctypes.POINTER(LookLayout)
        library.regard_look.argtypes = (number, look, number, long, long, long)
        library.regard_look.restype = None
        library.regard_scan.argtypes = (number, ctypes.POINTER(ScanLayout), number)
        library.regard_rows.argtypes = (number, ctypes.POINTER(RowsLayout))
        library.regard_search.argtypes = (number, ctypes.POINTER(SearchLayout))
        library.regard_choose.argtypes = (number, ctypes.POINTER(ChoiceLayout))
        sources = library.regard_sources().decode()
        shares = bool(library.regard_shares_threads())
    except AttributeError as error:
        return f"it is not a kernel of regard: {error}"
    if sources != build.digest():
        return "it was compiled from other sources than those here: compile it anew"
    if (other := difference(_places(library))) is not None:
        return other
    names: dict[str, bool] = {}
    while (name := library.regard_variant(len(names))) is not None:
        names[name.decode()] = bool(library.regard_runs_here(len(names)))
    if wanted and wanted not in names:
        raise ConfigError(f"{SWITCH} must be 'off' or one of {', '.join(names)}, got {wanted!r}")
    if wanted and not names[wanted]:
        return f"{SWITCH}={wanted}, but this CPU cannot run that variant"
    chosen = wanted or _best(names)
    if chosen is None:
        return "this CPU has neither AVX-512 nor AVX2 with FMA: PyTorch's kernel is faster here"
    return Kernel(path, chosen, list(names).index(chosen), names, shares, library)


def _places(library: ctypes.CDLL) -> Iterator[tuple[str, int, int]]:
    """The fields of the structures that the library is called with, as it was compiled."""
    number = 0
    while place := library.regard_layout(number):  # a null pointer is false
        found = place.contents
        yield found.name.decode(), found.at, found.size
        number += 1


def _best(names: dict[str, bool]) -> str | None:
    """The first that runs here. The portable variant is fast only where it is the only one."""
    usable = [name for name, runs in names.items() if runs]
    return usable[0] if usable[0] != "portable" or len(names) == 1 else None


_lock = threading.Lock()
_found: dict[tuple[Path, str], Kernel | str] = {}
PATH = build.HERE / build.LIBRARY


def found() -> Kernel | str:
    """The kernel that the environment asks for, or the reason why PyTorch's path serves."""
    wanted = os.environ.get(SWITCH, "").strip().lower()
    try:
        return _found[PATH, wanted]
    except KeyError:
        pass
    with _lock:
        if wanted == "off":
            _found[PATH, wanted] = f"{SWITCH}=off"
        else:
            _found[PATH, wanted] = UNKNOWN or load(PATH, wanted)
        return _found[PATH, wanted]


def kernel() -> Kernel | None:
    """The kernel, if it is in use."""
    it = found()
    return it if isinstance(it, Kernel) else None
