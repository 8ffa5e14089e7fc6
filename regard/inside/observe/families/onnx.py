"""The attention of an ONNX graph, which onnxruntime computes and hands to a module of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from torch import nn

from regard.inside.observe.watch import Watcher
from regard.inside.onnx.network import OnnxAttention, Ran


def find(model: nn.Module) -> bool:
    return any(isinstance(module, OnnxAttention) for module in model.modules())


@contextmanager
def watch(model: nn.Module, watcher: Watcher) -> Iterator[None]:
    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, OnnxAttention):
                hook = module.register_forward_hook(partial(_after, watcher))
                stack.callback(hook.remove)
        yield


def _after(watcher: Watcher, module: nn.Module, args: Any, output: Ran) -> None:
    if watcher.here:
        call = output.call
        watcher.saw(module, call, cross=call.query.shape[-2] != call.key.shape[-2])
