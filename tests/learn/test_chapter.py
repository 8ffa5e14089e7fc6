"""A chapter taken apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.errors import RegardError
from regard.learn.chapter import Chapter, Drawing, Living, Prose, Sample, Written
from regard.learn.question import Question

TEXT = """# 3. A title

> Its question,
> over two lines?

Before any page.

## First

```text three.txt
one two
```

```console
$ regard words show \\
    three.txt one
shown
$ regard check x
```

```python
print(1)
## no heading
```

```text varies
1 ms
```

After it.

```text
a drawing
```

```live lstmn bahdanau
It's here.
Two
```

## Last

```python
silent = 1
```

### Exercise 3.1: by pencil

How many?

<details><summary>Hint</summary>

A.

</details>

<details><summary>Second hint</summary>

B.

</details>

<details><summary>Solution</summary>

<!-- answer: number 2 -->

Two.

</details>
"""


def test_every_part_in_its_place() -> None:
    chapter = Chapter.parse("03-a-title", TEXT)
    assert (chapter.number, chapter.title) == (3, "A title")
    assert chapter.question == "Its question, over two lines?"
    assert [page.title for page in chapter.pages] == ["", "First", "Last"]
    assert chapter.pages[0].parts == (Prose("Before any page."),)
    assert chapter.pages[1].parts == (
        Written("three.txt", "text", "one two\n"),
        Sample("console", "regard words show three.txt one", "shown\n"),
        Sample("console", "regard check x", ""),
        Sample("python", "print(1)\n## no heading\n", "1 ms\n", varies=True),
        Prose("After it."),
        Drawing("a drawing\n"),
        Living(("lstmn", "bahdanau"), ("It's here.", "Two")),
    )
    silent, asked = chapter.pages[2].parts
    assert silent == Sample("python", "silent = 1\n", "")
    assert asked == Question("3.1", "by pencil", "How many?", ("A.", "B."), "Two.", "number", "2")
    assert chapter.questions == [asked]
    assert len(chapter.samples) == 4
    assert [part.command for part in chapter.living] == [
        "regard live lstmn bahdanau --example 'It'\"'\"'s here.' --example Two "
        "-o lstmn-and-bahdanau.html"
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A title\n", "must begin with '# NUMBER. Title'"),
        ("# 1. T\n\n> Q\n\n```console\nls\n```\n", "a console block begins with"),
    ],
)
def test_what_is_no_chapter(text: str, said: str) -> None:
    with pytest.raises(RegardError, match=said):
        Chapter.parse("01-x", text)


def test_a_file_is_read_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "03-a-title.md").write_text(TEXT, encoding="utf-8")
    assert Chapter.read(tmp_path / "03-a-title.md").name == "03-a-title"
