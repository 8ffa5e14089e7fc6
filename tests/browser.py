"""A real Chromium for tests of pages: one for the whole run, every page of it without a network."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = [
    "--no-sandbox",  # as root it starts in no other way
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str:
    """Where Debian's (or another) Chromium is; a machine without one skips these tests."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.skip("no Chromium on this machine: tests of the page in a browser are left out")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: pip install playwright"
    )
    path = chromium()
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


def until(page: Any, holds: Callable[[], bool]) -> None:
    """Wait for ``holds()``: what a key, a link or a typed number brings about comes later."""
    for _ in range(200):
        if holds():
            return
        page.wait_for_timeout(50)
    raise AssertionError("did not come true in 10 s")


class Sheet:
    """A page that was opened from disk, what it asked the network for, and what went wrong."""

    def __init__(self, page: Any, file: Path) -> None:
        self.page, self.file = page, file
        self.requests: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "console",
            lambda said: self.errors.append(said.text) if said.type == "error" else None,
        )

    def goto(self, fragment: str = "") -> Sheet:
        self.page.goto(f"{self.file.as_uri()}{fragment}")
        self.page.wait_for_selector("html[data-ready]", timeout=20_000)
        return self

    def choose(self, **changes: Any) -> Sheet:
        """Change what is chosen as a person does who edits the address."""
        said = "&".join(f"{name}={value}" for name, value in changes.items())
        self.page.evaluate(
            """async said => {
                const now = new URLSearchParams(location.hash.slice(1));
                const before = now.toString();
                for (const [name, value] of new URLSearchParams(said)) now.set(name, value);
                if (now.toString() === before) return;
                delete document.documentElement.dataset.ready;
                location.hash = now.toString();
                for (let i = 0; i < 600 && !document.documentElement.dataset.ready; i++) {
                  await new Promise(go => setTimeout(go, 10));
                }
            }""",
            said,
        )
        return self

    @property
    def state(self) -> dict[str, str]:
        found: dict[str, str] = self.page.evaluate(
            "Object.fromEntries(new URLSearchParams(location.hash.slice(1)))"
        )
        return found

    def press(self, *keys: str) -> Sheet:
        for key in keys:
            self.page.keyboard.press(key)
        self.page.wait_for_timeout(60)
        return self

    def wait(self, expression: str) -> None:
        """Until ``expression`` holds. (The page's policy forbids Playwright's own way to wait.)"""
        for _ in range(200):
            if self.page.evaluate(expression):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"did not come true in 10 s: {expression}")

    def until(self, holds: Callable[[], bool]) -> None:
        until(self.page, holds)

    def saved(self, kind: str) -> bytes:
        """What 'Save PNG', 'Save SVG', 'Save CSV' or 'Save JSON' writes."""
        self.page.get_by_role("button", name="Export").click()
        with self.page.expect_download() as download:
            self.page.get_by_role("button", name=f"Save {kind}", exact=True).click()
        self.page.get_by_role("dialog").get_by_role("button", name="Close").click()
        return Path(download.value.path()).read_bytes()

    def rows(self) -> list[dict[str, Any]]:
        """The numbers behind the view, as its JSON export has them."""
        content = json.loads(self.saved("JSON"))
        return [dict(zip(content["columns"], row, strict=True)) for row in content["rows"]]

    def clean(self) -> None:
        """Nothing went wrong, and nothing but the file itself was asked for."""
        assert self.errors == []
        others = [url for url in self.requests if not url.startswith(("blob:", "data:"))]
        assert {url.split("#")[0] for url in others} == {self.file.as_uri()}


Open = Callable[..., Sheet]


@pytest.fixture
def opened(browser: Any) -> Iterator[Open]:
    """``opened(file, fragment, width=…, colour_scheme=…)``: with all network refused."""
    contexts = []

    def open_page(
        file: Path, fragment: str = "", width: int = 1280, height: int = 860, **options: Any
    ) -> Sheet:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        context.set_offline(True)
        return Sheet(context.new_page(), file).goto(fragment)

    yield open_page
    for context in contexts:
        context.close()
