"""The kernel in several threads, and in a process that was forked."""

from __future__ import annotations

import multiprocessing
import threading
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import causal
from regard.attention.kernel import library
from regard.attention.kernel.library import Kernel
from regard.attention.kernel.run import run
from regard.attention.rule import Rule
from tests.attention.kernel.definition import ALL


def test_threads_give_the_same_and_many_calls_do_not_meet(kernels: list[Kernel]) -> None:
    """A thread count gives the same bits each time; calls from several threads at once too."""
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 3, 331, 16)
    for kernel in kernels:
        for threads in (1, 2, 5):
            torch.set_num_threads(threads)
            expected = _flat(kernel, q, k, v)
            results: list[list[Tensor]] = []
            workers = [
                threading.Thread(target=lambda: results.append(_flat(kernel, q, k, v)))  # noqa: B023
                for _ in range(4)
            ]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            torch.set_num_threads(1)
            assert len(results) == 4
            for result in results:
                close_to = zip(result, expected, strict=True)
                assert all(torch.allclose(a, b, atol=1e-5) for a, b in close_to)
            torch.set_num_threads(threads)
            again = _flat(kernel, q, k, v)
            torch.set_num_threads(1)
            assert all(torch.equal(a, b) for a, b in zip(again, expected, strict=True))


def _flat(kernel: Kernel, q: Tensor, k: Tensor, v: Tensor) -> list[Tensor]:
    context, found = run(kernel, q, k, v, Rule(0.25, causal()), ALL)
    assert found is not None
    return [x for x in (context, *found) if x is not None]


def _in_a_fork(queue: Any, path: str, variant: str) -> None:
    from pathlib import Path

    kernel = library.load(Path(path), variant)
    assert isinstance(kernel, Kernel)
    q, k, v = torch.ones(3, 1, 4, 300, 16)
    torch.set_num_threads(2)
    context, _ = run(kernel, q, k, v, Rule(1.0))
    assert context is not None
    queue.put(float(context.sum()))


def test_a_fork_computes_and_does_not_hang(kernels: list[Kernel]) -> None:
    kernel = kernels[0]
    q, k, v = torch.ones(3, 1, 4, 300, 16)
    torch.set_num_threads(2)
    run(kernel, q, k, v, Rule(1.0))  # PyTorch's threads are there now, and stay in the parent
    torch.set_num_threads(1)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_a_fork, args=(queue, str(kernel.path), kernel.variant))
    child.start()
    assert queue.get(timeout=60) == pytest.approx(4 * 300 * 16)
    child.join(30)
    assert child.exitcode == 0
