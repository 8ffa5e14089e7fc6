"""Who may ask, and how slowly."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from regard.web import guard
from tests.web.server import Client, process


@pytest.fixture(scope="module")
def served(bert: Path) -> Iterator[Client]:
    with process(bert) as (client, _):
        yield client


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
