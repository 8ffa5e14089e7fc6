"""``regard check`` as a person runs it: exit codes, JSON, one line for a mistake."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from regard.worked.source import shipped
from tests.cli.run import ROOT, regard, regard_process

PRINTED = ROOT / "regard/worked/examples/tutorial-printed.toml"
CORRECTED = ROOT / "regard/worked/examples/tutorial-corrected.toml"


def test_wrong_numbers_exit_1_and_are_named_with_their_working() -> None:
    done = regard_process("check", PRINTED)
    assert done.returncode == 1
    assert done.stderr == ""
    assert "\x1b" not in done.stdout, "plain in a pipe"
    assert max(map(len, done.stdout.splitlines())) <= 80
    flat = " ".join(done.stdout.split())
    assert "keys[1][0] 0.6 1 k_2: x_2 · row 2 of W_K = 2·0.4 + 2·0.1 = 1" in flat
    assert "9 of 19 numbers are wrong: 6 by themselves, 3 because of earlier ones." in flat
    assert "It went wrong first at queries[2][0]: 0.6 should be 0.4." in flat
    assert "sum to 1.7773, not 1" in flat
    assert "d_k = 4 is not the width of a key" in flat


def test_right_numbers_exit_0() -> None:
    done = regard("check", CORRECTED)
    assert done.returncode == 0
    assert "All 63 numbers are right." in done.stdout


def test_examples_come_with_regard() -> None:
    listed = regard("check", "--list")
    assert listed.returncode == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(shipped())
    assert re.search(r"(?m)^two-heads +Two heads, each word sees itself", listed.stdout)
    assert regard("check", "tutorial-printed").stdout == regard("check", PRINTED).stdout
    explained = regard("explain", "--example", "tutorial-corrected")
    assert explained.stdout == regard("explain", "--example", CORRECTED).stdout


def test_neither_a_file_nor_a_name() -> None:
    done = regard("check", "two-head")
    assert done.returncode == 2
    assert done.stderr == (
        "regard: error: cannot read 'two-head': No such file or directory; "
        "did you mean 'two-heads'?\n"
    )
    done = regard("check")
    assert done.returncode == 2
    assert done.stderr == (
        "regard: error: check takes a FILE or a name; 'regard check --list' has the names\n"
    )


def test_json_has_the_documented_form() -> None:
    done = regard("check", PRINTED, "--json", "-")
    assert done.returncode == 1
    result = json.loads(done.stdout)
    assert set(result) == {"right", "wrong", "remarks"}
    assert result["right"] == 10
    assert result["wrong"][0] == {
        "step": "queries",
        "index": [2, 0],
        "claimed": 0.6,
        "correct": pytest.approx(0.4),
    }
    assert len(result["remarks"]) == 3


def test_json_to_a_file(tmp_path: Path) -> None:
    done = regard("check", CORRECTED, "--json", tmp_path / "out.json")
    assert done.returncode == 0
    assert "All 63 numbers are right." in done.stdout
    content = json.loads((tmp_path / "out.json").read_text())
    assert content == {"right": 63, "wrong": [], "remarks": []}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = [[1, 2], [3]]\n[claims]\n", "line 1: x is ragged"),
        ("x = [[1]]\nmecanism = 'simple'", "line 2: unknown key 'mecanism'; did you mean 'mechan"),
        ("x = [[1, 2", "is not valid TOML"),
        ("x = [[1]]\n[claims]\nscore = 1", "bad.toml', line 3: claims.score: no step is called"),
        ("x = [[1]]\n[claims]\n", "bad.toml', line 2: nothing is claimed"),
        (f"x = [[{'9' * 5000}]]", "has a number that is too long to be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line_and_exit_2(
    tmp_path: Path, text: str, words: str
) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    done = regard("check", file)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("regard: error: ")
    assert words in done.stderr


def test_a_wrong_option_is_one_line_too() -> None:
    done = regard("check", "--jsn", "-")
    assert done.returncode == 2
    assert done.stderr == "regard: error: No such option '--jsn'. Did you mean '--json'?\n"


def test_control_characters_in_a_file_cannot_act(tmp_path: Path) -> None:
    file = tmp_path / "hostile.toml"
    file.write_text('title = "\\u001b[2J\\u202Eevil"\nx = [[1]]\n[claims]\nscores = [[2]]\n')
    done = regard("check", file)
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert "\\x1b[2J\\u202eevil" in done.stdout


def test_several_files_have_the_worst_code_and_their_names(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("x = [[1, 2], [3]]")
    files = ("tutorial-corrected", "tutorial-printed", tmp_path / "bad.toml")
    done = regard("check", *files, "--json", "-")
    assert done.returncode == 2
    right, wrong, bad = json.loads(done.stdout)
    assert right == {"file": "tutorial-corrected", "right": 63, "wrong": [], "remarks": []}
    assert (wrong["file"], wrong["right"], len(wrong["wrong"])) == ("tutorial-printed", 10, 9)
    assert set(bad) == {"file", "error"}
    assert done.stderr.count("\n") == 1
    assert "bad.toml', line 1: x is ragged" in done.stderr
    done = regard("check", *files[:2])
    assert done.returncode == 1
    assert done.stdout.startswith("tutorial-corrected:\n")
    assert "\ntutorial-printed:\n" in done.stdout
    assert regard("check", files[0], "two-heads").returncode == 0


MINE = """
import numpy as np

