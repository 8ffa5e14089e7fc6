"""``regard cost`` as a user runs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.run import regard, regard_process

SMALL = ["cost", "--lengths", "16,32,64", "--width", "8", "--window", "4", "--repeats", "1"]


def test_in_a_pipe_it_is_plain_text_of_80_columns() -> None:
    done = regard_process(*SMALL)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert done.stdout.startswith("What is the time and memory complexity of self-attention?\n")
    assert "Answer: self-attention compares every position with every other" in done.stdout
    assert done.stderr.splitlines()[0] == "measuring memory, n = 16"
    assert done.stderr.splitlines()[-1] == "measuring time, round 1 of 1"


def test_nothing_heavy_is_loaded_to_show_the_help() -> None:
    code = (
        "import sys; from regard.cli.cost import cost; "
        "print([m for m in ('torch', 'numpy', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_json_on_stdout_is_only_json() -> None:
    code, out, _ = regard(*SMALL, "--json", "-")
    assert code == 0
    result = json.loads(out)
    assert result["question"] == "What is the time and memory complexity of self-attention?"
    assert result["lengths"] == [16, 32, 64]
    assert result["fitted_lengths"] == [32, 64]
    assert (result["width"], result["heads"], result["neighbours"]) == (8, 1, 9)
    formulas = [
        (m["time_formula"], m["memory_formula"], m["sequential_steps"])
        for m in result["mechanisms"]
    ]
    assert formulas == [
        ("O(n² d)", "O(n²)", "1"),
        ("O(n² d)", "O(n d)", "1"),
        ("O(r n d)", "O(n d)", "1"),
        ("O(n d²)", "O(n d)", "n"),
    ]
    for mechanism in result["mechanisms"]:
        assert len(mechanism["seconds"]) == len(mechanism["bytes"]) == 3
        assert isinstance(mechanism["time_exponent"], float)
        assert isinstance(mechanism["memory_exponent"], float)
    assert result["mechanisms"][0]["memory_exponent"] > 1.8


def test_files_are_written_beside_the_page(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("cost.json", "cost.png", "cost.svg")]
    options = [str(word) for file in files for word in (f"--{file.suffix[1:]}", file)]
    code, out, _ = regard(*SMALL, *options)
    assert code == 0
    assert out.startswith("What is the time")
    assert out.endswith(f"Written: {', '.join(map(str, files))}\n")
    assert json.loads(files[0].read_text())["lengths"] == [16, 32, 64]
    assert files[1].read_bytes().startswith(b"\x89PNG")
    assert "<svg" in files[2].read_text()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            "--lengths 16,x",
            "--lengths takes whole numbers with commas between, such as 256,512,1024; got 'x'",
        ),
        (
            "--lengths 1.5,2",
            "--lengths takes whole numbers with commas between, such as 256,512,1024; got '1.5'",
        ),
        ("--lengths 16", "an exponent needs two lengths or more, got 16"),
        ("--lengths 16,8", "the lengths must increase, got 16,8"),
        ("--lengths 0,8", "a length must be 1 or more, got 0"),
        ("--width 0", "the width must be 1 or more, got 0"),
        ("--window 0", "the window must be 1 or more, got 0"),
        ("--heads 3", "the heads must divide the width: got 3 heads for width 64"),
        ("--repeats 0", "the repeats must be 1 or more, got 0"),
        ("--budget -1", "the budget must be more than 0 seconds, got -1"),
        ("--png no/such/a.png", "cannot write 'no/such/a.png': its folder does not exist"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(options: str, text: str) -> None:
    assert regard("cost", *options.split()) == (2, "", f"regard: error: {text}\n")


def test_ten_million_positions_are_refused_at_once_with_their_size() -> None:
    code, out, err = regard("cost", "--lengths", "1000,10000000")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "its weights (n² × 4 bytes) take 400 TB and measuring it 1.20 PB" in err


@pytest.mark.parametrize("option", ["width", "heads", "window", "repeats", "threads"])
def test_numbers_without_end_are_refused(option: str) -> None:
    done = regard("cost", f"--{option}", "9" * 60)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith("is not in the range x<=1000000.\n")
