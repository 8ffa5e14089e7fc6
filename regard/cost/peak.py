"""Peak: how many bytes of tensors are alive at once while a computation runs.

Every tensor operation passes a dispatch mode, which notes each new storage when it appears and
takes its bytes off when it dies. What was alive before (inputs, weights) is not counted, nor is
memory that a kernel takes and gives back inside one operation.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from regard.attention.private import DispatchMode


class PeakMemory(DispatchMode):
    """Counts the bytes of tensors made inside ``with PeakMemory() as memory:``.

    ``memory.now`` is what is alive, ``memory.peak`` the most there ever was. A view shares its
    storage with the tensor that it looks at and costs nothing; so does an operation in place.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now = 0
        self.peak = 0
        self._alive: dict[int, weakref.ref[torch.UntypedStorage]] = {}

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        given = list(_storages((args, kwargs)))  # held, so that no new one gets the id of an old
        known = {id(storage) for storage in given} | self._alive.keys()
        result = func(*args, **kwargs)
        for storage in _storages(result):
            if id(storage) not in known:
                self._add(storage)
        return result

    def _add(self, storage: torch.UntypedStorage) -> None:
        name, size = id(storage), storage.nbytes()

        def died(_: object) -> None:
            self.now -= size
            del self._alive[name]

        self._alive[name] = weakref.ref(storage, died)
        self.now += size
        self.peak = max(self.peak, self.now)


def peak_bytes(run: Callable[[], object]) -> int:
    """The most bytes of tensors that ``run()`` has alive at once, its result included."""
    memory = PeakMemory()
    with memory:
        kept = run()  # held until the end, as a caller would hold it
    del kept
    return memory.peak


def _storages(tree: Any) -> Iterator[torch.UntypedStorage]:
    """Those of the tensors in what an operation is given or gives."""
    if isinstance(tree, Tensor):
        yield tree.untyped_storage()
    elif isinstance(tree, list | tuple | dict):
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from _storages(part)
