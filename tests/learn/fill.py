"""Write into the chapters what their samples print: python -m tests.learn.fill [05 …]

For whoever writes a chapter. Blocks that leave lines out (…) or vary stay as they are.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

from regard.cli.shared.lesson import run_command
from regard.learn.chapter import COMMAND, FENCE, Sample, Written
from regard.learn.course import FOLDER
from regard.learn.question import HEADING
from regard.learn.runner import Runner


def filled(text: str, runner: Runner) -> str:
    """The chapter with the output of every sample that shows all of it."""
    asked = HEADING.search(text)
    body, rest = (text[: asked.start()], text[asked.start() :]) if asked else (text, "")
    silent = r"(?m)^(```python\n(?:(?!```).*\n)*```\n)(?!\n```text)"
    body = re.sub(silent, r"\1\n```text\n```\n", body)
    source = ""

    def replaced(block: re.Match[str]) -> str:
        nonlocal source
        language, said, content = block[1], block[2].strip(), block[3]
        before, source = source, ""
        if language == "console":
            return f"```console{block[2]}\n{_commands(content, said, runner)}```\n"
        if language == "python" and not said:
            source = content
        elif language == "text" and before:
            printed = runner.run(Sample("python", before, ""))
            if not printed:
                return "@@"
            keeps = said == "varies" or "…\n" in content
            return f"```text{block[2]}\n{content if keeps else printed}```\n"
        elif said and said != "varies":
            runner.write(Written(said, language, content))
        return block[0]

    return FENCE.sub(replaced, body).replace("\n@@", "") + rest


def _commands(content: str, said: str, runner: Runner) -> str:
    places = list(COMMAND.finditer(content))
    ends = [place.start() for place in places[1:]] + [len(content)]
    made = []
    for place, end in zip(places, ends, strict=True):
        shown = content[place.end() : end]
        printed = runner.run(Sample("console", re.sub(r"\\\n\s*", "", place[1]), ""))
        keeps = said == "varies" or "…" in shown.splitlines()
        made.append(f"$ {place[1]}\n{shown if keeps else printed.rstrip() + chr(10)}")
    return "".join(made)


def main(wanted: list[str]) -> None:
    os.environ["COLUMNS"] = "80"
    for path in sorted(FOLDER.glob("*/*.md")):
        if wanted and not path.name.startswith(tuple(wanted)):
            continue
        with tempfile.TemporaryDirectory() as folder:
            text = path.read_text(encoding="utf-8")
            path.write_text(filled(text, Runner(Path(folder), run_command)), encoding="utf-8")
        print(path.relative_to(FOLDER))


if __name__ == "__main__":
    main(sys.argv[1:])
