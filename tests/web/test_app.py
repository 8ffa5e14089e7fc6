"""The routes of the explorer, by real requests, and in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import regard
from regard.inside import textmodel
from regard.inside.look import exploration
from regard.inside.textmodel import load
from regard.pieces.text import read_text
from regard.views.page.course import WORDS
from tests.browser import until
from tests.inside.tinytext import STORY
from tests.web.server import Client, thread

HOSTILE = "the </script><img src=x onerror=window.hit=2> street"


def own_contexts(folder: Path, text: str, layer: int, row: int) -> Any:
    """Each head's sum of weighted values, before the output matrix mixes the heads."""
    import transformers

    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    ids, seen = torch.tensor([load(str(folder)).read(text).ids]), []
    output = model.layers[layer].self_attn.o_proj
    output.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    with torch.no_grad():
        model(ids)
    return seen[0][0, row].view(model.config.num_attention_heads, -1).numpy()


def eager(folder: Path, text: str) -> Any:
    """The weights that transformers itself gives."""
    import transformers

    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    ids = torch.tensor([load(str(folder)).read(text).ids])
    with torch.no_grad():
        return model(ids, output_attentions=True).attentions


def test_a_script_gets_the_weights(here: Client, folder: Path) -> None:
    name = here.look(STORY)
    weights = eager(folder, STORY)
    for layer, head, row in ((0, 0, 0), (1, 3, 40)):
        place = f"/api/looks/{name}/layers/{layer}/heads/{head}"
        ours = here.ask(f"{place}/rows/{row}").json["weights"]
        np.testing.assert_allclose(ours, weights[layer][0, head, row].numpy(), atol=1e-6)
        tile = np.frombuffer(here.ask(f"{place}/tiles/0/0/0").body, "<f4")
        whole = weights[layer][0, head].numpy()
        np.testing.assert_allclose(tile.reshape(whole.shape), whole, atol=1e-6)
    coarse = np.frombuffer(here.ask(f"{place}/tiles/2/0/0").body, "<f4")
    n = len(whole)
    padded = np.zeros((-(-n // 4) * 4,) * 2)
    padded[:n, :n] = whole
    cells = padded.reshape(len(padded) // 4, 4, -1, 4).max((1, 3))
    np.testing.assert_allclose(coarse.reshape(cells.shape), cells, atol=1e-6)
    heads = here.ask(f"/api/looks/{name}/layers/1").json["heads"]
    assert len(heads) == 4
    links = here.ask(f"/api/looks/{name}/links/40/2").json["layers"]
    np.testing.assert_allclose(links, [w[0, :, 40, 2].tolist() for w in weights], atol=1e-6)
    for place in ("links/40/9999", "links/9999/2", "layers/1/contexts/9999"):
        answer = here.ask(f"/api/looks/{name}/{place}")
        assert (answer.code, "counted from 0" in answer.json["error"]) == (422, True)
    values = here.ask(f"/api/looks/{name}/layers/1/contexts/40").json["heads"]
    np.testing.assert_allclose(values, own_contexts(folder, STORY, 1, 40), atol=1e-5)
    entropy = torch.special.entr(weights[1][0]).sum(-1).mean(-1)
    np.testing.assert_allclose([h["entropy"] for h in heads], entropy, atol=1e-5)


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        (b"{", 400, "the body must be JSON"),
        (b"[1]", 400, "the body must be JSON"),
        ({"text": "a"}, 400, "the body must be JSON"),
        (b"[" * 20_000, 400, "the body must be JSON"),
        ({"model": [], "text": "a"}, 400, "model must be a string"),
        ({"model": {}, "text": "a"}, 400, "model must be a string"),
        ({"model": None, "text": "a"}, 400, "model must be a string"),
        ({"model": "M", "text": 3}, 400, "text must be a string"),
        ({"model": "M", "text": "  "}, 422, "the text is empty"),
        ({"model": "M", "text": "a b " * 2000}, 422, "more than --max-tokens 3,000"),
        ({"model": "M", "text": "x" * 1_100_000}, 413, "a request may have 1,048,576 bytes"),
        ({"model": "M", "text": "\ud800"}, 422, ""),
    ],
)
def test_bad_questions(here: Client, body: Any, code: int, said: str) -> None:
    if isinstance(body, dict) and body.get("model") == "M":
        body["model"] = here.model
    answer = here.ask("/api/looks", body)
    assert (answer.code, said in answer.json["error"]) == (code, True), answer.body
    assert here.ask("/api/models").code == 200


def test_an_enormous_text_is_refused_by_its_beginning(
    here: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """500,000 one-letter words: to cut them all would take seconds, and everybody would wait."""
    cut: list[int] = []

    def counted(tokenizer: Any, text: str) -> Any:
        cut.append(len(text))
        return read_text(tokenizer, text)

    monkeypatch.setattr(textmodel, "read_text", counted)
    answer = here.ask("/api/looks", {"model": here.model, "text": "a " * 500_000})
    assert answer.code == 422
    assert "the text has more than 3,000 tokens" in answer.json["error"]
    assert cut == [24_000], "eight characters for each token of the bound"
    assert here.ask("/api/looks", {"model": here.model, "text": "a b"}).code == 202
    assert cut == [24_000, 3]


def test_what_is_not_there(here: Client) -> None:
    name = here.look("The street was wide.")
    assert here.ask("/api/looks/none").code == 404
    assert here.ask("/nothing").code == 404
    assert here.ask(f"/api/looks/{name}/layers/9").code == 422
    assert here.ask(f"/api/looks/{name}/layers/0/heads/9").code == 422
    assert here.ask(f"/api/looks/{name}/layers/0/heads/0/tiles/0/9/9").code == 422
    assert here.ask(f"/api/looks/{name}/layers/0/heads/0/rows/999").code == 422
    assert here.ask(f"/api/looks/{name}", method="DELETE").code == 204
    assert here.ask(f"/api/looks/{name}").code == 404


def test_the_course_is_there_in_both_languages(here: Client, browser: Any) -> None:
    page = browser.new_context().new_page()
    for language, words in WORDS.items():
        page.goto(f"{here.address}/learn?lang={language}")
        page.wait_for_selector("html[data-ready]")
        assert page.locator(".home").inner_text() == words["title"]
    page.goto(f"{here.address}/")
    page.get_by_role("link", name="Learn").wait_for()
    page.close()


def test_in_a_browser_short_and_long(
    here: Client, browser: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = browser.new_context(viewport={"width": 1200, "height": 800}).new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.goto(f"{here.address}/")
    page.wait_for_selector("h1:has-text('The animal')")  # the example, before anything is typed
    page.fill("textarea", STORY)
    page.click("button:text-is('Look')")
    page.get_by_role("heading", level=1).filter(has_text=STORY[80:100]).wait_for()
    weights = eager(folder, STORY)
    page.keyboard.press("Escape")
    where = "view=map&words=0&layer=1&head=3&from=40&to=2"
    page.evaluate("where => { document.activeElement.blur(); location.hash = where; }", where)
    page.wait_for_selector(f".weight-now:text-is('{weights[1][0, 3, 40, 2]:.4f}')")
    # A long text: the vectors of one head at a time, tiles from the server.
    monkeypatch.setattr(exploration, "WHOLE", 1000)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    text = STORY * 30
    page.fill("textarea", text)
    page.click("button:text-is('Look')")
    page.wait_for_selector(".ask [role=status]:text-matches('^\\\\d{4} tokens$')", timeout=20000)
    page.evaluate("document.activeElement.blur(); location.hash = 'view=overview'")
    page.wait_for_selector(".card-kind:text-matches('[a-z]+')")
    page.evaluate(
        "document.activeElement.blur(); location.hash = 'view=map&layer=1&head=2&from=2100&to=7'"
    )
    long = eager(folder, text)[1][0, 2]
    assert len(long) > 2048
    page.wait_for_selector(f".weight-now:text-is('{long[2100, 7]:.4f}')", timeout=20000)
    page.focus(".pane")
    for _ in range(18):
        page.keyboard.press("+")
    wanted = ("/tiles/5/0/0", "/tiles/0/")
    until(page, lambda: all(any(tile in url for url in asked) for tile in wanted))
    # The strongest head of a link among heads whose vectors are not here, then two side by side.
    every = eager(folder, text)
    page.keyboard.press("g")
    best = max((every[k][0, h, 2100, 7].item(), k, h) for k in (0, 1) for h in range(4))
    page.wait_for_selector(f".weight-now:text-is('{best[0]:.4f}')")
    page.keyboard.press("7")
    second = every[best[1]][0, (best[2] + 1) % 4, 2100]
    page.wait_for_selector(f".compare-rows td:text-is('{second.max():.4f}')", timeout=20000)
    # Steps: all heads side by side, of which the page has the vectors of some; in haste too.
    for head in (0, 1, 2, 3, 0, 2):
        where = f"view=steps&layer=0&head={head}&from=2100&to=7"
        page.evaluate("where => { location.hash = where; }", where)
    page.wait_for_selector(".steps-title:has-text('head 2')", timeout=20000)
    taken = own_contexts(folder, text, 0, 2100)
    for place, context in enumerate(taken):
        shown = f"[data-step=concatenated] .named:has-text('c of head {place}') .digits"
        page.wait_for_selector(shown, timeout=20000)
        first = float(page.inner_text(shown).strip("[").split()[0].replace("−", "-"))
        assert abs(first - context[0]) < 2e-3
    assert errors == []
    page.context.close()


def test_a_measure_is_computed_when_it_is_chosen(here: Client, browser: Any) -> None:
    name = here.look("the animal was tired")
    assert here.ask(f"/api/looks/{name}/measures/rollin", {}).code == 404
    assert "of weights" in here.ask(f"/api/looks/{name}/measured").json["error"]
    asked = here.ask(f"/api/looks/{name}/measures/flow", {})
    assert asked.code == 202
    found = here.ask(f"/api/looks/{here.wait(asked.json['id'])}/measured").json
    assert (found["name"], len(found["layers"])) == ("flow", 2)
    page = browser.new_context(viewport={"width": 1200, "height": 800}).new_page()
    page.goto(f"{here.address}/")
    page.wait_for_selector("h1:has-text('The animal')")
    page.locator(".measures summary").click()
    page.locator(".measures input[value=norm]").click()
    page.locator(".banner.derived").filter(has_text="size of what is brought").wait_for()
    # An address that names a measure lets it be computed again.
    page.reload()
    page.locator(".banner.derived").filter(has_text="size of what is brought").wait_for()
    page.context.close()


def test_two_texts_side_by_side_and_an_address_that_restores_them(
    here: Client, browser: Any, folder: Path
) -> None:
    page = browser.new_context(viewport={"width": 1200, "height": 800}).new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{here.address}/")
    assert not page.is_visible("text=Beside what is shown")
    page.fill("textarea", HOSTILE)
    page.click("button:text-is('Look')")
    page.wait_for_selector("h1:has-text('</script>')")
    page.evaluate(
        "document.activeElement.blur(); location.hash = 'layer=1&head=2&from=41&to=2&words=0'"
    )
    page.check("text=Beside what is shown")
    shorter = HOSTILE.replace("</", "<")
    page.fill("textarea", shorter)
    page.click("button:text-is('Look')")
    page.wait_for_selector("#view-compare .pane-title:has-text('the <script>')")
    first, second = (eager(folder, text)[1][0, 2, -1].numpy() for text in (HOSTILE, shorter))
    page.wait_for_selector(f".weight-now:text-is('{first[2]:.4f}')")
    both = np.delete(first, 4)  # the token "/"
    most = np.abs(both - second).argmax()
    page.wait_for_selector(f".compare-rows td:text-is('{second[most]:.4f}')")
    address = page.url
    assert re.search(r"look=[0-9a-f]{16}\.[0-9a-f]{16}", address)
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#view-compare .pane-title:has-text('the <script>')")
    assert page.inner_text("h1") == HOSTILE
    assert page.evaluate("window.hit") is None
    page.goto("about:blank")
    page.goto(f"{here.address}/#look=00ff")
    page.wait_for_selector(".ask [role=status]:has-text('there is no such look')")
    page.evaluate("hash => { location.hash = hash; }", address.split("#")[1])
    page.wait_for_selector("#view-compare .pane-title:has-text('the <script>')")
    assert errors == []
    page.context.close()


def test_back_and_a_reload_restore_text_and_view(here: Client, browser: Any) -> None:
    page = browser.new_context(viewport={"width": 1200, "height": 800}).new_page()
    page.goto(f"{here.address}/")
    page.wait_for_selector("h1:has-text('The animal')")
    assert page.locator(".example").count() == 3
    page.locator(".example").nth(2).click()
    page.wait_for_selector("h1:has-text('The keys')")
    page.click("#tab-map")
    page.wait_for_selector(".view-map .pane")
    page.go_back()
    page.wait_for_selector("h1:has-text('The animal')")
    assert page.is_visible("#view-sentence")
    page.go_forward()
    page.wait_for_selector("h1:has-text('The keys')")
    page.wait_for_selector("#view-map", state="visible")
    page.reload()
    page.wait_for_selector("h1:has-text('The keys')")
    assert page.input_value("textarea").startswith("The keys")
    assert page.is_visible("#view-map")
    page.context.close()


def test_a_server_that_has_gone_is_said(folder: Path, browser: Any) -> None:
    page = browser.new_context().new_page()
    with thread(folder) as client:
        page.goto(f"{client.address}/")
        page.wait_for_selector("html[data-ready]")
    page.fill("textarea", "The street was wide.")
    page.click("button:text-is('Look')")
    page.wait_for_selector(".ask [role=status]:has-text('the server does not answer')")
    assert page.is_visible(".ask button:has-text('Try again')")
    page.context.close()


def trial_of(browser: Any, client: Client, text: str) -> Any:
    """The page of a look at a text of three words, its what-if open."""
    page = browser.new_context(viewport={"width": 1200, "height": 900}).new_page()
    page.goto(f"{client.address}/")
    page.fill("textarea", text)
    page.click("button:text-is('Look')")
    page.wait_for_selector(f"h1:has-text('{text}')")
    page.wait_for_selector(".mask-word >> nth=2", state="attached")  # its policy forbids a script
    assert page.locator(".mask-word").count() == 3
    page.click(".trial > summary")
    return page


def test_what_if_reaches_the_prediction(browser: Any, tmp_path: Path) -> None:
    """By requests, against intervene; then the same in a browser, before and after."""
    from tests.inside.explain import wholes

    model, text = wholes.causal(tmp_path), "The street was"
    with thread(tmp_path, predicts=True) as client:
        name = client.look(text)
        place = f"/api/looks/{name}/what-if"
        assert client.ask(f"/api/looks/{name}/outcome").json.keys() == {"before"}
        for body, code, said in (
            (b"{", 400, "the body must be JSON"),
            ({"masks": [1]}, 422, "a what-if is"),
        ):
            answer = client.ask(place, body)
            assert (answer.code, said in answer.json["error"]) == (code, True)
        tokens = model.read(text)
        with regard.intervene(model.network) as hands:
            hands.mask(key=1)
            hands.remove(layer=1, head=2)
            own = model.run(tokens).logits[0, -1].double().softmax(-1)
        asked = client.ask(place, {"masked": [1], "removed": [[1, 2]]})
        changed = client.wait(asked.json["id"])
        after = client.ask(f"/api/looks/{changed}/outcome").json["after"]["predictions"]
        assert after[0]["probability"] == pytest.approx(float(own.max()), abs=1e-6)
        title = client.ask(f"/api/looks/{changed}/document").json["document"]["subjects"][0]
        assert title["model"].endswith(", changed")
        far = client.ask(place, {"removed": [[9, 0]]}).json["id"]
        client.wait(far, "failed")
        assert "layers are counted from 0" in client.ask(f"/api/looks/{far}").json["error"]
        # In the page: mask a word in a view, and both columns stand there.
        page = trial_of(browser, client, text)
        page.locator(".mask-word").nth(1).click()
        page.wait_for_selector(".outcome th:text-is('after')")
        with regard.intervene(model.network) as hands:
            hands.mask(key=1)
            own = model.run(tokens).logits[0, -1].double().softmax(-1)
        shown = page.inner_text(".outcome-bar.now >> nth=0").strip()
        assert float(shown) == pytest.approx(float(own.max()), abs=6e-4)
        assert page.is_visible(".banner:has-text('hidden: street')"), "the views show it too"
        page.click("text=Its attention, beside the unchanged")
        page.wait_for_selector("#view-compare .pane-title:has-text('changed')")
        page.evaluate("document.activeElement.blur(); location.hash = 'lang=zh'")
        page.wait_for_selector(".trial > summary:has-text('如果')", state="attached")
        page.context.close()


def test_a_cut_link_and_a_temperature_reach_the_prediction(browser: Any, tmp_path: Path) -> None:
    """As a person wishes them in a browser, against intervene and softmax at a temperature."""
    from tests.inside.explain import wholes

    model, text = wholes.causal(tmp_path), "The street was"
    tokens = model.read(text)

    def most(temperature: float = 1, **cut: Any) -> float:
        """The probability of the likeliest word."""
        with regard.intervene(model.network) as hands:
            if cut:
                hands.mask(**cut)
            logits = model.run(tokens).logits[0, -1].double()
        return float((logits / temperature).softmax(-1).max())

    with thread(tmp_path, predicts=True) as client:
        page = trial_of(browser, client, text)
        page.evaluate(
            "const all = new URLSearchParams(location.hash.slice(1));"
            "for (const [name, to] of Object.entries({layer: 1, head: 2, from: 2, to: 1}))"
            "  all.set(name, to);"
            "location.hash = all"
        )
        cut = page.locator(".trial [data-focus='cut']:has-text('the link was → street were cut')")
        cut.wait_for()

        def shown(expected: float) -> None:
            """Wait for it: the likeliest word's bar after the change."""
            now = page.locator(".trial-output:not(.waiting) .outcome-bar.now").first
            until(page, lambda: now.count() and abs(float(now.inner_text()) - expected) < 6e-4)

        assert page.locator(".outcome-bar.now").count() == 0
        everywhere, here = most(query=2, key=1), most(layer=1, head=2, query=2, key=1)
        assert len({round(p, 3) for p in (most(), everywhere, here, most(2))}) == 4
        cut.click()
        shown(everywhere)
        page.click(".undo-one:has-text('was → street')")
        page.wait_for_selector(".outcome-bar.now", state="detached")
        page.click(".trial [data-focus='cut here']")
        shown(here)
        assert page.is_visible(".undo-one:has-text('was → street (layer 1 head 2)')")
        page.click(".trial button:text-is('Undo all')")
        page.wait_for_selector(".outcome-bar.now", state="detached")
        slider = page.locator(".trial [data-focus='temperature']")
        for told in ("× 1.41", "× 2"):
            slider.press("ArrowRight")
            page.locator(f".trial label:has([data-focus='temperature']) >> text={told}").wait_for()
        shown(most(2))
        page.context.close()
