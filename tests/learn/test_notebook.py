"""Chapters as notebooks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regard.learn.chapter import Chapter
from regard.learn.course import chapters, find_chapter
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


def test_a_notebook_runs_in_jupyter(tmp_path: Path) -> None:
    """Cells that are Python, in a kernel; commands are those that test_course.py runs."""
    nbclient = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel")
    nbformat = pytest.importorskip("nbformat")
    content = nbformat.from_dict(notebook(find_chapter("6")))
    nbformat.validate(content)
    client = nbclient.NotebookClient(
        content, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    printed = "".join(
        output.get("text", "") for cell in content.cells for output in cell.get("outputs", [])
    )
    assert "[0.042, 0.114, 0.844]" in printed
