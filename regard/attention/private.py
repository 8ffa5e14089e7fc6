"""Private: every name that regard uses of PyTorch's inside, which PyTorch may change at any time.

They stand here and nowhere else. A PyTorch without them costs speed, or the count of memory; it
breaks nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Collection

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad

from regard.attention.processor import processor
from regard.errors import RegardError

UNKNOWN = ""
"""Why it cannot be told whether somebody watches PyTorch's operations; empty if it can."""

try:
    _tracer = torch._C._get_tracing_state
    _dispatch_modes = torch._C._len_torch_dispatch_stack
    _transform = torch._C._functorch.peek_interpreter_stack
    _ = forward_ad._current_level  # it changes: read anew each time
except AttributeError as error:
    UNKNOWN = f"PyTorch {torch.__version__} does not say who watches its operations: {error}"


def watched() -> bool:
    """Whether somebody records or changes the operations that PyTorch runs: a compiler, a tracer,
    autocast, a dispatch mode, vmap and its like, forward gradients. True where that is unknown."""
    return (
        bool(UNKNOWN)
        or torch.compiler.is_compiling()
        or torch.is_autocast_enabled("cpu")
        or _tracer() is not None
        or _dispatch_modes() > 0
        or _transform() is not None
        or forward_ad._current_level >= 0
    )


def untouched(module: nn.Module, known: Collection[type], found: list[Tensor]) -> bool:
    """Whether a module, and all in it, is of a ``known`` class and computes as that class does
    when nobody trains it: no hook, no other forward. Its parameters are added to ``found``."""
    left = [module]
    while left:  # some hundred modules before each sentence: no call is made for one
        one = left.pop()
        own = one.__dict__
        if type(one) not in known or own["training"] or "forward" in own:
            return False
        if own["_forward_hooks"] or own["_forward_pre_hooks"]:
            return False
        found += [p for p in own["_parameters"].values() if p is not None]
        left += [m for m in own["_modules"].values() if m is not None]
    return True


def hooked_everywhere() -> bool:
    """Whether there are hooks for all modules, of whatever model."""
    every = torch.nn.modules.module
    return bool(every._global_forward_hooks or every._global_forward_pre_hooks)


def version(tensor: Tensor) -> tuple[int, int]:
    """Where a tensor's numbers are and how often they were changed in place. A tensor that was
    made for inference alone counts no changes."""
    return tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version


def one_dnn_ahead() -> bool:
    """Whether oneDNN multiplies float32 faster than MKL, which PyTorch takes.

    Of 768 rows by GPT-2's matrices, on processors of AMD: with AVX-512 104 to 108 GFLOP/s against
    93 to 100 (on a Zen 5, of 512 rows by 300 x 1500, 255 against 112), with AVX2 alone 41 to 62
    against 79 to 86. On one of Intel, whose library MKL is, with AVX-512 and two threads 116 to 153
    against 153 to 165.
    """
    capability = torch.backends.cpu.get_cpu_capability()
    return capability.startswith("AVX512") and processor().get("vendor_id") == "AuthenticAMD"


def one_dnn_product(
    x: Tensor, matrix: Tensor, bias: Tensor | None, curve: str = "none"
) -> Tensor | None:
    """x matrix^T + bias by oneDNN, for x (…, inputs) and ``matrix`` (outputs, inputs), and then the
    ``curve``: "none", "gelu", "gelu (by tanh)" or "relu". None where PyTorch has no such product.
    """
    name, _, how = curve.partition(" (by ")
    about = how.rstrip(")") if how else "none" if name == "gelu" else ""
    try:
        made: Tensor = torch.ops.mkldnn._linear_pointwise(x, matrix, bias, name, [], about)
    except (AttributeError, NotImplementedError, RuntimeError):
        return None
    return made


def compiles() -> bool:
    """Whether anything in this process was ever compiled."""
    return "torch._dynamo" in sys.modules


try:
    from torch.utils._python_dispatch import TorchDispatchMode as _Mode
except ImportError:  # pragma: no cover - no PyTorch that regard was run with

    class _Mode:  # type: ignore[no-redef]
        """In the place of PyTorch's class."""

        def __init__(self) -> None:
            raise RegardError(
                f"PyTorch {torch.__version__} does not let regard see its operations: memory "
                "cannot be counted with it"
            )


class DispatchMode(_Mode):
    """Inside ``with`` an object of a subclass, its ``__torch_dispatch__`` sees every operation."""
