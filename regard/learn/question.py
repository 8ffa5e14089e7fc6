"""Question: an exercise of a chapter, with two hints, its solution, and what is to be answered.

### Exercise 5.2: by pencil

What is asked, in Markdown; a ```toml block in it is a worked example.

<details><summary>Hint</summary> … </details>
<details><summary>Second hint</summary> … </details>
<details><summary>Solution</summary>

<!-- answer: number 0.374 -->

What the solution says. </details>

An answer is a `number`, a `matrix`, a `word` (of several, divided by |, each is right), a `step` of
the worked example, such as weights[0][1], a `file` in which the named steps of that example are
claimed, a `function` of a file, tried as the named mechanism, or `open`: nothing can be checked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from regard.errors import RegardError

KINDS = ("number", "matrix", "word", "step", "file", "function", "open")
HEADING = re.compile(r"^### (?:Exercise|练习) (\d+\.\d+)[:：] *(.+)$", re.MULTILINE)
DETAILS = re.compile(r"<details><summary>.*?</summary>\n(.*?)\n</details>", re.DOTALL)
ANSWER = re.compile(r"<!-- answer: (\w+) ?(.*?) -->\n*", re.DOTALL)
EXAMPLE = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Question:
    """What is asked, and what is right."""

    number: str
    """``5.2``: the second of chapter 5."""
    title: str
    text: str
    hints: tuple[str, str]
    solution: str
    kind: str
    answer: str

    @property
    def example(self) -> str:
        """The worked example that it is about, as TOML; nothing if it has none."""
        found = EXAMPLE.search(self.text)
        return found[1] if found else ""


def questions_of(text: str) -> list[Question]:
    """The questions of a part of a chapter that has nothing else."""
    places = list(HEADING.finditer(text))
    ends = [place.start() for place in places[1:]] + [len(text)]
    return [
        _question(place[1], place[2].strip(), text[place.end() : end])
        for place, end in zip(places, ends, strict=True)
    ]


def _question(number: str, title: str, text: str) -> Question:
    details = DETAILS.findall(text)
    if len(details) != 3:
        raise RegardError(
            f"exercise {number} must have two hints and a solution, got {len(details)} <details>"
        )
    *hints, solution = (part.strip() for part in details)
    found = ANSWER.search(solution)
    if found is None or found[1] not in KINDS:
        raise RegardError(
            f"the solution of exercise {number} must begin with <!-- answer: KIND … -->, KIND one "
            f"of {', '.join(KINDS)}"
        )
    return Question(
        number,
        title,
        text[: text.index("<details>")].strip(),
        (hints[0], hints[1]),
        ANSWER.sub("", solution, count=1).strip(),
        found[1],
        found[2].strip(),
    )
