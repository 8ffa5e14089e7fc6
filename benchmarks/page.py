"""The page of a MiniLM-shaped model at 512 tokens, and BertViz's head view of the same attention.

Size of the file, time to write it, time to the first picture, and to another head, in headless
Chromium with no network. BertViz is asked for one head at first; it takes its libraries from a CDN,
so copies of them from the npm registry stand in, and without npm only its size is told.

    python benchmarks/page.py
    pip install --no-deps bertviz ipython…      # for the comparison; it is skipped without
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import regard

ROUNDS = 5
TOKENS = 512
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
LIBRARIES = {"require.min": "requirejs@2.3.6", "d3.min": "d3@5.7.0", "jquery.min": "jquery@2.1.1"}
WATCH = """
  window.times = {};
  const painted = name => requestAnimationFrame(() => requestAnimationFrame(() => {
    times[name] ??= performance.now();
  }));
  const look = () => {
    if (document.documentElement.dataset.ready) painted(window.pressed ? 'change' : 'first');
    const lines = document.querySelectorAll('svg line');
    if (lines.length > 1000) painted('lines');
  };
  new MutationObserver(look).observe(document, {subtree: true, attributes: true, childList: true,
    attributeFilter: ['data-ready']});
  addEventListener('keydown', () => {
    window.pressed = performance.now();
    delete document.documentElement.dataset.ready;
  }, true);
"""


def observed() -> tuple[Any, Any, list[str]]:
    """A random BERT of MiniLM's shape, its observation, and the weights that eager gives."""
    import transformers

    torch.manual_seed(0)
    config = transformers.BertConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536
    )
    make: Any = transformers.BertModel
    model = make(config).eval()
    for name, parameter in model.named_parameters():
        if "query" in name or "key" in name:
            parameter.data *= 6  # random weights attend evenly; trained ones do not
    ids = torch.randint(1000, 20000, (1, TOKENS))
    with torch.no_grad(), regard.observe(model, values=True) as observation:
        model(ids)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        weights = model(ids, output_attentions=True).attentions
    tokens = [f"t{int(i)}" for i in ids[0]]
    observation.tokens = tokens
    return observation, weights, tokens


def timed(browser: Any, file: Path, name: str, more: Callable[[Any], None] | None = None) -> Any:
    """Milliseconds from opening the file until ``name`` is painted."""
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    if more is None:
        context.set_offline(True)
    page = context.new_page()
    if more is not None:
        more(page)
    page.add_init_script(WATCH)
    page.goto(file.as_uri(), wait_until="commit")
    until = time.monotonic() + 120
    while time.monotonic() < until and not page.evaluate(f"window.times?.['{name}']"):
        time.sleep(0.05)
    return page, page.evaluate(f"window.times?.['{name}']")


def ours(browser: Any, file: Path) -> tuple[float, float]:
    """Milliseconds to the first picture and to another head, the best of several rounds."""
    firsts, changes = [], []
    for _ in range(ROUNDS):
        page, first = timed(browser, file, "first")
        firsts.append(first)
        page.wait_for_timeout(4000)  # the checksum is done
        for _ in range(4):
            page.evaluate("delete window.times.change; window.pressed = 0")
            page.keyboard.press("]")
            page.wait_for_timeout(1500)
            changes.append(page.evaluate("window.times.change - window.pressed"))
        page.context.close()
    return min(firsts), min(changes)


def bertviz(browser: Any, weights: Any, tokens: list[str], folder: Path) -> None:
    try:
        from bertviz import head_view
    except ImportError:
        print("bertviz: not installed, left out (pip install --no-deps bertviz, and ipython)")
        return
    file = folder / "bertviz.html"
    start = time.perf_counter()
    made = head_view(weights, tokens, heads=[0], html_action="return")
    file.write_text(f"<!doctype html><meta charset=utf-8>{made.data}", encoding="utf-8")
    wrote = time.perf_counter() - start
    print(f"bertviz  file {file.stat().st_size / 1e6:6.1f} MB   written in {wrote:.2f} s", end="")
    libraries = fetched(folder)
    if not libraries:
        print("   (no npm: its libraries could not be had, so it draws nothing here)")
        return

    def stand_in(page: Any) -> None:
        def answer(route: Any) -> None:
            name = Path(route.request.url).name.removesuffix(".js")
            route.fulfill(path=libraries[name], content_type="text/javascript")

        page.route("https://**/*", answer)

    page, first = timed(browser, file, "lines", stand_in)
    print(f"   first picture {first / 1000:.1f} s" if first else "   no picture within 120 s")
    page.context.close()


def fetched(folder: Path) -> dict[str, Path]:
    """require.js, d3 and jQuery out of the npm registry."""
    if not shutil.which("npm"):
        return {}
    found = {}
    for name, package in LIBRARIES.items():
        done = subprocess.run(
            ["npm", "pack", "--silent", package], cwd=folder, capture_output=True, text=True
        )
        if done.returncode:
            return {}
        with tarfile.open(folder / done.stdout.split()[-1]) as tar:
            tar.extractall(folder / name, filter="data")
        wanted = ["require.js"] if name == "require.min" else [f"{name}.js"]
        files = [f for f in (folder / name).rglob("*.js") if f.name in wanted]
        if not files:
            return {}
        found[name] = files[0]
    return found


def main() -> int:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("playwright is not installed: pip install playwright")
        return 0
    chromium = shutil.which("chromium")
    if chromium is None:
        print("no Chromium on this machine")
        return 0
    observation, weights, tokens = observed()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        file = folder / "regard.html"
        start = time.perf_counter()
        observation.save_html(file, title=f"{TOKENS} tokens, 72 heads")
        wrote = time.perf_counter() - start
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        first, change = ours(browser, file)
        print(f"{TOKENS} tokens, 6 layers x 12 heads, headless Chromium {browser.version}")
        size = file.stat().st_size / 1e6
        print(f"regard   file {size:6.1f} MB   written in {wrote:.2f} s", end="")
        print(f"   first picture {first / 1000:.2f} s   another head {change:.0f} ms")
        bertviz(browser, weights, tokens, folder)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
