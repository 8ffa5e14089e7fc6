"""Course: chapters as one HTML file that opens offline, with exercises that it checks itself."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from regard.views.page.file import as_json
from regard.views.page.inline import fill, headed, read, script, source_hash, style, whole_script
from regard.views.page.prose import prose_html

WORDS = {
    "en": {
        "title": "Attention, a course that runs",
        "search": "Search the course",
        "skip": "To the text",
        "theme": "Light or dark",
        "contents": "Contents",
        "forget": "Forget my answers",
        "exercise": "Exercise",
        "answer": "Your answer",
        "check": "Check",
        "done": "I have done this",
        "hint": "Hint",
        "second": "Second hint",
        "solution": "Solution",
        "right": "Right.",
        "wrong": "Not yet.",
        "digits": "Right so far: give two digits behind the point.",
        "number": "A number is wanted, such as 0.37.",
        "numbers": "So many numbers are wanted:",
        "solved": "exercises solved",
        "found": "Found",
        "nothing": "Nothing found.",
        "previous": "Previous",
        "next": "Next",
        "file": "File",
        "living": "Try your own sentence, here in the browser:",
        "forgetful": "This browser keeps nothing for files: your answers last until you close it.",
    },
    "zh": {
        "title": "注意力机制：能运行的课程",
        "search": "搜索课程",
        "skip": "跳到正文",
        "theme": "浅色或深色",
        "contents": "目录",
        "forget": "清除我的答案",
        "exercise": "练习",
        "answer": "你的答案",
        "check": "检查",
        "done": "我已完成",
        "hint": "提示",
        "second": "再提示",
        "solution": "解答",
        "right": "正确。",
        "wrong": "还不对。",
        "digits": "目前正确：请给出小数点后两位。",
        "number": "需要一个数，例如 0.37。",
        "numbers": "需要的数的个数：",
        "solved": "道练习已完成",
        "found": "找到",
        "nothing": "没有找到。",
        "previous": "上一章",
        "next": "下一章",
        "file": "文件",
        "living": "就在浏览器里试试你自己的句子：",
        "forgetful": "此浏览器不为本地文件保存数据：关闭后答案会丢失。",
    },
}
"""Every word of the page that is not the course's own, by language."""


