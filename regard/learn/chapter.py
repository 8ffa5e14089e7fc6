"""Chapter: a Markdown file taken apart into pages of prose, samples, drawings and questions.

    # 5. Its title
    > The question that it answers.
    ## A page

What stands between ``` and ```:

console   lines that begin with "$ regard", and what each prints
python    a few lines; a ```text block after it is what they print
text      otherwise a drawing
toml, …   with a name behind it (```toml mine.toml): a file that later samples read
live      with models behind it (```live bahdanau): a living page of them, for these sentences

"varies" behind ```console or ```text: the numbers differ from run to run (times).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.errors import RegardError
from regard.learn.question import HEADING, Question, questions_of

FENCE = re.compile(r"^```([\w-]*)([^\n`]*)\n(.*?)^```[ ]*$\n?", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r"# (\d+)\. ([^\n]+)\n+((?:>[^\n]*\n)+)")
COMMAND = re.compile(r"^\$ (regard (?:.*\\\n)*.*)\n?", re.MULTILINE)


@dataclass(frozen=True)
class Prose:
    """Markdown without samples."""

    text: str


@dataclass(frozen=True)
class Drawing:
    """A picture made of characters, or a table of numbers: shown as it stands."""

    text: str


@dataclass(frozen=True)
class Written:
    """A file that the samples after it read."""

    name: str
    language: str
    text: str


@dataclass(frozen=True)
class Sample:
    """Something that runs: a command line (``console``) or Python, and what it prints."""

    language: str
    source: str
    printed: str
    varies: bool = False


@dataclass(frozen=True)
class Living:
    """Models that run in the reader's browser, and the sentences that they begin with."""

    models: tuple[str, ...]
    sentences: tuple[str, ...]

    @property
    def name(self) -> str:
        """Of its page, without an ending."""
        return "-and-".join(self.models)

    @property
    def command(self) -> str:
        """What writes its page."""
        examples = "".join(f" --example {shlex.quote(text)}" for text in self.sentences)
        return f"regard live {' '.join(self.models)}{examples} -o {self.name}.html"


Part = Prose | Drawing | Written | Sample | Living | Question


@dataclass(frozen=True)
class ChapterPage:
    """What is read at a time: from one heading to the next."""

    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Chapter:
    """One chapter; the first page has no heading of its own."""

    number: int
    name: str
    title: str
    question: str
    """What it answers."""
    pages: tuple[ChapterPage, ...]

    @classmethod
    def read(cls, path: Path) -> Chapter:
        """The chapter of a file, ``05-self-attention.md``."""
        return cls.parse(path.stem, path.read_text(encoding="utf-8"))

    @classmethod
    def parse(cls, name: str, text: str) -> Chapter:
        found = TITLE.match(text)
        if found is None:
            raise RegardError(
                f"{name} must begin with '# NUMBER. Title' and a line '> its question'"
            )
        pages = _pages(text[found.end() :])
        question = " ".join(found[3].replace(">", " ").split())
        return cls(int(found[1]), name, found[2].strip(), question, tuple(pages))

    @property
    def parts(self) -> list[Part]:
        return [part for page in self.pages for part in page.parts]

    @property
    def questions(self) -> list[Question]:
        return [part for part in self.parts if isinstance(part, Question)]

    @property
    def living(self) -> list[Living]:
        return [part for part in self.parts if isinstance(part, Living)]

    @property
    def samples(self) -> list[Sample]:
        return [part for part in self.parts if isinstance(part, Sample)]


def _pages(text: str) -> Iterator[ChapterPage]:
    """From heading to heading; '## ' inside a block is no heading."""
    blocks = [found.span() for found in FENCE.finditer(text)]
    heads = [
        found
        for found in re.finditer(r"^## (.+)\n", text, re.MULTILINE)
        if not any(start < found.start() < end for start, end in blocks)
    ]
    ends = [head.start() for head in heads] + [len(text)]
    yield ChapterPage("", tuple(_parts(text[: ends[0]])))
    for head, end in zip(heads, ends[1:], strict=True):
        yield ChapterPage(head[1].strip(), tuple(_parts(text[head.end() : end])))


def _parts(text: str) -> Iterator[Part]:
    asked = HEADING.search(text)
    body = text[: asked.start()] if asked else text
    blocks = list(FENCE.finditer(body))
    done = 0
    for place, block in enumerate(blocks):
        if block.start() < done:
            continue  # what a Python sample printed, taken with it
        yield from _prose(body[done : block.start()])
        done = block.end()
        if block[1] == "python" and not block[2].strip():
            after = blocks[place + 1] if place + 1 < len(blocks) else None
            if after and after[1] == "text" and not body[done : after.start()].strip():
                yield Sample("python", block[3], after[3], "varies" in after[2])
                done = after.end()
            else:
                yield Sample("python", block[3], "")
        else:
            yield from _block(block[1], block[2].strip(), block[3])
    yield from _prose(body[done:])
    if asked:
        yield from questions_of(text[asked.start() :])


def _block(language: str, said: str, text: str) -> Iterator[Part]:
    if language == "console":
        yield from _commands(text, "varies" in said)
    elif language == "live":
        yield Living(tuple(said.split()), tuple(text.splitlines()))
    elif said and said != "varies":
        yield Written(said, language, text)
    else:
        yield Drawing(text)


def _prose(text: str) -> Iterator[Prose]:
    if text.strip():
        yield Prose(text.strip())


def _commands(block: str, varies: bool) -> Iterator[Sample]:
    places = list(COMMAND.finditer(block))
    if not places or places[0].start():
        raise RegardError(f"a console block begins with '$ regard', got {block[:40]!r}")
    ends = [place.start() for place in places[1:]] + [len(block)]
    for place, end in zip(places, ends, strict=True):
        source = re.sub(r"\\\n\s*", "", place[1])
        yield Sample("console", source, block[place.end() : end], varies)
