"""files: a reader never sees half a file, and a failed writer leaves nothing behind."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from regard.errors import FileError
from regard.files import replacing, write_text


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
        (tmp_path / "none" / "out.json", "No such file or directory"),
        (tmp_path / "file" / "out.json", "Not a directory"),
        (tmp_path, "Is a directory"),
        ("", "it does not name a file"),
        ("/", "it does not name a file"),
    ]
    for path, text in places:
        with pytest.raises(FileError, match=f"^cannot write '{path}': {text}"):
            write_text(path, "x")
    assert os.listdir(tmp_path) == ["file"]
