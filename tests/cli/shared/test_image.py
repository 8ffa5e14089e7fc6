"""regard read --image: the label, the patches that decided, the page; or one line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from PIL import Image

from tests.cli.run import regard


def test_an_image_its_label_and_its_page(tmp_path: Path) -> None:
    Image.fromarray(np.tile(np.arange(28, dtype=np.uint8) * 9, (28, 1))).save(tmp_path / "a.png")
    done = regard("read", "--image", "a.png", "--html", "a.html", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.match(r" *\d+\.\d\d %  [a-zA-Z -]+\n", done.stdout)
    assert "what it decided by" in done.stdout
    assert done.stdout.endswith("Written: a.html\n")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 1
    assert "decision" in page
    refused = regard("read", "--image", "a.png", "--layer", "1", folder=tmp_path)
    assert refused.stderr == (
        "regard: error: --image is read alone: of the other options it takes --model, --json, "
        "--html\n"
    )
