"""Worked examples in npz files and in markdown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import regard
from regard.errors import RegardError
from regard.worked.example import Example
from regard.worked.formats import read_example, read_examples

PAGE = """# Notes

```toml
scores = [[112, 96]]
d_k = 64
[claims]
scaled = [[14, 12]]
```

```python
claims = {}
```

~~~json
{"scores": [[1, 2]],
 "claims": {"weights": [[0.5, 0.5]]}}
~~~

```toml
[tool.ruff]
line-length = 100
```
"""


def test_an_npz_of_arrays(tmp_path: Path) -> None:
    q, k = np.random.default_rng(1).normal(size=(2, 3, 4))
    raised = np.exp(q @ k.T / 2)
    weights = raised / raised.sum(-1, keepdims=True)
    np.savez(
        tmp_path / "mine.npz",
        **{"mechanism": "scaled", "queries": q, "keys": k, "claims.weights": weights},
    )
    assert regard.check(tmp_path / "mine.npz").ok
    weights[1, 2] += 1e-6
    np.savez(tmp_path / "mine.npz", **{"queries": q, "keys": k, "claims/weights": weights})
    result = regard.check(tmp_path / "mine.npz")
    assert [(w.step, w.index) for w in result.wrong] == [("weights", (1, 2))]


def test_objects_are_not_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", x=np.array([{"a": 1}], dtype=object))
    with pytest.raises(RegardError, match="objects are not read"):
        read_example(tmp_path / "mine.npz")
    (tmp_path / "mine.npz").write_bytes(b"PK nothing")
    with pytest.raises(RegardError, match="no npz file of plain arrays"):
        read_example(tmp_path / "mine.npz")
    with pytest.raises(RegardError, match="No such file"):
        read_example(tmp_path / "other.npz")


def test_fenced_blocks_of_a_page(tmp_path: Path) -> None:
    page = tmp_path / "notes.md"
    page.write_text(PAGE)
    first, second = read_examples(page)
    assert (first.place, second.place) == (f"{page}:4", f"{page}:15")
    assert first.content["d_k"] == 64
    assert list(second.content["claims"]) == ["weights"]
    with pytest.raises(RegardError, match=r"holds 2 worked examples \(lines 4, 15\)"):
        read_example(page)


def test_errors_name_the_line_of_the_page(tmp_path: Path) -> None:
    page = tmp_path / "notes.md"
    page.write_text(PAGE.replace("d_k = 64", "dk = 64"))
    with pytest.raises(RegardError, match=r"notes.md', line 5: unknown key 'dk'"):
        Example.from_file(read_examples(page)[0])
    page.write_text(PAGE.replace("d_k = 64", "d_k = = 64"))
    with pytest.raises(RegardError, match="at line 5"):
        read_examples(page)


def test_a_page_without_examples(tmp_path: Path) -> None:
    page = tmp_path / "notes.md"
    page.write_text("# Nothing here\n")
    with pytest.raises(RegardError, match="has no fenced block of a worked example"):
        read_examples(page)
    page.write_bytes(b"\xff\xfe")
    with pytest.raises(RegardError, match="is not UTF-8 text"):
        read_examples(page)
