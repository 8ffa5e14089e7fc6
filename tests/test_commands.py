"""Every command that the README and the pages of docs/ show is run, and prints what they show.

A page's commands run in the order in which they stand, in one folder, on small stand-ins of the
files that they name. What follows ``$ regard …`` in a page is what the command prints.
"""

from __future__ import annotations

import gzip
import io
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from PIL import Image

from regard.worked.source import shipped
from tests.cli.run import ROOT, Done, regard
from tests.sounds import save_tone
from tests.train.tasks.small_actor import save_episodes

PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
LINE = re.compile(r"^(\$ )?((?:cat \S+ \| )?regard (?:.*\\\n)*.*)$", re.MULTILINE)
CODE = re.compile(r"^```(\w*)\n(.*?)^```|^((?: {4}[^\n]*\n)+)", re.MULTILINE | re.DOTALL)
PLACEHOLDER = re.compile(r"\b(COMMAND|FILE|FOLDER|MODEL|OUT|RUN|TEXT|WORD)\b|…")
"""A line with one of these says how a command is called and is not itself one."""
CHANGING = re.compile(r"(?<=difference )\d\.\de-\d\d|(?<=difference\n)\d\.\de-\d\d|[\d.]+ GB are")
"""Differs from machine to machine: how far two ways to compute are apart, how much memory."""
MORE = {
    "train": ["--steps", "2", "--threads", "1", "--set", "train.validate_every=2"],
    "cost": ["--lengths", "16,32", "--repeats", "1", "--budget", "5"],
}
"""What makes a command quick, where it prints nothing that is shown."""
MORE_OF_TRANSLATORS = ["--size", "tiny"]
FEW_TOKENS = ["--vocabulary", "100"]
MORE_TO_DIVIDE = ["--set", "data.valid_share=0.2", "--set", "data.test_share=0.2"]
BEFORE = {
    "docs/read.md": ["regard train lm --text english.txt --size tiny -o runs/mine"],
    "docs/translate.md": [
        f"regard train translate --pairs deu.txt.gz --reverse -o runs/{name}"
        for name in ("mine", "bahdanau")
    ],
}
"""Commands that a page takes for granted."""
ELSEWHERE = {
    "regard look ocr --image line.png": "27 MB to fetch; tests/inside/test_ocrmodel.py has it",
    "regard look ocr --image line.png --at 235,20 --layer 1 --head 6 --png looks.png": (
        "27 MB to fetch; tests/cli/shared/test_thing.py has a small recogniser"
    ),
    "regard evaluate runs/act --environment CartPole-v1 --returns 10,60,250,500 --trials 20": (
        "gymnasium does not come with regard; tests/train/tasks/test_actscores.py acts in it"
    ),
    'regard translate --model runs/short --alignment --png summary.png "This package provides a '
    "library to parse the files of the Zorbula weather viewer. This package contains the "
    'documentation."': (
        "a model of two updates says more words than a picture holds; tests/cli/test_translate.py "
        "draws one"
    ),
    "regard serve": "tests/web starts the server",
    "regard serve minilm smollm2 --port 9000 --open": "tests/web starts the server",
    'regard look minilm "The street is wide" --compare-model smollm2 --html models.html': (
        "smollm2 is 93 MB to fetch; tests/cli/test_look.py compares two models"
    ),
    'regard explain "The cat sat on the mat because it was tired" --model smollm2 --word it': (
        "smollm2 is 93 MB to fetch; tests/inside/explain/test_observed.py has small models"
    ),
    'regard explain "In 1969 the first man walked on the" --whole --parts --model smollm2': (
        "smollm2 is 93 MB to fetch; tests/inside/explain/test_whole.py has a small Llama"
    ),
    'regard explain "Paris is the [MASK] of France" --whole --model bert-base-uncased': (
        "it is fetched from the hub; tests/inside/explain/test_whole.py has a small BERT"
    ),
}
"""Commands that are not run here, and why."""


class Shown(NamedTuple):
    """A command as a page shows it, and what the page says that it prints, if anything."""

    command: str
    printed: str


