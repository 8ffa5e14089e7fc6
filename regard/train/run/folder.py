"""Folder: a run folder while it is trained in: one process at a time, one run for ever."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from regard.errors import ConfigError, FileError
from regard.store.folder import FORMAT, RunFolder
from regard.train.settings import flat

LOCK = ".lock"
HALF_WRITTEN = re.compile(r"\.[a-z]+-[0-9a-f]{8}\.[a-z0-9]+")
"""What a process that was killed leaves of a file that it was replacing."""


@contextmanager
def claimed(folder: RunFolder, resume: bool) -> Iterator[None]:
    """The folder for this process alone, from before it is looked into to the end of the run.

    It must hold a run if one is resumed, and nothing else. A folder that could be made and in
    which nothing was written goes again, so what is refused leaves no trace.
    """
    if not resume:
        check_new(folder)
    elif not folder.config.exists():
        folder.read_config()  # says what is missing
    made = _made(folder.path)
    try:
        with _locked(folder.path):
            if not resume:
                check_new(folder)  # another process may have been faster
            for path in folder.path.rglob(".*"):
                if HALF_WRITTEN.fullmatch(path.name):
                    path.unlink(missing_ok=True)
            yield
    finally:
        if made and not folder.config.exists():
            (folder.path / LOCK).unlink(missing_ok=True)
            for path in made:
                if not any(path.iterdir()):
                    path.rmdir()


def check_new(folder: RunFolder) -> None:
    """Refuse a folder that already holds something."""
    if folder.config.exists():
        raise FileError(
            f"{str(folder.path)!r} already holds a run: add --resume to go on with it, "
            "or choose another folder"
        )
    if folder.path.exists() and (not folder.path.is_dir() or any(_strange(folder.path))):
        raise FileError(f"{str(folder.path)!r} exists and is not a run folder: choose another")


def check_same(
    folder: RunFolder,
    config: Mapping[str, Any],
    free: Iterable[str],
    usual: Mapping[str, Any] | None = None,
) -> None:
    """Refuse to go on with a run under settings, other than ``free`` ones, that make it another.

    A setting that was not there yet when the run began had its ``usual`` value.
    """
    old = {**(usual or {}), **flat(folder.read_config())}
    new = flat({"regard": FORMAT, **config})
    keys = [k for k in {**old, **new} if k not in set(free) and old.get(k) != new.get(k)]
    if keys:
        changes = ", ".join(f"{k} was {old.get(k)!r}, is {new.get(k)!r}" for k in keys[:5])
        raise ConfigError(
            f"{str(folder.path)!r} is a run with other settings: {changes}; "
            "resume it with its own, or choose another folder"
        )


def _strange(path: Path) -> Iterator[Path]:
    """What a run that was killed before it began does not leave."""
    return (p for p in path.iterdir() if p.name != LOCK and not HALF_WRITTEN.fullmatch(p.name))


def _made(path: Path) -> list[Path]:
    """Make the folder; the folders that were not there before, innermost first."""
    missing = [p for p in (path, *path.parents) if not p.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise FileError(f"cannot make the folder {str(path)!r}: {reason}") from error
    return missing


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes from training in this folder at the same time."""
    try:
        file = (path / LOCK).open("w")
    except OSError as error:
        reason = error.strerror or error
        raise FileError(f"cannot write in the folder {str(path)!r}: {reason}") from error
    with file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # not on Windows: there the user must take care
            pass
        except OSError as error:
            raise FileError(
                f"another process is training in {str(path)!r}: wait for it, "
                "or choose another folder"
            ) from error
        yield
