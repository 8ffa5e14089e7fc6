"""npz files: what is in them, nothing pickled, nothing larger than allowed."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from regard.errors import DataError
from regard.train.data.npz import read_arrays


def test_arrays_by_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", one=np.arange(3), two=np.eye(2))
    found = read_arrays(tmp_path / "a.npz", "one")
    assert set(found) == {"one", "two"}
    assert found["one"].tolist() == [0, 1, 2]
    with pytest.raises(DataError, match="has no 'three'; it has one, two"):
        read_arrays(tmp_path / "a.npz", "one", "three")


def test_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.npz").write_bytes(b"no zip")
    with pytest.raises(DataError, match="is no npz file of numbers"):
        read_arrays(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", one=np.array([{}], dtype=object))
    with pytest.raises(DataError, match="is no npz file of numbers"):
        read_arrays(tmp_path / "b.npz")
    header = b"\x93NUMPY\x01\x00v\x00" + (
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (300000000,), }".ljust(117) + b"\n"
    )
    with zipfile.ZipFile(tmp_path / "c.npz", "w") as archive:
        archive.writestr("one.npy", header)
    said = r"one\.npy in '.*c.npz' says that it is \(300000000,\) of float64, and has 128 bytes"
    with pytest.raises(DataError, match=said):  # before room is made for 2.4 GB
        read_arrays(tmp_path / "c.npz")
    with zipfile.ZipFile(tmp_path / "e.npz", "w") as archive:
        archive.writestr("one.npy", header.replace(b"NUMPY\x01", b"NUMPY\x03"))
    with pytest.raises(
        DataError, match=r"is no npz file of numbers: one\.npy is written in version"
    ):
        read_arrays(tmp_path / "e.npz")
    np.savez_compressed(tmp_path / "d.npz", one=np.zeros(1000))
    monkeypatch.setattr("regard.train.data.npz.MOST_BYTES", 7000)
    with pytest.raises(DataError, match=r"would have 8,\d+ bytes, more than 7,000"):
        read_arrays(tmp_path / "d.npz")
