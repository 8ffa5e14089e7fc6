"""Candidate: somebody's function or module, how it is called and what it answers.

A function takes ``(query, key, value, mask=None)``, or arguments that are named like the keys of
a worked example's file; a module takes x (or query, key and value) and has its matrices inside.
"""

from __future__ import annotations

import copy
import inspect
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from regard.errors import RegardError, first_line
from regard.trace import Array
from regard.worked.code.limit import TimeUpError, within
from regard.worked.code.load import line_in
from regard.worked.code.weights import refill, weights_in
from regard.worked.dialects import DIALECTS

SYNONYMS = {
    **dict.fromkeys(("q", "query"), "queries"),
    **dict.fromkeys(("k", "key"), "keys"),
    **dict.fromkeys(("v", "value"), "values"),
    **dict.fromkeys(("inputs", "input", "embeddings", "hidden_states"), "x"),
    **dict.fromkeys(("context", "encoder_output", "enc", "y", "m"), "memory"),
    **dict.fromkeys(("attn_mask", "attention_mask", "src_mask", "allowed"), "mask"),
    **dict.fromkeys(("num_heads", "n_heads", "n_head", "nhead", "h"), "heads"),
    **dict.fromkeys(("is_causal",), "causal"),
}
"""What arguments are called too."""
WIDTHS = {"d_model", "embed_dim", "dim", "d", "d_in", "d_out", "input_dim", "embed_size", "width"}
WIDTHS |= {"model_dim", "emb_dim", "n_embd", "hidden_size", "hidden_dim", "in_dim", "out_dim"}
WIDTHS |= {"d_k", "d_v", "dk", "dv", "dim_in", "dim_out", "head_size", "embedding_dim"}
LENGTHS = {"context_length", "max_len", "block_size", "seq_len", "max_seq_len"}
WIDTH, HEADS = 6, 2


class Answer(NamedTuple):
    """What a call gave: the result, the weights if they came too, or what went wrong."""

    result: Array | None = None
    weights: Array | None = None
    error: str = ""
    kind: str = ""
    """The dtype of the result."""
    changed: tuple[str, ...] = ()
    """The arguments that are no longer what they were."""
    raw: Tensor | None = None
    """The result as PyTorch has it, for gradients."""


