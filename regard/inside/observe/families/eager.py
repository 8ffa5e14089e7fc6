"""Attention outside the registry: every function of PyTorch that such a module calls passes here.

Nothing is asked of the model and nothing in it is changed. While a module that is called attention
runs, one of these is its attention:

    weights = softmax(…), then weights · values    the weights are kept, those that were multiplied
    scaled_dot_product_attention(q, k, v, …)       queries, keys and mask are kept
    multi_head_attention_forward(…)                asked once more, for its weights

What is none of these, or several of them, is not guessed at: the module is listed as not seen.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from regard.attention.multihead import MultiHeadAttention
from regard.attention.rule import Rule
from regard.inside.observe import verify
from regard.inside.observe.call import Call
from regard.inside.observe.families.masks import sdpa_call
from regard.inside.observe.watch import Watcher

NAMED = re.compile(r"attention|attn", re.IGNORECASE)
"""Classes of modules that are looked into."""
OTHERS = (nn.MultiheadAttention, MultiHeadAttention)
"""Attention that a family of its own sees."""
PRODUCTS = {"matmul": 0, "__matmul__": 0, "bmm": 0, "baddbmm": 1}
"""Products, and which of their arguments stands left of the values."""


@dataclass
class Frame:
    """A module of attention that is running, and what it has computed so far."""

    module: nn.Module
    tokens: frozenset[int]
    """What batch · queries or batch · keys may be."""
    closed: bool = False
    """Whether another family is looking just now."""
    elsewhere: bool = False
    """Whether some of its attention was seen by another family."""
    softmaxes: list[Tensor] = field(default_factory=list)
    weights: list[tuple[Tensor, Tensor | None]] = field(default_factory=list)
    """Those of the softmaxes that multiplied values, and the values if they are known."""
    fused: list[Call] = field(default_factory=list)
    registered: list[Call] = field(default_factory=list)
    """What the registry was asked for."""
    seen: list[tuple[nn.Module, Call]] = field(default_factory=list)
    """The attention of it and of the modules in it."""
    missed: list[tuple[nn.Module, str]] = field(default_factory=list)
    """The modules whose attention cannot be told, and why."""


class Frames(TorchFunctionMode):
    """The attention modules of one model that are running, from the outermost to the innermost."""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__()
        self.watcher = watcher
        self.stack: list[Frame] = []

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Let the function run, and look at what it was given and what it gave."""
        kwargs = kwargs or {}
        output = func(*args, **kwargs)
        frame, name = self.stack[-1], getattr(func, "__name__", "")
        if frame.closed:
            return output
        if name == "softmax":
            dim = kwargs["dim"] if "dim" in kwargs else args[1]
            if dim in (-1, output.dim() - 1):
                frame.softmaxes.append(output.detach())
        elif frame.softmaxes and (name in PRODUCTS or name == "einsum"):
            _note_weights(frame, name, args)
        elif name == "scaled_dot_product_attention":
            call = sdpa_call(*args, **kwargs)
            dropped = kwargs.get("dropout_p") or (len(args) > 4 and args[4])
            frame.fused.append(call if dropped else replace(call, context=output))
        elif name == "multi_head_attention_forward":
            given = inspect.signature(func).bind(*args, **kwargs).arguments
            options = {"need_weights": True, "average_attn_weights": False, "training": False}
            with torch.no_grad():
                frame.weights.append((func(**(given | options))[1], None))
        return output

    def enter(self, module: nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        if not self.watcher.here:
            return
        other = isinstance(module, OTHERS) or bool(self.stack and self.stack[-1].closed)
        tokens = _tokens((*args, *kwargs.values()))
        self.stack.append(Frame(module, tokens, closed=other, elsewhere=other))
        if len(self.stack) == 1:
            self.__enter__()  # type: ignore[no-untyped-call]

    def leave(self, module: nn.Module, args: Any, output: Any) -> None:
        if not self.watcher.here or not self.stack:
            return
        frame = self.stack[-1]
        frame.closed = True  # from here on the functions are our own
        if output is not None:  # it raised no error
            _judge(frame)
        if len(self.stack) == 1:
            self.__exit__(None, None, None)  # type: ignore[no-untyped-call]
        self.stack.pop()
        if output is None:
            return
        if not self.stack:
            self._report(frame)
            return
        above = self.stack[-1]
        above.seen += frame.seen
        above.missed += frame.missed
        above.elsewhere |= frame.elsewhere

    def _report(self, frame: Frame) -> None:
        """Tell what the outermost module gave. A module that ran twice in it gave parts."""
        times = Counter(id(module) for module, _ in frame.seen)
        missed = {id(module): (module, reason) for module, reason in frame.missed}
        for module, call in frame.seen:
            if times[id(module)] == 1:
                self.watcher.saw(module, call)
            else:
                missed[id(module)] = module, f"it computes attention in {times[id(module)]} parts"
        whole = frame.elsewhere or 1 in times.values()
        if not whole and not missed:
            reason = "no softmax over keys in it gives weights that multiply values"
            missed[id(frame.module)] = frame.module, reason
        for module, reason in missed.values():
            self.watcher.missed(module, reason, counted=not whole)
            whole = True  # one layer, however many parts of it were not seen


_frames: WeakKeyDictionary[Watcher, Frames] = WeakKeyDictionary()


@contextmanager
def watch(model: nn.Module, watcher: Watcher) -> Iterator[None]:
    frames = _frames[watcher] = Frames(watcher)
    with ExitStack() as stack:
        for module in model.modules():
            if NAMED.search(type(module).__name__) and not hasattr(module, "from_pretrained"):
                enter = module.register_forward_pre_hook(
                    frames.enter, prepend=True, with_kwargs=True
                )
                leave = module.register_forward_hook(frames.leave, always_call=True)
                stack.callback(enter.remove)
                stack.callback(leave.remove)
        yield


@contextmanager
def elsewhere(found: Sequence[Watcher]) -> Iterator[None]:
    """Here another family computes the attention of the modules that are running."""
    frames = [_frames[watcher] for watcher in found if watcher in _frames]
    running = [some.stack[-1] for some in frames if some.stack]
    for frame in running:
        frame.closed = True
    try:
        yield
    finally:
        for frame in running:
            frame.closed = False


def note_call(watcher: Watcher, module: nn.Module, call: Call) -> None:
    """The registry computed ``call`` for ``module``; once the module is done it will be judged."""
    stack = _frames[watcher].stack if watcher in _frames else []
    if stack and stack[-1].module is module:
        stack[-1].registered.append(call)
    else:
        watcher.saw(module, call)


def _call(weights: Tensor, value: Tensor | None) -> Call:
    """A call of which the weights (batch, heads, queries, keys) are all that is known."""
    batch, heads, queries, keys = weights.shape
    mark = weights.new_zeros(batch, heads, keys, 0)
    if value is not None and value.numel() and value.shape[-2] == keys:
        value = value.detach()
        several, rest = divmod(value.numel(), batch * keys * value.shape[-1])
        if not rest and heads % several == 0:
            mark = value.reshape(batch, several, keys, -1)
    return Call(weights.new_zeros(batch, heads, queries, 0), mark, Rule(1.0), weights)


def _tokens(given: Sequence[Any]) -> frozenset[int]:
    """What batch · queries may be: all but the last axis, or all but the second, of what came."""
    for x in given:
        if isinstance(x, Tensor) and x.is_floating_point() and x.dim() > 2 and x.numel():
            return frozenset((x.numel() // x.shape[-1], x.numel() // x.shape[1]))
    return frozenset()


def _note_weights(frame: Frame, name: str, args: tuple[Any, ...]) -> None:
    """Note what multiplies values if it is a softmax as it was, in its type or another."""
    value = None
    if name == "einsum":
        operands = args[1] if isinstance(args[1], (list, tuple)) else args[1:]
    else:
        left, value = args[PRODUCTS[name] :][:2]
        operands = [left] if value.dim() > 1 and value.shape[-2] == left.shape[-1] else []
    for operand in operands:
        for softmax in frame.softmaxes:
            if operand.numel() == softmax.numel() and _is_same(operand, softmax):
                frame.weights.append((operand.detach().reshape(softmax.shape), value))
                return


def _is_same(operand: Tensor, softmax: Tensor) -> bool:
    if operand.data_ptr() == softmax.data_ptr() and operand.is_contiguous():
        return True
    return torch.equal(operand.detach().reshape(softmax.shape), softmax.to(operand.dtype))


def _judge(frame: Frame) -> None:
    """The one thing of all that the module computed that can be its attention, or why none is."""
    calls = frame.registered
    if len(calls) > 1 and all(_compare_alike(call, calls[0]) for call in calls):
        calls = calls[:1]  # the same weights, for several values
    calls, reasons = list(calls), []
    for weights, value in frame.weights:
        whole = _with_heads(weights, frame.module)
        reason = verify.problem_of_shape(whole.shape, frame.module, frame.tokens)
        reason = reason or verify.problem_of_weights(whole)
        if reason is None:
            calls.append(_call(whole, value))
        else:
            reasons.append(reason)
    for call in frame.fused:
        shape = torch.Size((*call.query.shape[:-1], call.key.shape[-2]))
        reason = verify.problem_of_shape(shape, frame.module, frame.tokens)
        if reason is None and not verify.explained(call):
            reason = "its queries and keys do not give what its kernel mixed"
        if reason is None:
            calls.append(call)
        else:
            reasons.append(reason)
    if frame.softmaxes and not frame.weights and not calls:
        reasons.append(
            "its softmax is changed before it mixes values (by dropout: call model.eval() first), "
            "or mixes them in another way than by a product of matrices"
        )
    if len(calls) > 1:
        reasons = [f"it computes attention in {len(calls)} parts"]
    elif calls:
        frame.seen.append((frame.module, calls[0]))
    if reasons:
        frame.missed.append((frame.module, reasons[0]))


def _compare_alike(one: Call, other: Call) -> bool:
    """Whether two calls have the same queries and keys."""
    return torch.equal(one.query, other.query) and torch.equal(one.key, other.key)


def _with_heads(weights: Tensor, module: nn.Module) -> Tensor:
    """(batch, heads, queries, keys) of (batch · heads, queries, keys)."""
    heads = verify.heads_of(module)
    if weights.dim() == 3 and heads and len(weights) % heads == 0:
        return weights.reshape(-1, heads, *weights.shape[-2:])
    return weights
