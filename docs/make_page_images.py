"""Make the screenshots of pages: ``python docs/make_page_images.py``, or only those that are named:
``python docs/make_page_images.py serve.png live-fashion.png``.

Needs Chromium, Playwright, Pillow (matplotlib has it) and the models that the commands below use.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parent / "images"
TIRED = "The animal didn't cross the street because it was too tired"
GERMAN = "Können Sie mir helfen, diesen Satz zu übersetzen?"
FBI = "The FBI is chasing a criminal on the run ."
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
PLACE = "layer=3&head=1&from=10&to=2"
SHOTS = [
    ("page-sentence.png", "explain", "", 1100, 640, "light"),
    ("page-overview.png", "explain", f"view=overview&{PLACE}", 1100, 660, "light"),
    ("page-head.png", "explain", f"view=head&{PLACE}&heads=8.10", 1100, 640, "light"),
    ("page-map.png", "explain", f"view=map&{PLACE}", 1100, 700, "dark"),
    ("page-steps.png", "explain", f"view=steps&{PLACE}&masked=2", 1100, 900, "light"),
    ("page-reading.png", "translate", "view=reading&from=2&to=3", 1100, 560, "light"),
    ("page-memory.png", "read", "view=reading&from=8", 1100, 560, "light"),
    ("page-compare.png", "compare", f"view=compare&{PLACE}", 1100, 800, "light"),
    ("live-fashion.png", "fashion", "", 1100, 820, "light"),
]
FIRST = ("explain", "look", "translate", "read", "fashion")
"""Pages whose first view is shown on a phone, a desk and a wall, light and dark."""
SCREENS = ((390, 844), (1440, 900), (2560, 1440))
SMALL = 300
"""Pixels of height of a screen among others."""


def regard(*arguments: str) -> None:
    command = [sys.executable, "-m", "regard", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


LINK = ("--word", "it", "--layer", "3", "--head", "1")
PAGES: dict[str, tuple[str, ...]] = {
    "explain": ("explain", TIRED, *LINK, "--html"),
    "compare": ("explain", TIRED, *LINK, "--compare", TIRED.replace("tired", "wide"), "--html"),
    "look": ("look", "minilm", TIRED, "--html"),
    "translate": ("translate", GERMAN, "--html"),
    "read": ("read", FBI, "--html"),
    "fashion": ("live", "fashion", "-o"),
}
"""The command that writes each page, before the name of the file."""


def page_of(folder: Path, name: str) -> str:
    """The address of a page, which is written when it is first asked for."""
    file = folder / f"{name}.html"
    if not file.exists():
        regard(*PAGES[name], str(file))
    return file.as_uri()


def opened(browser: Any, width: int, height: int, scheme: str) -> Any:
    size = {"width": width, "height": height}
    return browser.new_context(viewport=size, color_scheme=scheme).new_page()


def shot(page: Any) -> Image.Image:
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def keep(image: Image.Image, name: str) -> None:
    """As PNG with 128 colours: small, and near enough."""
    small = image.quantize(128, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    small.save(IMAGES / name, optimize=True)


def show(browser: Any, address: str, width: int, height: int, scheme: str) -> Image.Image:
    """A page on a screen, once it is still."""
    page = opened(browser, width, height, scheme)
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    page.wait_for_timeout(2500 if "view=" in address else 800)
    image = shot(page)
    page.context.close()
    return image


def first_view(browser: Any, address: str, name: str) -> None:
    """All screens side by side, light above dark."""
    rows = []
    for scheme in ("light", "dark"):
        shots = [show(browser, address, *screen, scheme) for screen in SCREENS]
        rows.append([one.resize((SMALL * one.width // one.height, SMALL)) for one in shots])
    width = sum(one.width + 8 for one in rows[0]) - 8
    sheet = Image.new("RGB", (width, 2 * SMALL + 8), "#8a8f99")
    for r, row in enumerate(rows):
        left = 0
        for one in row:
            sheet.paste(one, (left, r * (SMALL + 8)))
            left += one.width + 8
    keep(sheet, name)


def serve(browser: Any) -> None:
    """The explorer as it opens."""
    command = [sys.executable, "-m", "regard", "serve", "minilm", "--port", "0"]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert started.stdout is not None
        address = started.stdout.readline().split(" at ")[1].split()[0]
        page = opened(browser, 1100, 640, "light")
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        page.wait_for_timeout(2500)
        keep(shot(page), "serve.png")
    finally:
        started.terminate()
        started.wait(20)


def main() -> None:
    named = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        path = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for image, of, fragment, width, height, scheme in SHOTS:
            if not named or image in named:
                address = f"{page_of(folder, of)}#{fragment}"
                keep(show(browser, address, width, height, scheme), image)
        for of in FIRST:
            if not named or f"first-{of}.png" in named:
                first_view(browser, page_of(folder, of), f"first-{of}.png")
        if not named or "serve.png" in named:
            serve(browser)
        browser.close()


if __name__ == "__main__":
    main()
