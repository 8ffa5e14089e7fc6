"""Load: ``mine.py:attention``, the name of a function, class or module in somebody's own file."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from regard.errors import FileError, RegardError, first_line, nearest
from regard.files import check_readable
from regard.worked.code.limit import TimeUpError, within


def names_code(text: str) -> bool:
    """Whether this is written like ``mine.py:attention`` (or ``mine.py``, its name forgotten)."""
    file, _, _ = text.rpartition(":")
    return file.endswith(".py") or text.endswith(".py")


def load(place: str, seconds: float) -> Any:
    """What stands at ``place`` in the user's file, which is run, as an import runs it."""
    file, _, name = place.rpartition(":")
    if not file or not name:
        raise RegardError(
            f"say which function of {place.rstrip(':')!r} to check: "
            f"regard check {place.rstrip(':')}:attention --mechanism scaled"
        )
    check_readable(file)
    module = _imported(Path(file), seconds)
    found: Any = module
    for part in name.split("."):
        known = [n for n in vars(found) if not n.startswith("_")]
        if part not in vars(found):
            hint = nearest(part, known) or f"; it has {', '.join(known[:12]) or 'no names'}"
            raise FileError(f"{file!r} has no {name!r}{hint}")
        found = getattr(found, part)
    if not callable(found):
        raise RegardError(f"{name!r} of {file!r} cannot be called: it is a {type(found).__name__}")
    return found


def _imported(path: Path, seconds: float) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    loader = spec.loader
    folder = str(path.parent.absolute())
    if folder not in sys.path:
        sys.path.insert(0, folder)  # what stands beside it may be imported, as Python would
    before = sys.modules.get(path.stem)
    sys.modules[path.stem] = module  # dataclasses look there
    try:
        with redirect_stdout(sys.stderr):
            within(seconds, lambda: loader.exec_module(module))
    except TimeUpError as error:
        raise FileError(
            f"{str(path)!r} was not imported within {seconds:g} seconds: put what it runs under "
            "if __name__ == '__main__', or give it more time with --seconds"
        ) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        what = f"{type(error).__name__}: {first_line(error)}"
        raise FileError(
            f"{str(path)!r}{line_in(path, error)} cannot be imported: {what}"
        ) from error
    finally:
        if before is not None:
            sys.modules[path.stem] = before
    return module


def line_in(path: str | os.PathLike[str], error: BaseException) -> str:
    """``, line 7``: the last line of this file that led to the error."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f", line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename) == Path(path)]
    return f", line {lines[-1]}" if lines else ""
