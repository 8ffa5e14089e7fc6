"""record(): a running computation notes its values by name; it costs nothing when off.

A mechanism is written once. Where it has a value worth a name it says ``note("scores", e, …)``,
guarded by ``if recording():`` where even building the arguments would cost. With no recorder
active that is one look at a context variable. With one, the mechanism takes its explained path
and each note becomes a :class:`~regard.trace.Step`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.trace import Array, Trace

_active: ContextVar[Recorder | None] = ContextVar("regard_recorder", default=None)


class Recorder:
    """Turns notes into steps of ``trace``; knows the scope that the computation is in."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.scopes: list[str] = []
        self.leading: tuple[str, ...] = ()

    def note(
        self,
        name: str,
        value: Any,
        axes: Sequence[str],
        formula: str,
        meaning: str,
    ) -> None:
        from regard.trace import Step

        content = value if isinstance(value, Derived) else to_array(value)
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
            scope="/".join(self.scopes),
        )
        self.trace.steps.append(step)

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


class Derived:
    """A value made from other noted values only where somebody looks at it."""

    def __init__(self, make: Callable[..., Array], *parts: Any, ndim: int) -> None:
        self.make = make
        self.parts = [to_array(part) for part in parts]
        self.ndim = ndim

    def __call__(self) -> Array:
        return self.make(*self.parts)


@contextmanager
def record(mechanism: str = "", tokens: Sequence[str] = ()) -> Iterator[Trace]:
    """Record what the mechanisms do inside the block.

    >>> with regard.record() as trace:
    ...     regard.attend(query, key, value)
    >>> trace["weights"].value

    Each thread and each task has its own recorder; an inner ``record`` takes over from an outer.
    """
    from regard.trace import Trace

    trace = Trace(mechanism=mechanism, tokens=tokens)
    token = _active.set(Recorder(trace))
    try:
        yield trace
    finally:
        _active.reset(token)


def recording() -> bool:
    """Whether anybody wants to know."""
    return _active.get() is not None


def note(
    name: str,
    value: Any,
    *,
    axes: Sequence[str],
    formula: str = "",
    meaning: str = "",
) -> None:
    """Note ``value`` (a tensor, an array, or a :class:`Derived`) if a recorder is active.

    ``axes`` names the last axes; those before them are named by :func:`leading`, or batch.
    """
    recorder = _active.get()
    if recorder is not None:
        recorder.note(name, value, axes, formula, meaning)


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