def attention(q, k, v, mask=None):
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    weights = raised / raised.sum(-1, keepdims=True)
    print("looking")
    return (weights if mask is None else weights * mask) @ v
"""


def test_own_code(tmp_path: Path) -> None:
    file = tmp_path / "my_attention.py"
    file.write_text(MINE)
    done = regard("check", f"{file}:attention", "--mechanism", "scaled")
    assert done.returncode == 1
    flat = " ".join(done.stdout.split())
    assert "Right without a mask; with one, its numbers are what you get if the mask is" in flat
    assert "11 of 23 cases are wrong." in flat
    assert "looking" in done.stderr
    done = regard("check", f"{file}:attention", "--mechanism", "scaled", "--json", "-")
    assert [fault["fault"] for fault in json.loads(done.stdout)["wrong"]] == ["masked late"]


def test_own_code_needs_a_mechanism_and_examples_none(tmp_path: Path) -> None:
    done = regard("check", "mine.py:attention")
    assert (done.returncode, done.stdout) == (2, "")
    assert "such as --mechanism scaled" in done.stderr
    done = regard("check", CORRECTED, "--causal")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--causal goes with code" in done.stderr


def test_markdown_gives_a_result_for_each_block(tmp_path: Path) -> None:
    page = tmp_path / "notes.md"
    block = "```toml\nscores = [[1, 1]]\n[claims]\nweights = [[0.5, {}]]\n```\n"
    page.write_text(block.format("0.5") + block.format("0.4") + block.format("[]"))
    done = regard("check", page, "--json", "-")
    assert done.returncode == 2
    results = json.loads(done.stdout)
    assert [result["file"] for result in results] == [f"{page}:{line}" for line in (2, 7, 12)]
    assert results[0]["wrong"] == []
    assert results[1]["wrong"][0]["claimed"] == 0.4
    assert "line 14" in results[2]["error"]


@pytest.mark.parametrize(
    "text",
    [
        "scores = [[1, 2]]",
        "scores = [[1, 2]]\n[claims]\nweights = [[0.5, 0.5], [1]]",
        "scores = [[1, 2]]\n[claims]\nweights = [[0.5, nan]]",
        'scores = [[1, 2]]\n[claims]\n"weights[a]" = 1',
        "score = [[1, 2]]\n[claims]\nweights = [[0.5, 0.5]]",
    ],
)
def test_what_cannot_be_right_is_refused_before_torch_is_imported(
    tmp_path: Path, text: str
) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    script = (
        "import sys\nfrom regard.cli import main\n"
        f"try:\n    main(['check', {str(file)!r}])\n"
        "except SystemExit as stop:\n    print(stop.code, 'torch' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "2 False\n"
    assert done.stderr.count("\n") == 1
