"""The page speaks two languages: every text that it says is in the table, and it says no other."""

from __future__ import annotations

import json
import re
from pathlib import Path

import regard
from tests.browser import Open
from tests.views.page.cases import observed, saved

SCRIPT = Path(regard.__file__).parent / "views" / "page" / "script"
SAID = re.compile(r'\b(?:t|phrase|told|Refusal)\(\s*((?:"(?:[^"\\]|\\.)*"(?:\s*\+\s*)?)+)')
ENTRY = re.compile(r'^  (?:("(?:[^"\\]|\\.)*")|(\w+)):\s+("(?:[^"\\]|\\.)*"),$', re.MULTILINE)
NAME = re.compile(r"\{\w+\}")
GIVEN = ("language.js", "engine.js", "live.js", "looked.js")
"""Files that also say what a worker or the data gave them."""
VIEWS = ("sentence", "steps", "head", "map", "overview", "reading", "compare")


def texts() -> list[Path]:
    """The files that speak."""
    return [*SCRIPT.glob("*.js"), *(SCRIPT / "worked").glob("*.js")]


def said() -> set[str]:
    """Every text of the script, as it stands there."""
    found = set()
    network = (SCRIPT / "network").glob("*.js")  # what it refuses is said by those that run it
    for path in (*texts(), *network):
        for literals in SAID.findall(path.read_text(encoding="utf-8")):
            parts = re.findall(r'"(?:[^"\\]|\\.)*"', literals)
            found.add("".join(json.loads(part) for part in parts))
    return found


def table() -> dict[str, str]:
    text = (SCRIPT / "chinese.js").read_text(encoding="utf-8")
    return {
        json.loads(quoted) if quoted else plain: json.loads(chinese)
        for quoted, plain, chinese in ENTRY.findall(text)
    }


def test_every_text_is_in_the_table_and_nothing_else_is() -> None:
    assert len(said()) > 250
    assert said() - table().keys() == set()
    assert table().keys() - said() == set()


def test_a_translation_has_the_same_values_as_its_text() -> None:
    for english, chinese in table().items():
        assert sorted(NAME.findall(english)) == sorted(NAME.findall(chinese)), english
        assert re.search(r"[\u3000-\u9fff\uff00-\uffef]", chinese) or not re.search(
            "[a-z]", NAME.sub("", english)
        ), english


def test_every_call_has_its_text_in_it() -> None:
    """A text that is put together elsewhere could not be held to the table."""
    for path in texts():
        if path.name not in GIVEN:
            calls = re.findall(r"\b(?:t|phrase)\(\s*(.)", path.read_text(encoding="utf-8"))
            assert set(calls) <= {'"'}, path.name


def test_a_page_in_chinese_says_nothing_in_english(tmp_path: Path, opened: Open) -> None:
    file = saved(observed(["[CLS]", "ab", "##cd", "ef", "[SEP]"]), tmp_path, model="m")
    sheet = opened(file, "#masked=1", locale="zh-CN", reduced_motion="reduce")
    english = (Path(__file__).parent / "english.js").read_text()
    assert sheet.page.get_attribute("html", "lang") == "zh"
    for view in VIEWS:
        sheet.choose(view=view)
        assert sheet.page.evaluate(english) == [], view
    sheet.page.get_by_role("button", name="English").click()
    assert sheet.page.get_attribute("html", "lang") == "en"
    assert sheet.page.inner_text("#tab-steps") == "Steps"
    assert (sheet.state["lang"], sheet.state["view"]) == ("en", "compare")
    sheet.clean()
