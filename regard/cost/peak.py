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
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter


class PeakMemory(TorchDispatchMode):
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
        given = {storage._cdata for storage in _storages((args, kwargs))}
        result = func(*args, **kwargs)
        for storage in _storages(result):
            if storage._cdata not in given and storage._cdata not in self._alive:
                self._add(storage)
        return result

    def _add(self, storage: torch.UntypedStorage) -> None:
        address, size = storage._cdata, storage.nbytes()

        def died(_: object) -> None:
            self.now -= size
            del self._alive[address]

        self._alive[address] = weakref.ref(storage, died)
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
    return (leaf.untyped_storage() for leaf in tree_iter(tree) if isinstance(leaf, Tensor))
