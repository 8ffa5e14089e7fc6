"""Chapters as plain data."""

from __future__ import annotations

import json

from regard.learn.chapter import Chapter
from regard.learn.edition import edition
from tests.learn.test_chapter import TEXT


def test_a_chapter_as_data() -> None:
    made = edition([Chapter.parse("03-a-title", TEXT)], "en")
    assert json.loads(json.dumps(made)) == made
    (chapter,) = made["chapters"]
    assert (chapter["number"], chapter["name"]) == (3, "03-a-title")
    first = chapter["pages"][1]["parts"]
    assert first[0] == {"file": "three.txt", "text": "one two\n"}
    assert first[2] == {"sample": "console", "source": "regard check x", "printed": ""}
    assert first[5] == {"drawing": "a drawing\n"}
    asked = chapter["pages"][2]["parts"][1]
    assert (asked["exercise"], asked["hints"], asked["sealed"]["kind"]) == (
        "3.1",
        ["A.", "B."],
        "numbers",
    )
