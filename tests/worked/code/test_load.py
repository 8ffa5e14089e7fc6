"""``mine.py:attention``: what is found, and what is said if it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.errors import RegardError
from regard.worked.code.load import load, names_code


def test_what_is_code() -> None:
    assert names_code("mine.py:attention")
    assert names_code("mine.py")
    assert not names_code("mine.toml")
    assert not names_code("tutorial-printed")


def test_a_name_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "beside_it.py").write_text("TWO = 2\n")
    file = tmp_path / "mine_here.py"
    file.write_text(
        "from beside_it import TWO\nprint('hello')\n"
        "class A:\n    def twice(x):\n        return TWO * x\n"
    )
    assert load(f"{file}:A.twice", 5)(4) == 8
    assert capsys.readouterr().out == ""  # standard output is for the result


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        ("def attention(q): ...", "atention", "has no 'atention'; did you mean 'attention'?"),
        ("x = 3", "x", "cannot be called: it is a int"),
        ("def f(:", "f", "line 1 cannot be imported: SyntaxError"),
        ("\nimport nothing_such", "f", "line 2 cannot be imported: ModuleNotFoundError"),
        ("raise SystemExit(1)", "f", "line 1 cannot be imported: SystemExit"),
        ("while True: pass", "f", "not imported within 0.3 seconds"),
        ("def f(): ...", "", "say which function of"),
    ],
)
def test_what_cannot_be_loaded(tmp_path: Path, text: str, name: str, says: str) -> None:
    file = tmp_path / "mine_bad.py"
    file.write_text(text)
    with pytest.raises(RegardError) as error:
        load(f"{file}:{name}", 0.3)
    assert says in str(error.value)
