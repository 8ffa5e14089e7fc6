"""record(): a running computation notes its values by name; it costs nothing when off.

A mechanism is written once. Where it has a value worth a name it says ``note("scores", e, …)``,
guarded by ``if recording():`` where even building the arguments would cost. With no recorder
active that is one look at a context variable. With one, the mechanism takes its explained path
and each note becomes a :class:`~regard.trace.Step`.
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.trace import Array, Trace

_active: ContextVar[Recorder | None] = ContextVar("regard_recorder", default=None)


class Recorder:
    """Turns notes into steps of ``trace``; knows the scope that the computation is in."""

    def __init__(self, trace: Trace, only: Collection[str] | None = None) -> None:
        self.trace, self.only = trace, only
        self.scopes: list[str] = []
        self.leading: tuple[str, ...] = ()
        self.last: dict[tuple[str, str], tuple[Any, Array]] = {}

    def note(
        self,
        name: str,
        value: Any,
        axes: Sequence[str],
        formula: str,
        meaning: str,
    ) -> None:
        if not self.wants(name):
            return
        from regard.trace import Derived, Step

        where = "/".join(self.scopes)
        if isinstance(value, Derived):
            content: Array | Derived = value
        else:
            content = to_array(value)
            if hasattr(value, "detach"):  # weakly: a trace must not keep tensors alive
                self.last[where, name] = weakref.ref(value), content
        # A mechanism names its own axes; what callers put in front is theirs to name, or batch.
        named = [*self.leading, *axes][-content.ndim :] if content.ndim else []
        extra = content.ndim - len(named)
        batch = ["batch"] if extra == 1 else [f"batch {i}" for i in range(extra)]
        step = Step(
            name,
            content,
            axes=[*batch, *named],
            formula=formula,
            meaning=meaning,
            scope=where,
        )
        self.trace.steps.append(step)

    def wants(self, name: str) -> bool:
        return self.only is None or name in self.only

    def noted(self, name: str, value: Any) -> Array | None:
        kept = self.last.get(("/".join(self.scopes), name))
        return kept[1] if kept is not None and kept[0]() is value else None

    @contextmanager
    def inside(self, scope: str) -> Iterator[None]:
        self.scopes.append(scope)
        try:
            yield
        finally:
            self.scopes.pop()

    @contextmanager
    def behind(self, axes: tuple[str, ...]) -> Iterator[None]:
        before, self.leading = self.leading, axes
        try:
            yield
        finally:
            self.leading = before


@contextmanager
def record(
    mechanism: str = "", tokens: Sequence[str] = (), *, only: Collection[str] | None = None
) -> Iterator[Trace]:
    """Record what the mechanisms do inside the block.

    >>> with regard.record() as trace:
    ...     regard.attend(query, key, value)
    >>> trace["weights"].value

    With ``only`` the notes of these names, and no others, are kept: a long text's need less room.
    Each thread and each task has its own recorder; an inner ``record`` takes over from an outer.
    """
    from regard.trace import Trace

    trace = Trace(mechanism=mechanism, tokens=tokens)
    token = _active.set(Recorder(trace, only))
    try:
        yield trace
    finally:
        _active.reset(token)


def recording() -> bool:
    """Whether anybody wants to know."""
    return _active.get() is not None


def wanted(name: str) -> bool:
    """Whether a recorder keeps notes of this name."""
    recorder = _active.get()
    return recorder is not None and recorder.wants(name)


def note(
    name: str,
    value: Any,
    *,
    axes: Sequence[str],
    formula: str = "",
    meaning: str = "",
) -> None:
    """Note ``value`` if a recorder is active: a tensor, an array, or a ``Derived`` of regard.trace.

    ``axes`` names the last axes; those before them are named by :func:`leading`, or batch.
    """
    recorder = _active.get()
    if recorder is not None:
        recorder.note(name, value, axes, formula, meaning)


def noted(name: str, value: Any) -> Array | None:
    """The array that the tensor ``value`` became when it was noted as ``name``, last and here.

    None if it was not. What is derived from noted values shares their arrays.
    """
    recorder = _active.get()
    return None if recorder is None else recorder.noted(name, value)


_NOTHING = nullcontext()
"""What a block enters while nobody records: a generator for each block would cost more."""


def scope(name: str) -> AbstractContextManager[None]:
    """Notes inside the block carry ``name`` in front: ``layer 0/weights``."""
    recorder = _active.get()
    return _NOTHING if recorder is None else recorder.inside(name)


def leading(*axes: str) -> AbstractContextManager[None]:
    """Notes inside the block have these axes before the ones they name themselves (the heads)."""
    recorder = _active.get()
    return _NOTHING if recorder is None else recorder.behind(axes)


def to_array(value: Any) -> Array:
    """A NumPy copy of a tensor or array: later in-place changes must not reach the trace."""
    import numpy as np

    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if value.dtype.is_floating_point and value.element_size() < 4:
            value = value.float()  # NumPy has no bfloat16
        value = value.numpy()
    return np.array(value)
