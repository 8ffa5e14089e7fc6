"""Connection: one client's line to the server, closed if a request's head does not arrive in time.

uvicorn bounds how long a connection may be silent between two requests, and the guard how long a
body may take; without this, half a head would keep its place for ever.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 5.0
"""Seconds for the head of a request."""


class Connection(H11Protocol):
    """An HTTP connection with a clock."""

    clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        if self.clock is None:
            self._start()
        super().data_received(data)
        if self.cycle is not before:  # a whole head
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _start(self) -> None:
        self.clock = self.loop.call_later(PATIENCE, self._late)

    def _stop(self) -> None:
        if self.clock is not None:
            self.clock.cancel()
            self.clock = None

    def _late(self) -> None:
        self.clock = None
        answering = self.cycle is not None and not self.cycle.response_complete
        if not answering:  # what arrives behind a request that is answered is its body, or waits
            self.transport.close()
