"""files: a reader never sees half a file, and a failed writer leaves nothing behind."""

from __future__ import annotations

import gzip
import os
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from regard.errors import FileError
from regard.files import (
    check_readable,
    check_writable,
    is_stream,
    opened,
    read_bytes,
    replacing,
    share_read,
    write_text,
)


def test_the_new_file_takes_the_place_of_the_old(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    write_text(path, "alt")
    write_text(str(path), "ü\n")
    assert path.read_bytes() == "ü\n".encode()
    assert os.listdir(tmp_path) == ["out.json"]


def test_the_old_file_stays_until_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "out.txt.gz"
    path.write_text("old")
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
        assert temporary.parent == tmp_path, "another file system could not be moved in one step"
        assert temporary.suffix == ".gz"
    assert path.read_text() == "new"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_crash_leaves_the_old_file_and_no_temporary_one(
    error: type[BaseException], tmp_path: Path
) -> None:
    path = tmp_path / "out.json"
    path.write_text("old")

    def crash() -> None:
        with replacing(path) as temporary:
            temporary.write_text("ha")
            raise error

    with pytest.raises(error):
        crash()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.json"]


def test_a_full_disk_is_a_file_error(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    with (
        pytest.raises(FileError, match=r"cannot write '.*out.json': No space left on device"),
        replacing(path),
    ):
        raise OSError(28, "No space left on device")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="umask")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_permissions_follow_the_umask(umask: int, mode: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        write_text(tmp_path / "out.json", "")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.json").stat().st_mode) == mode


def test_places_where_no_file_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    places: list[tuple[str | Path, str]] = [
        (tmp_path / "none" / "out.json", "its folder does not exist"),
        (tmp_path / "file" / "out.json", "Not a directory"),
        (tmp_path, "Is a directory"),
        ("", "it does not name a file"),
        ("/", "it does not name a file"),
    ]
    for path, text in places:
        with pytest.raises(FileError, match=f"^cannot write '{path}': {text}"):
            write_text(path, "x")
    assert os.listdir(tmp_path) == ["file"]


def test_of_a_link_the_file_that_it_points_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    for name in ("there", "not yet"):
        target, link = tmp_path / "far" / name, tmp_path / f"link to {name}"
        link.symlink_to(Path("far") / name)
        if name == "there":
            target.write_text("old")
        write_text(link, "new")
        assert link.is_symlink()
        assert target.read_text() == "new"
    assert sorted(os.listdir(tmp_path / "far")) == ["not yet", "there"]
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(FileError, match="Too many levels of symbolic links"):
        write_text(tmp_path / "round", "new")
    assert (tmp_path / "round").is_symlink()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_mode_stays(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old")
    path.chmod(mode)
    with replacing(path) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == mode, "nobody else reads it meanwhile"
        temporary.write_text("new")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_text() == "new"


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe, heard = tmp_path / "pipe.json", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "x" * 200_000)  # more than a pipe holds
    reader.join(10)
    assert heard == ["x" * 200_000]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe.json"]


def test_a_device_stays_a_device(tmp_path: Path) -> None:
    before = os.stat("/dev/null")
    check_writable("/dev/null")
    write_text("/dev/null", "gone")
    (tmp_path / "nowhere").symlink_to("/dev/null")
    write_text(tmp_path / "nowhere", "gone")
    after = os.stat("/dev/null")
    assert stat.S_ISCHR(after.st_mode)
    assert (after.st_ino, after.st_rdev) == (before.st_ino, before.st_rdev)
    with pytest.raises(FileError, match="cannot write '/dev/full': No space left on device"):
        write_text("/dev/full", "x")


def test_standard_output_by_its_name(tmp_path: Path) -> None:
    """/dev/stdout of a shell's ``> file`` is that open file, not one to be replaced."""
    code = (
        "import sys; from regard.files import write_text; print('one', flush=True); "
        "write_text('/dev/fd/1', 'two'); print('three')"
    )
    for into in ("pipe", "file"):
        file = tmp_path / into
        with file.open("a") as out:
            target = subprocess.PIPE if into == "pipe" else out
            done = subprocess.run([sys.executable, "-c", code], stdout=target, text=True)
        assert done.returncode == 0
        said = done.stdout if into == "pipe" else file.read_text()
        assert "two" in said
        assert said.endswith("three\n")
    assert sorted(os.listdir(tmp_path)) == ["file", "pipe"]


def test_a_reader_that_has_gone_is_no_fault_of_the_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: os.close(os.open(pipe, os.O_RDONLY)))
    reader.start()
    with pytest.raises(BrokenPipeError):
        write_text(pipe, "x" * 1_000_000)
    reader.join(10)


def test_long_names(tmp_path: Path) -> None:
    longest = tmp_path / ("ä" * 125 + ".json")
    write_text(longest, "new")
    assert os.listdir(tmp_path) == [longest.name]
    with pytest.raises(FileError, match="File name too long"):
        check_writable(tmp_path / ("a" * 300))


def test_what_is_known_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    check_writable(tmp_path / "file")
    check_writable(tmp_path / "new")
    assert os.listdir(tmp_path) == ["file"], "asking leaves nothing behind"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        assert is_stream(tmp_path / "socket")
        with pytest.raises(FileError, match="No such device or address"):
            write_text(tmp_path / "socket", "x")


def test_as_a_user_without_rights() -> None:
    """Root may write anywhere: a child that has given root up asks."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is closed to others
        os.chmod(folder, 0o777)
        shut, mine = Path(folder) / "shut", Path(folder) / "read-only"
        shut.mkdir(0o555)
        mine.write_text("old")
        mine.chmod(0o444)
        answer, write = os.pipe()
        if (child := os.fork()) == 0:
            if os.getuid() == 0:
                os.setgroups([])
                os.setuid(65534)
            for path in (shut / "new.json", mine):
                try:
                    check_writable(path)
                except FileError as error:
                    os.write(write, f"{error}\n".encode())
            os._exit(0)
        os.close(write)
        os.waitpid(child, 0)
        with open(answer, encoding="utf-8") as said:
            assert said.read().splitlines() == [
                f"cannot write '{shut / 'new.json'}': its folder is not writable",
                f"cannot write '{mine}': Permission denied",
            ]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("")
    check_readable(tmp_path / "there")
    check_readable("-")
    with pytest.raises(FileError, match=r"cannot read '.*none': No such file or directory"):
        check_readable(tmp_path / "none")
    with pytest.raises(FileError, match=r"cannot read '.*': Is a directory"):
        check_readable(tmp_path)


def test_a_pipe_is_read_once_and_asking_takes_nothing(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    check_readable(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(gzip.compress(b"one\n")))
    writer.start()
    with opened(pipe) as (stream, raw):
        assert stream.read() == b"one\n"
        assert share_read(raw) == 0.0, "a pipe does not say how long it is"
    writer.join(10)


def test_reading_plain_and_packed(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"abcd")
    (tmp_path / "packed").write_bytes(gzip.compress(b"abcd"))
    (tmp_path / "cut").write_bytes(gzip.compress(b"abcd")[:-6])
    assert read_bytes(tmp_path / "plain") == read_bytes(tmp_path / "packed") == b"abcd"
    with opened(tmp_path / "plain") as (_, raw):
        assert (raw.read(1), share_read(raw)) == (b"a", 0.25)
    with pytest.raises(FileError, match=r"the gzip data of '.*cut' are cut or damaged"):
        read_bytes(tmp_path / "cut")


def test_what_is_too_long_or_without_an_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(bytes(1001))
    with pytest.raises(FileError, match=r"long' has more than 1,000 bytes"):
        read_bytes(tmp_path / "long", 1000)
    (tmp_path / "link").symlink_to("/dev/zero")
    for path in ("/dev/full", tmp_path / "link"):
        with pytest.raises(FileError, match="it has no end"):
            read_bytes(path)
