"""The explorer as a process of its own, and as a server in this process."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """What the server said."""

    code: int
    body: bytes
    headers: Any

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Asks a server on this machine."""

    def __init__(self, port: int, model: str) -> None:
        self.port, self.model = port, model
        self.address = f"http://127.0.0.1:{port}"

    def ask(self, path: str, body: Any = None, method: str | None = None, **headers: str) -> Answer:
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        if data is not None:
            headers.setdefault("content-type", "application/json")
        request = urllib.request.Request(self.address + path, data, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return Answer(answer.status, answer.read(), answer.headers)
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.read(), error.headers)

    def look(self, text: str) -> str:
        """The id of a finished look."""
        asked = self.ask("/api/looks", {"model": self.model, "text": text})
        assert asked.code == 202, asked.body
        return self.wait(asked.json["id"])

    def wait(self, name: str, how: str = "done") -> str:
        """Until a look has ended so."""
        for _ in range(600):
            state = self.ask(f"/api/looks/{name}").json
            if state["state"] not in ("queued", "running"):
                assert state["state"] == how, state
                return name
            time.sleep(0.05)
        raise AssertionError("not done within 30 s")


@contextmanager
def process(*models: Path, options: tuple[str, ...] = ()) -> Iterator[tuple[Client, Any]]:
    """``regard serve`` on a free port; ended as by Ctrl-C."""
    command = [sys.executable, "-m", "regard", "serve", *map(str, models), "--port", "0", *options]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    started = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert started.stdout is not None
        line = started.stdout.readline()
        port = int(line.rsplit("127.0.0.1:", 1)[1].split("/")[0])
        yield Client(port, str(models[0])), started
    finally:
        if started.poll() is None:
            started.send_signal(signal.SIGINT)
        try:
            started.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            started.kill()
            started.communicate()
            raise


@contextmanager
def thread(model: Path, most_tokens: int = 8192, *, predicts: bool = False) -> Iterator[Client]:
    """The same server in a thread of this process, so that its limits can be set."""
    import uvicorn

    from regard.inside.textmodel import load
    from regard.web.app import make_app
    from regard.web.connection import Connection

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    port = listening.getsockname()[1]
    app = make_app(
        {"tiny": load(str(model), predicts=predicts)}, most_tokens, {f"127.0.0.1:{port}"}
    )
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none", http=Connection))
    running = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    running.start()
    try:
        yield Client(port, "tiny")
    finally:
        server.should_exit = True
        running.join(20)
        listening.close()
