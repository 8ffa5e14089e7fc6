"""The file: one page, nothing fetched, text that stays text."""

from __future__ import annotations

import base64
import hashlib
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import torch

import regard
from regard.attention import AttentionMap
from regard.errors import RegardError
from regard.trace import Trace
from regard.views.page import page_html, subject_of_map, subject_of_trace
from regard.views.page.inline import read, script
from tests.views.page.cases import HOSTILE, observed, saved

SCRIPT = Path(regard.__file__).parent / "views" / "page" / "script"


class Elements(HTMLParser):
    """Every start tag, and the text of each script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, Any]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.scripts and self.found[-1][0] == "script" and self.cdata_elem:
            self.scripts[-1] += data


def map_page(tokens: list[str]) -> str:
    n = len(tokens)
    head = AttentionMap.from_vectors(torch.eye(n), torch.eye(n), queries=tokens)
    return page_html(subject_of_map(head))


def test_nothing_is_fetched_and_only_its_own_script_may_run() -> None:
    text = map_page(["a", "b"])
    parsed = Elements(text)
    for tag, attributes in parsed.found:
        assert not {"src", "href", "srcset"} & attributes.keys(), tag
    assert "url(" not in read("page.css")
    assert "fetch(" not in script()
    rules = next(a["content"] for _, a in parsed.found if a.get("http-equiv"))
    assert "default-src 'none'" in rules
    digest = hashlib.sha256(parsed.scripts[-1].encode()).digest()
    assert f"script-src 'sha256-{base64.b64encode(digest).decode()}'" in rules


def test_hostile_tokens_do_not_leave_their_place() -> None:
    parsed = Elements(map_page(HOSTILE))
    assert len(parsed.scripts) == 3
    assert "img" not in [tag for tag, _ in parsed.found]
    content = json.loads(parsed.scripts[0])
    assert content["subjects"][0]["texts"][0]["tokens"] == HOSTILE


def test_a_title_is_text_too() -> None:
    subject = subject_of_map(AttentionMap.from_weights(torch.eye(2)), "</title><script>\ud800")
    text = page_html(subject)
    assert "<title>&lt;/title&gt;&lt;script&gt;\\ud800</title>" in text
    text.encode()


def test_a_page_of_nothing_is_refused() -> None:
    with pytest.raises(RegardError, match="a page shows attention, and there is none"):
        page_html(subject_of_trace(Trace()))


def test_the_file_says_what_made_it(tmp_path: Path) -> None:
    text = saved(observed(["a", "b"]), tmp_path, model="tiny", title="two").read_text()
    content = json.loads(Elements(text).scripts[0])
    packed = Elements(text).scripts[1]
    assert content["regard"] == regard.__version__
    assert content["subjects"][0]["model"] == "tiny"
    assert content["sha256"] == hashlib.sha256(packed.encode()).hexdigest()
    assert not content["half"]


TABLES = {SCRIPT / "chinese.js", SCRIPT / "network" / "signs.js"}
"""Of words and of signs: what stands in them is data."""


@pytest.mark.parametrize(
    "path", sorted(set(SCRIPT.rglob("*.js")) - TABLES), ids=lambda path: path.name
)
def test_a_line_of_the_script_has_at_most_100_columns(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [number for number, line in enumerate(lines, 1) if len(line) > 100] == []
