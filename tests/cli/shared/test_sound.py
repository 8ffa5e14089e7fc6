"""``read --sound``: the label, the spans, JSON and the page; refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.run import regard
from tests.inside.test_soundreading import save_model
from tests.sounds import save_tone, wav


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_model(tmp_path)
    save_tone(tmp_path / "a.wav", 700, 0.31)
    return tmp_path


def test_text_json_and_page(folder: Path) -> None:
    done = regard("read", "--model", ".", "--sound", "a.wav", "--html", "a.html", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "the model reads 0.15 s of 0.31: not the rest" in done.stdout
    assert "in silence" not in done.stdout
    save_tone(folder / "b.wav", 700, 0.05)
    done = regard("read", "--model", ".", "--sound", "b.wav", "--html", "b.html", folder=folder)
    assert "% of what decided is padding (pad)" in (folder / "b.html").read_text()
    assert "% of it after the sound has ended, in silence (at 0.05 s)" in done.stdout
    assert "0.05–0.10 s (pad)" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    piped = regard("read", "--model", ".", "--sound", "b.wav", "--json", "-", folder=folder)
    short = json.loads(piped.stdout)
    padded = sum(share for name, share in short["spans"].items() if name.endswith("(pad)"))
    assert short["padding"] == pytest.approx(padded)
    page = (folder / "a.html").read_text()
    assert '"kind":"spectrogram"' in page.replace(" ", "")
    assert page.count("data:image/png;base64,") == 1
    done = regard("read", "--model", ".", "--sound", "a.wav", "--json", "-", folder=folder)
    content = json.loads(done.stdout)
    assert content["seconds"] == pytest.approx(0.31)
    assert list(content["spans"]) == ["0.00–0.05 s", "0.05–0.10 s", "0.10–0.15 s"]
    assert sum(content["spans"].values()) == pytest.approx(1, abs=1e-5)
    assert sum(content["labels"].values()) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--sound", "a.wav"), "--sound needs --model RUN: no model of sounds comes with regard"),
        (("--model", ".", "--sound", "a.wav", "--layer", "1"), "--sound is read alone: of the oth"),
        (("--model", ".", "--sound", "a.wav", "--image", "a.png"), "is read alone"),
        (("--model", ".", "--sound", "none.wav"), "cannot read 'none.wav': No such file"),
        (("--model", ".", "--sound", "config.json"), "'config.json' is no wav file"),
        (("--model", ".", "--sound", "empty.wav"), "'empty.wav' has no sound in it"),
        (
            ("--model", "fashion", "--sound", "a.wav"),
            "'fashion' holds no sound classifier but an image",
        ),
    ],
)
def test_refused(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    (folder / "empty.wav").write_bytes(wav(b""))
    done = regard("read", *arguments, folder=folder)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_conv_has_no_page(folder: Path) -> None:
    save_model(folder, "conv")
    done = regard("read", "--model", ".", "--sound", "a.wav", "--html", "c.html", folder=folder)
    assert "reads no spans (conv), and a page shows attention to them" in done.stderr
    assert done.stdout == ""
    assert not (folder / "c.html").exists()