def shown(page: str) -> Iterator[Shown]:
    """The commands of a page, in their order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for language, fenced, indented in CODE.findall(text):
        if language not in ("", "bash", "console"):
            continue
        block = fenced or re.sub(r"(?m)^ {4}", "", indented)
        places = list(LINE.finditer(block))
        ends = [place.start() for place in places[1:]] + [len(block)]
        for place, end in zip(places, ends, strict=False):
            command = re.sub(r"\s+# .*$", "", re.sub(r"\\\n", " ", place[2])).strip()
            if not PLACEHOLDER.search(command):
                yield Shown(command, block[place.end() : end].strip("\n") if place[1] else "")


def stand_ins(folder: Path) -> None:
    """Small files by the names that the pages use."""
    (folder / "mine.py").write_text(
        "from regard import attend\n\n\ndef attention(query, key, value, mask=None):\n"
        "    return attend(query, key, value, mask=mask)\n"
    )
    (folder / "worked.toml").write_text(shipped()["tutorial-corrected"].read_text())
    english = [
        f"{n} {v} {t} ."
        for n in ("Tom", "Mary", "I")
        for v in ("see", "like")
        for t in ("dogs", "tea", "books", "the street", "my friend", "old songs", "a film")
    ]
    german = [
        f"{n} {v} {t} ."
        for n in ("Tom", "Mary", "ich")
        for v in ("sehe", "mag")
        for t in (
            "Hunde",
            "Tee",
            "Bücher",
            "die Straße",
            "meinen Freund",
            "alte Lieder",
            "einen Film",
        )
    ]
    (folder / "english.txt").write_text("\n".join(english) + "\n")
    (folder / "german.txt").write_text("\n".join(german[:3]) + "\n")
    (folder / "sentences.txt").write_text("\n".join(english[:2]) + "\n")
    (folder / "test.de").write_text("\n".join(german) + "\n")
    (folder / "test.en").write_text("\n".join(english) + "\n")
    table = "".join(f"{e}\t{g}\n" for e, g in zip(english, german, strict=True))
    (folder / "deu.txt.gz").write_bytes(gzip.compress(table.encode()))
    texts = [f"{line} {other}" for line, other in zip(english, german, strict=True)]
    (folder / "descriptions.tsv").write_text(
        "".join(f"{text}\t{line}\n" for text, line in zip(texts, english, strict=True))
    )
    labels = ("good", "bad")
    (folder / "reviews.tsv").write_text(
        "".join(f"{labels[i % 2]}\t{line}\n" for i, line in enumerate(english))
    )
    for part in ("train", "valid", "test"):
        (folder / f"ptb.{part}.txt.gz").write_bytes(gzip.compress("\n".join(english).encode()))
    multi = folder / "multi30k"
    multi.mkdir()
    for part in ("train", "val", "test_2016_flickr"):
        (multi / f"{part}.de.gz").write_bytes(gzip.compress("\n".join(german).encode()))
        (multi / f"{part}.en.gz").write_bytes(gzip.compress("\n".join(english).encode()))
    words = ("the", "cat", "sat", "on", "mat")
    numbers = [
        " ".join(f"{(i * 7 + j * 3) % 11 / 10 - 0.5:.2f}" for j in range(50)) for i in range(5)
    ]
    (folder / "glove.6B.50d.txt").write_text(
        "".join(f"{w} {n}\n" for w, n in zip(words, numbers, strict=True))
    )
    (folder / "three.txt").write_text(
        "machine learning is fascinating\nnatural language processing is important\n"
        "word embeddings capture semantic relations\n"
    )
    with open(folder / "vectors.bin", "wb") as file:  # of 3.4 GB, none of them on the disk
        file.write(b"3000000 300\n</s> " + bytes(1200))
        file.truncate(12 + 2_830_974 * 1201)
    chance = np.random.default_rng(3)
    pixels = chance.integers(0, 256, (60, 8, 8), dtype=np.uint8)
    np.savez(folder / "digits.npz", images=pixels, labels=np.arange(60) % 2)
    Image.fromarray(pixels[0]).save(folder / "seven.png")
    Image.fromarray(pixels[1]).save(folder / "boot.png")
    classes = np.repeat(np.repeat(chance.integers(0, 2, (60, 4, 4)), 2, 1), 2, 2)
    np.savez(folder / "scenes.npz", images=pixels, labels=classes)
    Image.fromarray(pixels[2]).save(folder / "scene.png")
    tagged = "\n".join(
        "".join(f"{word}\t{'X' if word.isalpha() else 'PUNCT'}\n" for word in line.split())
        for line in english
    )
    for part in ("train", "test"):
        (folder / f"en-{part}.conllu").write_text(tagged)
    (folder / "weather.csv").write_text(
        "date,warm,weather\n"
        + "".join(f"{i},{i % 9},{'sun' if i % 9 > 4 else 'rain'}\n" for i in range(400))
    )
    (folder / "load.csv").write_text(
        "hour,load\n" + "".join(f"{i},{i % 24 + i % 7}\n" for i in range(400))
    )
    events = [f"{u}\tfilm{(u + k) % 11}\t{k}\n" for u in range(9) for k in range(6)]
    (folder / "events.tsv").write_text("".join(events))
    (folder / "titles.tsv").write_text("".join(f"film{k}\tFilm {k}\n" for k in range(11)))
    save_episodes(folder / "cartpole.npz", 4)
    for place, many in (("spoken", 40), ("unheard", 4)):
        (folder / place).mkdir()
        for i in range(many):
            save_tone(folder / place / f"{6 + i % 2}_someone_{i}.wav", 400 + 600 * (i % 2), 0.1, i)
    save_tone(folder / "seven.wav", 1000, 0.1)
    (folder / "story.txt").write_text("The street was wide. It was too wide.\n")
    (folder / "texts.txt").write_text("The street was wide.\nIt was too wide.\n")


def run(command: str, quick: bool, monkeypatch: pytest.MonkeyPatch) -> Done:
    """A line of a page, as a shell would run it in the present folder."""
    piped, _, rest = command.rpartition(" | ")
    words = shlex.split(rest.replace("$M", "multi30k").partition(" > ")[0])[1:]
    if quick and "--resume" not in words:
        words += MORE.get(words[0], [])
        if words[:2] == ["train", "translate"]:
            words += [*MORE_OF_TRANSLATORS, *([] if "--from" in words else FEW_TOKENS)]
        divided = any(word.startswith("--valid") for word in words)
        divided = divided or words[:2] == ["train", "recommend"]
        words += MORE_TO_DIVIDE if words[0] == "train" and not divided else []
    if piped:
        text = Path(piped.removeprefix("cat ")).read_text(encoding="utf-8")
        monkeypatch.setattr(
            sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode())))
        )
    return regard(*words, folder=Path.cwd())


def as_shown(text: str) -> str:
    """Without what differs from machine to machine, and one blank for any white space."""
    return " ".join(CHANGING.sub("#", text).split())


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    commands = [s for s in shown(page) if s.command not in ELSEWHERE]
    if any("minilm" in s.command or 'explain "' in s.command for s in commands):
        request.getfixturevalue("minilm")
    stand_ins(tmp_path)
    monkeypatch.chdir(tmp_path)
    for command in BEFORE.get(page, []):
        assert run(command, True, monkeypatch).returncode == 0
    for command, printed in commands:
        done = run(command, not printed, monkeypatch)
        if not printed:
            assert done.returncode == 0, f"{command}: {done.stderr}"
            continue
        if done.returncode == 2:  # one line, which a page may break
            assert as_shown(done.stderr) == as_shown(printed)
        elif "…" in printed.splitlines():  # on a line of its own: what is left out
            for part in re.split(r"(?m)^…$", printed):
                assert as_shown(part) in as_shown(done.stdout), command
        else:
            assert CHANGING.sub("#", done.stdout).strip() == CHANGING.sub("#", printed).strip()


def test_nothing_is_left_out_without_need() -> None:
    everything = {s.command for page in PAGES for s in shown(page)}
    assert ELSEWHERE.keys() <= everything
    assert len(everything) > 40
