"""The page's modules as one script."""

from __future__ import annotations

import re
from pathlib import Path

import regard
from regard.views.page.inline import IMPORT


def test_modules_import_in_one_form_and_export_in_one() -> None:
    for path in Path(regard.__file__).parent.glob("views/page/script/**/*.js"):
        source = path.read_text(encoding="utf-8")
        rest = IMPORT.sub("", source)
        assert not re.search(r"^import ", rest, re.MULTILINE), path.name
        assert "import(" not in source, path.name
        assert not re.search(r"^export (default|\{|\*)", source, re.MULTILINE), path.name
        written = r"innerHTML|outerHTML\s*\+?=|insertAdjacentHTML|document\.write|eval\("
        assert not re.search(written, source), path.name  # a page may read itself, to be saved
