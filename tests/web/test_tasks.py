"""The queue, what is kept, and models that fail."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from regard.inside.look.exploration import Exploration
from regard.web import tasks
from tests.web.server import Client


@pytest.mark.parametrize("limit", ["MOST_KEPT", "MOST_MEGABYTES"])
def test_only_the_last_looks_are_kept(
    here: Client, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, limit, 3 if limit == "MOST_KEPT" else 0.012)
    names = [here.look(f"The animal was number {i}.") for i in range(5)]
    time.sleep(0.1)
    codes = [here.ask(f"/api/looks/{name}").code for name in names]
    assert codes == ([404, 404, 200, 200, 200] if limit == "MOST_KEPT" else [404] * 4 + [200])


def test_the_queue_is_bounded_and_can_be_left(
    here: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "MOST_WAITING", 2)
    real = Exploration.run

    def slow(look: Exploration, check: Callable[[], None]) -> None:
        while True:
            check()
            time.sleep(0.01)

    monkeypatch.setattr(Exploration, "run", slow)
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
    monkeypatch.setattr(Exploration, "run", real)
    here.look("The street was wide.")  # it is free again


def test_a_model_that_fails_is_told(here: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(look: Exploration, check: Callable[[], None]) -> None:
        raise ValueError("no <b>luck</b>")

    monkeypatch.setattr(Exploration, "run", broken)
    name = here.ask("/api/looks", {"model": "tiny", "text": "a street"}).json["id"]
    time.sleep(0.2)
    state = here.ask(f"/api/looks/{name}").json
    assert (state["state"], state["error"]) == ("failed", "ValueError: no <b>luck</b>")
