"""Tasks: texts that models were asked to read, one at a time, kept while there is room."""

from __future__ import annotations

import queue
import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from regard.errors import RegardError
from regard.inside.look.exploration import Exploration
from regard.inside.textmodel import TextModel

MOST_WAITING = 16
"""Texts that may wait; the next one is told that the server is busy."""
MOST_KEPT = 64
"""Finished looks that are kept; the one not asked for longest goes first."""
MOST_MEGABYTES = 1500
"""Of the vectors of all that is kept."""


class BusyError(RegardError):
    """Too many texts are waiting."""


class Cancelled(Exception):  # noqa: N818
    """Somebody asked to stop."""


@dataclass
class LookTask:
    """One text that one model reads, from the moment it is asked for."""

    name: str
    look: Exploration
    state: str = "queued"
    """queued, running, done, failed or cancelled"""
    error: str = ""
    cancelled: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while something of it is computed."""

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "failed", "cancelled")

    def run(self) -> None:
        """Read the text; what goes wrong is kept, for the server must outlive it."""
        self.state = "running"
        try:
            self.look.run(self._check)
            self.state = "done"
        except Cancelled:
            self.state = "cancelled"
        except RegardError as error:
            self.state, self.error = "failed", str(error)
        except Exception as error:  # whatever a model does
            self.state, self.error = "failed", f"{type(error).__name__}: {error}"[:500]

    def _check(self) -> None:
        if self.cancelled.is_set():
            raise Cancelled

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.name,
            "model": self.look.model.name,
            "state": self.state,
            "tokens": len(self.look.tokens),
            "layers": self.look.model.layers,
            "done": len(self.look.observation),
            "error": self.error,
        }


class LookTasks:
    """The queue, the one thread that runs models, and what is kept."""

    def __init__(self, models: dict[str, TextModel]) -> None:
        self.models = models
        self.known: OrderedDict[str, LookTask] = OrderedDict()
        self.waiting: queue.Queue[LookTask | None] = queue.Queue()
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self._work, name="regard-models", daemon=True)
        self.thread.start()

    def ask(self, look: Exploration) -> LookTask:
        """Put a text into the queue."""
        with self.lock:
            unfinished = sum(not task.is_over for task in self.known.values())
            if unfinished >= MOST_WAITING:
                raise BusyError(
                    f"busy: {unfinished} texts are waiting already; try again in a moment"
                )
            task = LookTask(secrets.token_hex(8), look)
            self.known[task.name] = task
        self.waiting.put(task)
        return task

    def get(self, name: str) -> LookTask | None:
        with self.lock:
            task = self.known.get(name)
            if task is not None:
                self.known.move_to_end(name)
            return task

    def forget(self, name: str) -> bool:
        """Stop it if it runs, and drop it."""
        with self.lock:
            task = self.known.pop(name, None)
        if task is None:
            return False
        task.cancelled.set()
        return True

    def close(self) -> None:
        with self.lock:
            for task in self.known.values():
                task.cancelled.set()
        self.waiting.put(None)
        self.thread.join(10)

    def _work(self) -> None:
        while (task := self.waiting.get()) is not None:
            if task.cancelled.is_set():
                task.state = "cancelled"
            else:
                task.run()
            self._make_room()

    def _make_room(self) -> None:
        with self.lock:
            over = [name for name, task in self.known.items() if task.is_over]
            sizes = {name: self.known[name].look.megabytes for name in over}
            for name in over[:-1]:
                if len(sizes) <= MOST_KEPT and sum(sizes.values()) <= MOST_MEGABYTES:
                    break
                del self.known[name], sizes[name]
