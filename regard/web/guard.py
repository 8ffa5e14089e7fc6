"""Guard: who may ask, how much they may send, and what browsers are told with every answer."""

from __future__ import annotations

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regard.errors import RegardError

MOST_BYTES = 1 << 20
"""Of a request's body."""
PATIENCE = 10.0
"""Seconds for a whole body to arrive."""


class TooLargeError(RegardError):
    """A body that is too large or too slow."""


class Guard:
    """Refuses other hosts and other pages; puts the headers of a strict page on every answer.

    A page of another origin cannot read an answer (no CORS header is ever sent), cannot post
    (JSON is asked for, and its Origin is not ours), and a name that was pointed at this machine
    is not one of the hosts.
    """

    def __init__(self, app: ASGIApp, hosts: set[str], policy: str) -> None:
        self.app, self.hosts = app, hosts
        self.headers = [
            (b"content-security-policy", f"{policy}; frame-ancestors 'none'".encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cache-control", b"no-store"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", []))
                said = {name for name, _ in own}  # a page with another script has its own policy
                message["headers"] = own + [pair for pair in self.headers if pair[0] not in said]
            await send(message)

        wrong = self.wrong(Request(scope))
        if wrong is not None:
            code, text = wrong
            await JSONResponse({"error": text}, code)(scope, receive, guarded)
            return
        await self.app(scope, receive, guarded)

    def wrong(self, request: Request) -> tuple[int, str] | None:
        host = request.headers.get("host", "")
        if host not in self.hosts:
            return 421, f"this server answers only to {', '.join(sorted(self.hosts))}"
        origin = request.headers.get("origin")
        if origin is not None and origin not in {f"http://{name}" for name in self.hosts}:
            return 403, "pages of other sites may not use this server"
        if request.method == "POST":
            kind = request.headers.get("content-type", "").split(";")[0].strip()
            if kind != "application/json":
                return 415, "send application/json"
        return None


async def read_body(request: Request) -> bytes:
    """The body, if it is small and comes in time."""
    parts, size = [], 0
    try:
        with anyio.fail_after(PATIENCE):
            async for part in request.stream():
                size += len(part)
                if size > MOST_BYTES:
                    raise TooLargeError(f"a request may have {MOST_BYTES:,} bytes, this has more")
                parts.append(part)
    except TimeoutError as error:
        raise TooLargeError(f"the request did not arrive within {PATIENCE:.0f} s") from error
    except ClientDisconnect as error:
        raise TooLargeError("the request was cut off") from error
    return b"".join(parts)
