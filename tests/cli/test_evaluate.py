"""regard evaluate: what is refused is refused before torch is imported."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nowhere"], "neither a folder nor a model that comes with regard"),
        (["bahdanau", "--data", "x"], "--data is not for a translator"),
        (["lstmn", "--beam", "3"], "it takes --text, --column"),
        (["lstmn", "--with", "bahdanau"], "--with is not for a language model"),
        (
            ["bahdanau", "--with", "lstmn"],
            "'lstmn' is a language model, and a translator is wanted",
        ),
    ],
)
def test_refused_at_once(arguments: list[str], text: str) -> None:
    script = (
        "import sys; from regard.cli import main\n"
        f"try: main(['evaluate', *{arguments!r}])\n"
        "except SystemExit as end: print(end.code, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert text in done.stderr
    assert done.stdout == "2 False\n"
