"""Chapters as notebooks."""

from __future__ import annotations

import json

from regard.learn.chapter import Chapter
from regard.learn.course import chapters
from regard.learn.notebook import notebook
from tests.learn.test_chapter import TEXT


def test_cells_in_their_order() -> None:
    made = notebook(Chapter.parse("03-a-title", TEXT))
    kinds = [(cell["cell_type"][0], cell["source"].splitlines()[0]) for cell in made["cells"]]
    assert kinds[:7] == [
        ("m", "# 3. A title"),
        ("m", "Before any page."),
        ("m", "## First"),
        ("c", "%%writefile three.txt"),
        ("c", "!regard words show three.txt one"),
        ("c", "!regard check x"),
        ("c", "print(1)"),
    ]
    assert made["cells"][6]["outputs"][0]["text"] == "1 ms\n"
    asked, asking = made["cells"][-2:]
    assert asked["source"].startswith("### Exercise 3.1: by pencil\n\nHow many?\n\n<details>")
    assert 'check_answer("3.1", "")' in asking["source"]


def test_every_chapter_is_valid_json_with_ids_of_its_own() -> None:
    for chapter in chapters():
        made = json.loads(json.dumps(notebook(chapter)))
        ids = [cell["id"] for cell in made["cells"]]
        assert len(set(ids)) == len(ids)
        assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
        code = [cell for cell in made["cells"] if cell["cell_type"] == "code"]
        assert len(code) >= len(chapter.samples)
        for cell in code:
            if not cell["source"].startswith(("!", "%%")):
                compile(cell["source"], chapter.name, "exec")
