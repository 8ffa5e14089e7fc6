"""What writes the output into chapters: once filled, a chapter stays as it is."""

from __future__ import annotations

from pathlib import Path

from regard.learn.runner import Runner
from tests.learn.fill import filled

TEXT = """```python
a = 1
```

Words.

```python
print(a + 1)
```

```console
$ regard x
old
$ regard y
…
```

```text
a drawing
```

### Exercise 1.1: by code

```python
never run
```
"""


def test_output_is_written_once(tmp_path: Path) -> None:
    runner = Runner(tmp_path, lambda arguments: f"ran {arguments}\n")
    once = filled(TEXT, runner)
    assert "```python\nprint(a + 1)\n```\n\n```text\n2\n```\n" in once
    assert "$ regard x\nran ['x']\n$ regard y\n…\n" in once
    assert once.count("```text") == 2
    assert filled(once, runner) == once
