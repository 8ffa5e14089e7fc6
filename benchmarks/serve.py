"""``regard serve`` under load: clients that ask, poll, look at tiles, cancel and cut connections.

    python benchmarks/serve.py                        # 32 clients for a minute, a tiny model
    python benchmarks/serve.py --hostile 4            # and among them four that mean harm
    python benchmarks/serve.py --model smollm2 --tokens 4096 --seconds 0      # one long text, timed

Prints how many requests were answered, with which codes, the memory of the server over time,
whether it still answers afterwards, and what it traced back. Everything stays on this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

MOST_HALF = 60
"""Connections with half a head that one hostile client holds open."""
HEAD_PATIENCE = 7.0
"""Seconds after which the server must have closed them."""
PATIENCE = 600
"""Seconds for an answer; other programs on the machine may stand in the way."""
STORY = "The animal didn't cross the street because it was too tired, and the street was wide. "


def ask(address: str, path: str, body: Any = None, method: str | None = None) -> tuple[int, bytes]:
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    request = urllib.request.Request(
        address + path, data, {"content-type": "application/json"}, method=method
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def client(address: str, model: str, until: float, codes: Counter[str], seed: int) -> None:
    """One person who keeps asking, and is not always polite."""
    chance = random.Random(seed)
    port = int(address.rsplit(":", 1)[1])
    while time.monotonic() < until:
        text = STORY * chance.randint(1, 5)
        code, body = ask(address, "/api/looks", {"model": model, "text": text})
        codes[f"ask {code}"] += 1
        if code == 429:
            time.sleep(chance.uniform(0.05, 0.3))
            continue
        if code != 202:
            continue
        place = f"/api/looks/{json.loads(body)['id']}"
        if chance.random() < 0.15:
            codes[f"cancel {ask(address, place, method='DELETE')[0]}"] += 1
            continue
        if chance.random() < 0.1:  # a connection that is cut in the middle
            with socket.create_connection(("127.0.0.1", port)) as cut:
                cut.sendall(f"GET {place}/document HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode())
            codes["cut"] += 1
        state = "queued"
        while state in ("queued", "running"):
            code, body = ask(address, place)
            if code != 200:
                break
            state = json.loads(body)["state"]
            time.sleep(0.05)
        if state == "done":
            for part in ("/document", "/layers/0", "/layers/0/heads/0/tiles/0/0/0"):
                codes[f"part {ask(address, place + part)[0]}"] += 1


def hostile(address: str, model: str, until: float, codes: Counter[str], seed: int) -> None:
    """One that sends half a head, half a million words, and what is no JSON or too much of it."""
    chance = random.Random(seed)
    port = int(address.rsplit(":", 1)[1])
    open_ones: list[socket.socket] = []
    bodies = [
        b"{",
        b"[" * 20_000,
        b'{"model":[]}',
        b'{"model":{},"text":"a"}',
        b"\xff\xfe",
        b"null",
    ]
    bodies.append(json.dumps({"model": model, "text": "a " * 500_000}).encode())
    while time.monotonic() < until:
        if chance.random() < 0.5:
            silent = socket.create_connection(("127.0.0.1", port), timeout=30)
            silent.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Half: ".encode())
            open_ones.append(silent)
            codes["half a head"] += 1
            if len(open_ones) > MOST_HALF:
                open_ones.pop(0).close()
        else:
            code, _ = ask(address, "/api/looks", chance.choice(bodies))
            codes[f"hostile {code}"] += 1
        time.sleep(chance.uniform(0, 0.1))
    time.sleep(HEAD_PATIENCE)
    for silent in open_ones:
        silent.settimeout(5)
        try:
            closed = silent.recv(100) == b""
        except OSError as error:
            closed = isinstance(error, ConnectionError)
        codes["half a head closed" if closed else "half a head STILL OPEN"] += 1
        silent.close()


def memory(process: int) -> float:
    """MB of resident memory."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def load(
    address: str, model: str, process: int, clients: int, enemies: int, seconds: float
) -> None:
    codes: Counter[str] = Counter()
    until = time.monotonic() + seconds
    threads = [
        threading.Thread(target=client, args=(address, model, until, codes, seed))
        for seed in range(clients)
    ]
    threads += [
        threading.Thread(target=hostile, args=(address, model, until, codes, seed))
        for seed in range(enemies)
    ]
    sizes = [memory(process)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(1)
        sizes.append(memory(process))
    print(f"{clients} clients, {enemies} hostile, {seconds:.0f} s: {sum(codes.values())} requests")
    print("  " + ", ".join(f"{name}: {count}" for name, count in sorted(codes.items())))
    third = len(sizes) // 3
    print(
        f"  memory {sizes[0]:.0f} MB at first, {max(sizes[:third] or sizes):.0f} MB at most in the "
        f"first third, {max(sizes[-third:] or sizes):.0f} MB in the last"
    )
    code, _ = ask(address, "/api/models")
    print(f"  afterwards it answers {code}")


def one(address: str, model: str, tokens: int) -> None:
    """A long text: the run, the overview, then tiles down to single weights."""
    text = (STORY * (tokens // 17 + 40)).split(" ")
    low, high = 1, len(text)
    while low < high:  # as many words as fit
        middle = (low + high + 1) // 2
        code, body = ask(address, "/api/looks", {"model": model, "text": " ".join(text[:middle])})
        if code == 202:
            found = json.loads(body)
            ask(address, f"/api/looks/{found['id']}", method="DELETE")
            low, high = (middle, high) if found["tokens"] <= tokens else (low, middle - 1)
        else:
            high = middle - 1
    start = time.perf_counter()
    code, body = ask(address, "/api/looks", {"model": model, "text": " ".join(text[:low])})
    look = json.loads(body)
    place = f"/api/looks/{look['id']}"
    while json.loads(ask(address, place)[1])["state"] in ("queued", "running"):
        time.sleep(0.05)
    print(f"{model}, {look['tokens']} tokens: read in {time.perf_counter() - start:.1f} s")
    asked = ["/document", "/layers/0", "/layers/15", "/layers/15/heads/3"]
    level = max(0, (look["tokens"] - 1).bit_length() - 7)
    asked += [
        f"/layers/15/heads/3/tiles/{at}/{down}/{down}"
        for at, down in ((level, 0), (level // 2, 1), (0, 9))
    ]
    asked.append(f"/layers/15/heads/3/rows/{look['tokens'] - 1}")
    for part in asked:
        start = time.perf_counter()
        code, body = ask(address, place + part)
        taken = time.perf_counter() - start
        print(f"  {part:38} {code}  {taken * 1000:7.0f} ms  {len(body) / 1e6:6.2f} MB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--hostile", type=int, default=0)
    parser.add_argument("--tokens", type=int, default=0)
    given = parser.parse_args()
    command = [sys.executable, "-m", "regard", "serve", given.model, "--port", "0"]
    said = tempfile.TemporaryFile("w+")  # noqa: SIM115
    started = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=said,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert started.stdout is not None
    line = started.stdout.readline()
    if " at " not in line:
        print(f"{given.model} could not be loaded: left out")
        return 0
    address = line.split(" at ")[1].split()[0].rstrip("/")
    try:
        if given.tokens:
            one(address, given.model, given.tokens)
        if given.seconds:
            load(address, given.model, started.pid, given.clients, given.hostile, given.seconds)
    finally:
        started.send_signal(signal.SIGINT)
        code = started.wait(30)
    print(f"  Ctrl-C ended it with exit code {code}")
    said.seek(0)
    traced = said.read().count("Traceback (most recent call last)")
    print(f"  tracebacks: {traced}")
    return 1 if traced or code else 0


if __name__ == "__main__":
    sys.exit(main())
