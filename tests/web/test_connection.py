"""A request's head must arrive in time."""

from __future__ import annotations

import socket

import pytest

from regard.web import connection
from tests.web.server import Client


def closed(one: socket.socket) -> bool:
    """Whether the other side has ended a connection, in either of the two ways."""
    try:
        return one.recv(10) == b""
    except ConnectionResetError:
        return True


def test_half_sent_heads_are_closed_and_keep_nobody_out(
    here: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PATIENCE", 0.3)
    head = f"GET /api/models HTTP/1.1\r\nHost: 127.0.0.1:{here.port}\r\n".encode()
    silent = []
    for place in range(40):
        one = socket.create_connection(("127.0.0.1", here.port), timeout=30)
        silent.append(one)
        if place % 2:  # half of them send nothing at all
            one.sendall(head)
    assert here.ask("/api/models").code == 200
    assert all(closed(one) for one in silent), "the server has closed them"
    with socket.create_connection(("127.0.0.1", here.port)) as again:  # a whole one, then half
        again.settimeout(30)
        again.sendall(head + b"\r\n" + head)
        said = b""
        while part := again.recv(65536):
            said += part
        assert said.count(b"HTTP/1.1 200") == 1
    for one in silent:
        one.close()
