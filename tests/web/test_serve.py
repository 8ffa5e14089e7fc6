"""``regard serve``: a real process, real requests, a real browser."""

from __future__ import annotations

import re
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("starlette", reason="the web extra is not installed")
pytest.importorskip("uvicorn", reason="the web extra is not installed")

from regard.inside.textmodel import load
from regard.web import guard, looks, parts
from regard.web.app import make_app
from regard.web.openapi import description
from tests.cli.run import regard as regard_command
from tests.inside.tinytext import STORY, save
from tests.models.bert.tinybert import save_tiny
from tests.web.server import Client, process, thread

HOSTILE = "the </script><img src=x onerror=window.hit=2> street"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("models") / "tiny-llama"
    save(made, "Llama", max_position_embeddings=4096)
    return made


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that needs no transformers, so that a process starts sooner."""
    made = tmp_path_factory.mktemp("models") / "tiny-bert"
    save_tiny(made)
    return made


@pytest.fixture(scope="module")
def served(bert: Path) -> Iterator[Client]:
    with process(bert) as (client, _):
        yield client


@pytest.fixture(scope="module")
def here(folder: Path) -> Iterator[Client]:
    with thread(folder, most_tokens=3000) as client:
        yield client


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
    assert here.ask(f"/api/looks/{name}/links/40/9999").json["layers"] == [None, None]
    entropy = torch.special.entr(weights[1][0]).sum(-1).mean(-1)
    np.testing.assert_allclose([h["entropy"] for h in heads], entropy, atol=1e-5)


def test_only_this_machine_this_page_and_these_models(served: Client) -> None:
    assert served.ask("/", Host="evil.example").code == 421
    assert served.ask("/", Host=f"localhost:{served.port}").code == 200
    body = {"model": served.model, "text": "a"}
    assert served.ask("/api/looks", body, Origin="http://evil.example").code == 403
    plain = {"content-type": "text/plain"}
    assert served.ask("/api/looks", b"{}", **plain).code == 415
    other = served.ask("/api/looks", {"model": "/etc", "text": "a"})
    assert other.code == 404
    assert "only these models were named at start" in other.json["error"]
    answer = served.ask("/api/models")
    assert "access-control-allow-origin" not in {name.lower() for name in answer.headers}
    rules = answer.headers["content-security-policy"]
    assert "default-src 'none'" in rules
    assert "connect-src 'self'" in rules
    assert "unsafe" not in rules
    with socket.socket() as outside:  # bound to the loopback interface, not to all
        address = socket.gethostbyname(socket.gethostname())
        outside.settimeout(1)
        if not address.startswith("127."):
            assert outside.connect_ex((address, served.port)) != 0


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        (b"{", 400, "the body must be JSON"),
        (b"[1]", 400, "the body must be JSON"),
        ({"text": "a"}, 400, "the body must be JSON"),
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


@pytest.mark.parametrize("limit", ["MOST_KEPT", "MOST_MEGABYTES"])
def test_only_the_last_looks_are_kept(
    here: Client, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looks, limit, 3 if limit == "MOST_KEPT" else 0.012)
    names = [here.look(f"The animal was number {i}.") for i in range(5)]
    time.sleep(0.1)
    codes = [here.ask(f"/api/looks/{name}").code for name in names]
    assert codes == ([404, 404, 200, 200, 200] if limit == "MOST_KEPT" else [404] * 4 + [200])


def test_ctrl_c_ends_it_cleanly(bert: Path) -> None:
    with process(bert) as (client, started):
        client.look("the cat sat")
        idle = socket.create_connection(("127.0.0.1", client.port))
        idle.sendall(b"GET / HTTP/1.1\r\nHost:")
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=60)
        idle.close()
        assert started.returncode == 0
        assert (out, err) == ("", "regard: ended\n")
    with socket.socket() as again:
        assert again.connect_ex(("127.0.0.1", client.port)) != 0


def test_a_port_that_is_taken(bert: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = regard_command("serve", bert, "--port", str(port))
    assert done.returncode == 2
    assert f"port {port} cannot be used" in done.stderr


def test_the_queue_is_bounded_and_can_be_left(
    here: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looks, "MOST_WAITING", 2)
    real = looks.observed

    def slow(look: Any) -> Any:
        while not look.cancelled.wait(0.01):
            pass
        return real(look)

    monkeypatch.setattr(looks, "observed", slow)
    asked = [here.ask("/api/looks", {"model": "tiny", "text": "a street"}) for _ in range(3)]
    assert [answer.code for answer in asked] == [202, 202, 429]
    assert "busy: 2 texts are waiting" in asked[2].json["error"]
    first, second = (answer.json["id"] for answer in asked[:2])
    time.sleep(0.1)
    assert here.ask(f"/api/looks/{first}").json["state"] == "running"
    assert here.ask(f"/api/looks/{second}").json["state"] == "queued"
    assert here.ask(f"/api/looks/{second}/document").code == 409
    for name in (second, first):
        assert here.ask(f"/api/looks/{name}", method="DELETE").code == 204
    monkeypatch.setattr(looks, "observed", real)
    here.look("The street was wide.")  # it is free again


def test_slow_and_cut_connections_leave_nothing_behind(
    here: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "PATIENCE", 0.3)
    head = (
        f"POST /api/looks HTTP/1.1\r\nHost: 127.0.0.1:{here.port}\r\n"
        "content-type: application/json\r\ncontent-length: 100\r\n\r\n{"
    ).encode()
    with socket.create_connection(("127.0.0.1", here.port)) as slow:
        slow.sendall(head)
        slow.settimeout(5)
        answer = b""
        while b"within" not in answer and (
            part := slow.recv(65536)
        ):  # head and body may come apart
            answer += part
        assert b" 413 " in answer
        assert b"did not arrive within" in answer
    with socket.create_connection(("127.0.0.1", here.port)) as cut:
        cut.sendall(head)
    here.look("The street was wide.")


def test_a_model_that_fails_is_told(here: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(look: Any) -> Any:
        raise ValueError("no <b>luck</b>")

    monkeypatch.setattr(looks, "observed", broken)
    name = here.ask("/api/looks", {"model": "tiny", "text": "a street"}).json["id"]
    time.sleep(0.2)
    state = here.ask(f"/api/looks/{name}").json
    assert (state["state"], state["error"]) == ("failed", "ValueError: no <b>luck</b>")


def test_the_description_names_every_route(folder: Path) -> None:
    app = make_app({}, 10, set())
    app.state.looks.close()
    paths = {re.sub(r":int", "", route.path) for route in app.routes}  # type: ignore[attr-defined]
    assert {p for p in paths if p.startswith("/api")} == set(description(10)["paths"])


def test_in_a_browser_short_and_long(
    here: Client, browser: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = browser.new_context(viewport={"width": 1200, "height": 800}).new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.goto(f"{here.address}/")
    page.fill("textarea", STORY)
    page.click("button:has-text('Look')")
    page.wait_for_selector("html[data-ready]")
    weights = eager(folder, STORY)
    page.keyboard.press("Escape")
    page.evaluate(
        "document.activeElement.blur(); location.hash = 'view=map&layer=1&head=3&from=40&to=2'"
    )
    page.wait_for_selector(f".weight-now:text-is('{weights[1][0, 3, 40, 2]:.4f}')")
    # A long text: the vectors of one head at a time, tiles from the server.
    monkeypatch.setattr(parts, "WHOLE", 1000)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    text = STORY * 30
    page.fill("textarea", text)
    page.click("button:has-text('Look')")
    page.wait_for_selector(".ask [role=status]:text-matches('^\\\\d{4} tokens$')", timeout=20000)
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
    page.wait_for_timeout(500)
    tiles = [url for url in asked if "/tiles/" in url]
    assert any("/tiles/5/0/0" in url for url in tiles)
    assert any("/tiles/0/" in url for url in tiles)
    # The strongest head of a link among heads whose vectors are not here, then two side by side.
    every = eager(folder, text)
    page.keyboard.press("g")
    best = max((every[k][0, h, 2100, 7].item(), k, h) for k in (0, 1) for h in range(4))
    page.wait_for_selector(f".weight-now:text-is('{best[0]:.4f}')")
    page.keyboard.press("6")
    second = every[best[1]][0, (best[2] + 1) % 4, 2100]
    page.wait_for_selector(f".compare-rows td:text-is('{second.max():.4f}')", timeout=20000)
    assert errors == []
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
    page.click("button:has-text('Look')")
    page.wait_for_selector("html[data-ready]")
    page.evaluate("document.activeElement.blur(); location.hash = 'layer=1&head=2&from=41&to=2'")
    page.check("text=Beside what is shown")
    shorter = HOSTILE.replace("</", "<")
    page.fill("textarea", shorter)
    page.click("button:has-text('Look')")
    page.wait_for_selector("#view-compare .pane-title:has-text('the <script>')")
    first, second = (eager(folder, text)[1][0, 2, -1].numpy() for text in (HOSTILE, shorter))
    page.wait_for_selector(f".link-now:has-text('{first[2]:.4f}')")
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
