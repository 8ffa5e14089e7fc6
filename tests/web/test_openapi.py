"""The description of the routes."""

from __future__ import annotations

import re
from pathlib import Path

from regard.web.app import make_app
from regard.web.openapi import description


def test_the_description_names_every_route(folder: Path) -> None:
    app = make_app({}, 10, set())
    app.state.tasks.close()
    paths = {re.sub(r":int", "", route.path) for route in app.routes}  # type: ignore[attr-defined]
    assert {p for p in paths if p.startswith("/api")} == set(description(10)["paths"])