@dataclass(frozen=True)
class LivingPages:
    """The living pages of a course by their names: inside its file, or as files beside it."""

    inside: Mapping[str, str] = field(default_factory=dict)
    """The whole page of each, as text."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """The address of each."""


def course_html(edition: dict[str, Any], pages: LivingPages | None = None) -> str:
    """The page of ``{"language", "chapters": [{"number", "name", "title", "question", "pages"}]}``.

    Nothing in it is fetched from anywhere; without JavaScript it is the whole text. A living page
    that is neither inside nor beside it is told by the command that writes it.
    """
    words = WORDS.get(edition["language"], WORDS["en"])
    chapters, pages = edition["chapters"], pages or LivingPages()
    known = {
        "TITLE": words["title"],
        "LIVING": as_json(dict(pages.inside)),
        "SCRIPT": script("course"),
        "WORDS": as_json(words),
        "LIST": "".join(
            f'<li><a href="#{c["name"]}"><span class="n">{c["number"]}</span> '
            f'{html.escape(c["title"])}</a><span class="done" data-of="{c["name"]}"></span></li>'
            for c in chapters
        ),
        "CHAPTERS": "".join(
            _chapter(chapter, chapters[i - 1] if i else None, _at(chapters, i + 1), words, pages)
            for i, chapter in enumerate(chapters)
        ),
    }
    known |= {name.upper(): words[name] for name in ("search", "skip", "theme")}
    known |= {name.upper(): words[name] for name in ("contents", "forget")}
    return headed(
        fill("course.html", known),
        title=words["title"],
        rules=_policy(bool(pages.inside)),
        style=read("course.css"),
        language=edition["language"],
    )


def _at(chapters: list[Any], place: int) -> Any:
    return chapters[place] if place < len(chapters) else None


def _policy(living: bool) -> str:
    """A living page in a frame is held to the policy of the page that it is in, as well."""
    scripts, styles = [source_hash(script("course"))], [source_hash(read("course.css"))]
    more = ""
    if living:
        scripts.append(source_hash(whole_script("live", "worker")))
        styles.append(source_hash(style("live")))
        more = " worker-src blob:; frame-src 'self';"
    return (
        f"default-src 'none'; script-src {' '.join(scripts)}; style-src {' '.join(styles)};{more} "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _chapter(
    chapter: dict[str, Any], before: Any, after: Any, words: dict[str, str], living: LivingPages
) -> str:
    name = chapter["name"]
    pages = "".join(_page(name, i, page, words, living) for i, page in enumerate(chapter["pages"]))
    links = [
        f'<a class="{way}" href="#{other["name"]}"><span>{words[way]}</span> '
        f"{other['number']}. {html.escape(other['title'])}</a>"
        for way, other in (("previous", before), ("next", after))
        if other
    ]
    return (
        f'<article id="{name}" data-title="{chapter["number"]}. {html.escape(chapter["title"])}">'
        f"<h1>{chapter['number']}. {html.escape(chapter['title'])}</h1>"
        f'<p class="asked">{html.escape(chapter["question"])}</p>{pages}'
        f'<nav class="around">{"".join(links)}</nav></article>'
    )


def _page(
    name: str, place: int, page: dict[str, Any], words: dict[str, str], living: LivingPages
) -> str:
    title = f"<h2>{_inline(page['title'])}</h2>" if page["title"] else ""
    parts = "".join(
        _living(part, words, living) if "living" in part else _part(part, words)
        for part in page["parts"]
    )
    return f'<section id="{name}/{place}">{title}{parts}</section>'


def _inline(text: str) -> str:
    """A line of Markdown without its paragraph."""
    return re.sub(r"^<p>|</p>\n?$", "", prose_html(text))


def _part(part: dict[str, Any], words: dict[str, str]) -> str:
    if "exercise" in part:
        return _exercise(part, words)
    if "prose" in part:
        return prose_html(part["prose"])
    if "drawing" in part:
        return f'<pre class="drawing" tabindex="0">{html.escape(part["drawing"])}</pre>'
    if "file" in part:
        return (
            f"<figure><figcaption>{words['file']} {html.escape(part['file'])}</figcaption>"
            f'<pre class="code" tabindex="0">{html.escape(part["text"])}</pre></figure>'
        )
    mark = "$ " if part["sample"] == "console" else ""
    source = html.escape(mark + part["source"].rstrip())
    made = f'<pre class="code {part["sample"]}" tabindex="0">{source}</pre>'
    if part["printed"].strip():
        made += f'<pre class="printed" tabindex="0">{html.escape(part["printed"].rstrip())}</pre>'
    return f'<div class="sample">{made}</div>'


def _living(part: dict[str, Any], words: dict[str, str], living: LivingPages) -> str:
    """A button that runs it here, a link to its page, or the command that writes one."""
    name, models = part["living"], html.escape(", ".join(part["models"]))
    said = f"{words['living']} {models}"
    if name in living.inside:
        shown = f'<button type="button" data-living="{html.escape(name)}">{said}</button>'
    elif name in living.beside:
        address = html.escape(living.beside[name])
        shown = f'<a href="{address}" target="_blank" rel="noopener">{said}</a>'
    else:
        return _part({"sample": "console", "source": part["command"], "printed": ""}, words)
    return f'<div class="living">{shown}</div>'


def _exercise(part: dict[str, Any], words: dict[str, str]) -> str:
    number, sealed = part["exercise"], part["sealed"]
    helped = "".join(
        f"<details><summary>{words[name]}</summary>{prose_html(text)}</details>"
        for name, text in zip(
            ("hint", "second", "solution"), (*part["hints"], part["solution"]), strict=True
        )
    )
    if sealed["kind"] == "open":
        form = f'<label class="mark"><input type="checkbox"> {words["done"]}</label>'
    else:
        form = (
            f'<form><label for="answer-{number}">{words["answer"]}</label>'
            f'<input id="answer-{number}" autocomplete="off" spellcheck="false">'
            f"<button>{words['check']}</button><output></output></form>"
        )
    seal = html.escape(json.dumps(sealed, separators=(",", ":")))
    return (
        f'<section class="exercise" id="exercise-{number}" data-number="{number}" '
        f'data-sealed="{seal}"><h3>{words["exercise"]} {number}: {_inline(part["title"])}</h3>'
        f"{prose_html(part['prose'])}{form}{helped}</section>"
    )
