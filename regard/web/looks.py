"""Looks: texts that models were asked to read, one at a time, kept while there is room."""

from __future__ import annotations

import itertools
import queue
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch

from regard.errors import RegardError
from regard.inside.observe.observation import Observation
from regard.inside.observe.observe import observe
from regard.inside.textmodel import TextModel
from regard.pieces.text import TextPieces

MOST_WAITING = 16
"""Texts that may wait; the next one is told that the server is busy."""
MOST_KEPT = 64
"""Finished looks that are kept; the one not asked for longest goes first."""
MOST_MEGABYTES = 1500
"""Of the vectors of all that is kept."""
LONG = 2048
"""Tokens from which on vectors are kept in half precision."""


class BusyError(RegardError):
    """Too many texts are waiting."""


class Cancelled(Exception):  # noqa: N818
    """Somebody asked to stop."""


@dataclass
class LookTask:
    """One text that one model reads, from the moment it is asked for."""

    name: str
    model: TextModel
    tokens: TextPieces
    target: TextPieces | None
    text: str
    state: str = "queued"
    """queued, running, done, failed or cancelled"""
    error: str = ""
    layers: int = 0
    """Layers that have run."""
    observation: Observation | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while something of it is computed."""
    made: dict[Any, Any] = field(default_factory=dict)
    """What was computed of it and is small."""

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "failed", "cancelled")

    @property
    def megabytes(self) -> float:
        """Of the vectors that are kept."""
        calls = [c for layer in self.observation or () for c in layer.calls]
        tensors = [t for c in calls for t in (c.query, c.key, c.value, c.context, c.weights)]
        return sum(t.numel() * t.element_size() for t in tensors if t is not None) / 1e6

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.name,
            "model": self.model.name,
            "state": self.state,
            "tokens": len(self.tokens),
            "layers": self.model.layers,
            "done": self.layers,
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

    def ask(self, model: str, tokens: TextPieces, target: TextPieces | None, text: str) -> LookTask:
        """Put a text into the queue."""
        with self.lock:
            unfinished = sum(not look.is_over for look in self.known.values())
            if unfinished >= MOST_WAITING:
                raise BusyError(
                    f"busy: {unfinished} texts are waiting already; try again in a moment"
                )
            look = LookTask(secrets.token_hex(8), self.models[model], tokens, target, text)
            self.known[look.name] = look
        self.waiting.put(look)
        return look

    def get(self, name: str) -> LookTask | None:
        with self.lock:
            look = self.known.get(name)
            if look is not None:
                self.known.move_to_end(name)
            return look

    def forget(self, name: str) -> bool:
        """Stop it if it runs, and drop it."""
        with self.lock:
            look = self.known.pop(name, None)
        if look is None:
            return False
        look.cancelled.set()
        return True

    def close(self) -> None:
        with self.lock:
            for look in self.known.values():
                look.cancelled.set()
        self.waiting.put(None)
        self.thread.join(10)

    def _work(self) -> None:
        while (look := self.waiting.get()) is not None:
            if look.cancelled.is_set():
                look.state = "cancelled"
            else:
                self._run(look)
            self._make_room()

    def _run(self, look: LookTask) -> None:
        look.state = "running"
        try:
            look.observation = observed(look)
            look.state = "done"
        except Cancelled:
            look.state = "cancelled"
        except RegardError as error:
            look.state, look.error = "failed", str(error)
        except Exception as error:  # the server must outlive whatever a model does
            look.state, look.error = "failed", f"{type(error).__name__}: {error}"[:500]

    def _make_room(self) -> None:
        with self.lock:
            over = [name for name, look in self.known.items() if look.is_over]
            sizes = {name: self.known[name].megabytes for name in over}
            for name in over[:-1]:
                if len(sizes) <= MOST_KEPT and sum(sizes.values()) <= MOST_MEGABYTES:
                    break
                del self.known[name], sizes[name]


def observed(look: LookTask) -> Observation:
    """Run the model over the text; between modules it can be told to stop."""
    dtype = torch.float16 if len(look.tokens) > LONG else None
    network = look.model.network
    with ExitStack() as stack:
        for module in network.modules():
            stack.callback(module.register_forward_pre_hook(_checking(look)).remove)
        with observe(network, dtype=dtype, values=True) as observation:
            look.observation = observation
            look.model.run(look.tokens, look.target)
    look.layers = len(observation)
    return observation


def _checking(look: LookTask) -> Callable[..., None]:
    calls = itertools.count()

    def check(*_: Any) -> None:
        if look.cancelled.is_set():
            raise Cancelled
        if next(calls) == 0 and look.observation is not None:
            look.layers = len(look.observation)

    return check
