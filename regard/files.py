"""Files: read whole or as a stream, ``-`` being standard input; written so that a reader never
sees half of one, and nothing is replaced but a file."""

from __future__ import annotations

import errno
import gzip
import os
import secrets
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import IO, cast

from regard.errors import FileError

STDIN = "-"
ENDLESS = ("/dev/full", "/dev/zero", "/dev/random", "/dev/urandom")
"""Devices that go on for ever."""
MOST_BYTES = 4 << 30
"""Of a file that is read as a whole."""
GZIP = b"\x1f\x8b"
STREAMS = ("/dev", "/proc")
"""Where names stand for open files and devices, which are written to and never replaced."""


def name_of(path: str | os.PathLike[str]) -> str:
    """How an error names the file."""
    return "standard input" if os.fspath(path) == STDIN else repr(os.fspath(path))


def check_readable(path: str | os.PathLike[str]) -> None:
    """Raise unless the file can be read: asked before any work begins, without taking of a pipe
    what is in it."""
    if os.fspath(path) == STDIN or is_stream(path):
        return
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise FileError(f"cannot read {name_of(path)}: {error.strerror}") from error


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """The content as a stream, unpacked if it is gzip, and the file itself for its position.

    gzip is known by its first bytes, not by the file's name.
    """
    if os.path.realpath(path) in ENDLESS:
        raise FileError(f"cannot read {name_of(path)}: it has no end")
    try:
        with _standard_input() if os.fspath(path) == STDIN else open(path, "rb") as raw:
            if raw.peek(2)[:2] == GZIP:
                with gzip.GzipFile(fileobj=raw, mode="rb") as unpacked:
                    yield cast(IO[bytes], unpacked), raw
            else:
                yield raw, raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        what = f"the gzip data of {name_of(path)} are cut or damaged ({error}); get the file again"
        raise FileError(what) from error
    except OSError as error:
        raise FileError(f"cannot read {name_of(path)}: {error.strerror or error}") from error


def read_bytes(path: str | os.PathLike[str], most: int = MOST_BYTES) -> bytes:
    """All of a file; one of more than ``most`` bytes is refused, as is a device without an end."""
    with opened(path) as (stream, _):
        content = stream.read(most + 1)
    if len(content) > most:
        raise FileError(f"{name_of(path)} has more than {most:,} bytes, the most that is read here")
    return content


def share_read(raw: IO[bytes]) -> float:
    """How much of a file is read, from 0 to 1; 0 of a pipe, which does not say how long it is."""
    size = os.fstat(raw.fileno()).st_size
    return min(1.0, raw.tell() / size) if size and raw.seekable() else 0.0


@contextmanager
def _standard_input() -> Iterator[BufferedReader]:
    if sys.stdin is None:
        raise OSError(errno.EBADF, "it is closed")
    yield cast(BufferedReader, sys.stdin.buffer)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise if nothing can be written there: asked before the work whose result is to go there."""
    try:
        _check(path)
    except OSError as error:
        raise _refused(path, error) from error


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path whose content takes the place of ``path``'s if the block ends well.

    A regular file is replaced in one step, with its mode kept; of a symbolic link the file that it
    points to. What is no regular file (a pipe, a device) is written to when the block has ended.
    The temporary name keeps the suffix, so that writers that look at it (``.gz``, ``.png``) do the
    right thing. On an exception, Ctrl-C included, it goes and the old file stays.
    """
    try:
        _check(path)
        writing = _streaming if is_stream(path) else _taking_place
        with writing(Path(path)) as temporary:
            yield temporary
    except BrokenPipeError:  # the reader has seen enough: no fault of the file's
        raise
    except OSError as error:
        raise _refused(path, error) from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` as UTF-8, atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def _taking_place(path: Path) -> Iterator[Path]:
    target = Path(os.path.realpath(path))
    name = f".{target.stem[:40]}-{secrets.token_hex(4)}{target.suffix[:40]}"
    temporary = target.with_name(name)
    old = target.stat() if target.exists() else None
    mode = 0o666 if old is None else stat.S_IMODE(old.st_mode) & 0o777
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
    try:
        if old is not None:
            temporary.chmod(mode)  # what the umask took away
            with suppress(PermissionError):  # only root gives files away
                os.chown(temporary, old.st_uid, old.st_gid)
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _streaming(path: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="regard-") as folder:
        temporary = Path(folder) / path.name
        temporary.touch()
        yield temporary
        with temporary.open("rb") as source, path.open("wb", buffering=0) as target:
            shutil.copyfileobj(source, target)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether something is there that is written to and not replaced: a pipe, a device."""
    folder = Path(path).absolute().parent
    inside = any(folder.is_relative_to(streams) for streams in STREAMS)
    there = os.path.exists(path) and not os.path.isdir(path)
    return there and (inside or not os.path.isfile(path))


def _check(path: str | os.PathLike[str]) -> None:
    """Raise what writing would raise in the end."""
    name, target = Path(path).name, Path(os.path.realpath(path))
    if not name:
        raise FileError(f"cannot write {os.fspath(path)!r}: it does not name a file")
    if target.is_symlink():
        raise _error(errno.ELOOP)
    if target.is_dir():
        raise _error(errno.EISDIR)
    if os.path.exists(path) and not os.access(path, os.W_OK):
        raise _error(errno.EACCES)
    if is_stream(path):
        return
    if not target.parent.exists():
        raise OSError(errno.ENOENT, "its folder does not exist")
    if not target.parent.is_dir():
        raise _error(errno.ENOTDIR)
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise OSError(errno.EACCES, "its folder is not writable")


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _refused(path: str | os.PathLike[str], error: OSError) -> FileError:
    return FileError(f"cannot write {os.fspath(path)!r}: {error.strerror or error}")
