"""``regard serve``: a real process."""

from __future__ import annotations

import signal
import socket
from pathlib import Path

import pytest

from tests.cli.run import regard as regard_command
from tests.models.bert.tinybert import save_tiny
from tests.web.server import process


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that needs no transformers, so that a process starts sooner."""
    made = tmp_path_factory.mktemp("models") / "tiny-bert"
    save_tiny(made)
    return made


def test_ctrl_c_ends_it_cleanly(bert: Path) -> None:
    with process(bert) as (client, started):
        client.look("the cat sat")
        idle = socket.create_connection(("127.0.0.1", client.port))
        idle.sendall(b"GET / HTTP/1.1\r\nHost:")
        client.ask("/api/models")  # answered after the idle connection was taken
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