class Candidate:
    """A function or module under test."""

    def __init__(self, given: Any, mechanism: str, seconds: float) -> None:
        self.mechanism = mechanism
        self.seconds = seconds
        self.name = getattr(given, "__name__", type(given).__name__)
        self.file = _file_of(given)
        made = _constructed(given, mechanism) if inspect.isclass(given) else given
        self.call: Callable[..., Any] = made
        self.module: nn.Module | None = None
        self.transposed = False
        if isinstance(made, nn.Module):
            self.call = copy.deepcopy(made).eval()
            if any(True for _ in made.parameters()):
                self.module = self.call
        self.parameters = _parameters(made.forward if isinstance(made, nn.Module) else made)
        self.library = "torch" if isinstance(made, nn.Module) else library_of(given)
        self.arguments = self._arguments()
        self.passed: dict[str, Any] = {}
        """What it was last called with."""
        self.boolean = True
        """Whether it takes a mask of booleans; else of 0 and 1."""

    def _arguments(self) -> dict[str, str]:
        """Its parameters, by their names, and which of our arrays each takes."""
        if self.module is not None:
            return self._of_module()
        names = {p: self._key(p) for p in self.parameters}
        known = (*DIALECTS[self.mechanism].takes, "mask", "heads", "causal")
        strange = [p for p, key in names.items() if key not in known]
        required = [p for p, own in self.parameters.items() if own.default is own.empty]
        plain = [p for p in strange if p in required]
        positional = list(names)[:3]
        if plain and {"queries", "keys", "values"} <= set(known) and len(positional) == 3:
            names |= dict(zip(positional, ("queries", "keys", "values"), strict=True))
            plain = [p for p in plain if p not in positional]
        if plain:
            raise RegardError(
                f"{self.name}() has an argument {plain[0]!r}: for mechanism {self.mechanism!r} a "
                f"function takes {self._takes()}"
            )
        dialect = DIALECTS[self.mechanism]
        missing = [key for key in dialect.needs if key not in names.values()]
        if missing:
            raise RegardError(
                f"{self.name}() has no argument {missing[0]!r}: for mechanism {self.mechanism!r} "
                f"a function takes {self._takes()}"
            )
        return {p: key for p, key in names.items() if key in known}

    def _takes(self) -> str:
        takes = DIALECTS[self.mechanism].takes
        own = f"arguments named {', '.join(takes)}, mask"
        return f"(query, key, value, mask=None), or {own}" if "queries" in takes else own

    def _key(self, parameter: str) -> str:
        """The key of a worked example that a parameter's name stands for."""
        name = parameter.lower()
        name = re.sub(r"^([wub])_?([qkvoa])$", r"\1_\2", name)
        dialect = DIALECTS[self.mechanism]
        if name in dialect.takes and name != "values":
            return name
        if dialect.needs and name in ("w", "u", "v", "va", "v_a"):
            return f"{name[0]}_a"
        key = SYNONYMS.get(name, name)
        own = {"queries": dialect.query, "keys": dialect.memory, "values": dialect.memory}
        return own.get(key, key) if not dialect.projects else key

    def _of_module(self) -> dict[str, str]:
        names = {p: SYNONYMS.get(p.lower(), p.lower()) for p in self.parameters}
        vectors = [p for p, key in names.items() if key not in ("mask", "causal")]
        needed = [p for p in vectors if self.parameters[p].default is inspect.Parameter.empty]
        memory = DIALECTS[self.mechanism].memory
        taken = dict(zip(needed, ["x", memory, memory], strict=False))
        return taken | {p: key for p, key in names.items() if key in ("mask", "causal")}

    def takes(self, key: str) -> bool:
        """Whether it has an argument for this."""
        return key in self.arguments.values()

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of a worked example that it is given, mask and settings left out."""
        return tuple(k for k in dict.fromkeys(self.arguments.values()) if k not in SETTINGS)

    @property
    def heads(self) -> int:
        """How many heads it is called with, or a module has."""
        if not DIALECTS[self.mechanism].heads:
            return 1
        if self.module is None:
            return HEADS if self.takes("heads") else 1
        for part in self.module.modules():
            for name, value in vars(part).items():
                if SYNONYMS.get(name, name) == "heads" and isinstance(value, int):
                    return value
        return HEADS

    def prepared(self, seed: int, kind: str) -> dict[str, Array]:
        """Fill a module with numbers of a dtype; its weights as a worked example has them."""
        if self.module is None:
            return {}
        self.module.to(getattr(torch, kind))
        refill(self.module, seed)
        return weights_in(self.module, self.transposed)

    def answer(self, given: dict[str, Any], kind: str, gradients: bool = False) -> Answer:
        """Call it with these arrays, by the keys of a worked example, in this dtype."""
        arrays = {key: self._passed(key, value, kind) for key, value in given.items()}
        self.passed = arrays
        if gradients:
            for value in arrays.values():
                if isinstance(value, Tensor) and value.is_floating_point():
                    value.requires_grad_()
        before = {key: _array(v).copy() for key, v in arrays.items() if hasattr(v, "shape")}
        try:
            with redirect_stdout(sys.stderr):
                came = within(self.seconds, lambda: self._called(arrays))
        except TimeUpError as error:
            return Answer(error=str(error))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            where = line_in(self.file, error) if self.file else ""
            return Answer(error=f"{type(error).__name__}: {first_line(error)}{where}")
        changed = tuple(k for k, v in before.items() if not np.array_equal(v, _array(arrays[k])))
        first, second = (*came, None)[:2] if isinstance(came, tuple | list) else (came, None)
        if not isinstance(first, Tensor | np.ndarray):
            return Answer(error=f"it returned a {type(first).__name__}, not an array")
        raw = first if isinstance(first, Tensor) else None
        weights = _array(second) if isinstance(second, Tensor | np.ndarray) else None
        kind_of = str(first.dtype).removeprefix("torch.")
        return Answer(_array(first), weights, "", kind_of, changed, raw)

    def _called(self, arrays: dict[str, Any]) -> Any:
        named = {p: arrays[key] for p, key in self.arguments.items() if key in arrays}
        first = [p for p in named if self.parameters[p].kind is inspect.Parameter.POSITIONAL_ONLY]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.call(*(named.pop(p) for p in first), **named)

    def _passed(self, key: str, value: Any, kind: str) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        if value.dtype == np.bool_:
            value = value if self.boolean else value.astype(kind)
        else:
            value = value.astype(kind)
        return torch.tensor(value) if self.library == "torch" else value.copy()


SETTINGS = ("mask", "heads", "causal")


def _array(value: Any) -> Array:
    return np.asarray(value.detach() if isinstance(value, Tensor) else value)


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    try:
        own = inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        raise RegardError(f"cannot tell what arguments it takes: {error}") from error
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {name: p for name, p in own.items() if p.kind not in variable}


def _file_of(given: Any) -> str:
    try:
        return inspect.getfile(given if inspect.isroutine(given) else _class_of(given))
    except (TypeError, OSError):
        return ""


def _class_of(given: Any) -> type:
    return given if inspect.isclass(given) else type(given)


def _constructed(given: type, mechanism: str) -> Any:
    """An instance, its sizes chosen by the names of what its constructor takes."""
    chosen: dict[str, Any] = {}
    for name, parameter in _parameters(given).items():
        low = name.lower()
        if low in WIDTHS:
            chosen[name] = WIDTH
        elif SYNONYMS.get(low, low) == "heads":
            chosen[name] = HEADS
        elif low in LENGTHS:
            chosen[name] = 16
        elif "drop" in low:
            chosen[name] = 0.0
        elif parameter.default is parameter.empty:
            raise RegardError(
                f"{given.__name__} takes {name!r}, whose value cannot be guessed: check an "
                f"instance instead, such as attention = {given.__name__}(…) in your file"
            )
    with torch.random.fork_rng():
        return given(**chosen)


def library_of(function: Any) -> str:
    """``torch`` or ``numpy``, by what the function and those that it calls refer to; "" if none."""
    seen = {name for module in _referred(function, set()) for name in (module.split(".")[0],)}
    return next((name for name in ("torch", "numpy") if name in seen), "")


def _referred(function: Any, done: set[int]) -> Iterator[str]:
    """The modules that a function's names come from, those of the functions it calls included."""
    function = inspect.unwrap(function)
    if not inspect.isfunction(function) and not inspect.isclass(function):
        function = vars(type(function)).get("__call__")
    members = list(vars(function).values()) if inspect.isclass(function) else [function]
    for member in members:
        code = getattr(member, "__code__", None)
        if code is None or id(code) in done:
            continue
        done.add(id(code))
        for name in _names(code):
            found = member.__globals__.get(name)
            if isinstance(found, ModuleType):
                yield found.__name__
            elif found is not None and getattr(found, "__module__", None):
                yield str(found.__module__)
                if inspect.isfunction(found) or inspect.isclass(found):
                    yield from _referred(found, done)


def _names(code: Any) -> set[str]:
    """The global names of a function's code and of those written inside it."""
    inner = [c for c in code.co_consts if hasattr(c, "co_names")]
    return set(code.co_names).union(*map(_names, inner))
