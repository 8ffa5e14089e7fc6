"""Doctor: what computes attention on this machine and why, and what is installed."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib import metadata

import torch

from regard import __version__
from regard.attention.kernel import build, gradient, library
from regard.attention.processor import processor
from regard.errors import RegardError

EXTRAS = {
    "words": ("gensim",),
    "plot": ("matplotlib",),
    "train": ("sacrebleu",),
    "tensorboard": ("tensorboard",),
    "web": ("starlette", "uvicorn"),
    "export": ("onnx", "ctranslate2"),
    "models": ("transformers", "accelerate", "gguf"),
    "images": ("transformers", "pillow"),
}
"""The optional parts of regard, and the packages that each needs."""
CORE = ("torch", "numpy", "safetensors", "tokenizers", "click", "rich")
FEATURES = ("avx", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512dq", "avx512vl", "asimd")
"""What the kernel's variants are made of, as Linux names it."""


def report() -> Iterator[tuple[str, str]]:
    """(name, value) lines; an empty name is an empty line."""
    found = library.found()
    if isinstance(found, library.Kernel):
        yield "attention", f"native kernel, {found.variant}"
        yield (
            "gradients",
            f"native up to {gradient.MOST_TOKENS:,} tokens in float32, PyTorch's beyond",
        )
        others = [
            f"{name}{'' if runs else ' (not on this CPU)'}" for name, runs in found.variants.items()
        ]
        yield "variants", ", ".join(others)
        pool = "PyTorch's own" if found.shares_threads else "its own, made for each call"
        yield "threads", f"{torch.get_num_threads()} (torch.get_num_threads()), {pool}"
        yield "library", str(found.path)
    else:
        yield "attention", f"PyTorch's kernel; the native one is not in use: {found}"
        yield "compiler", _compiler()
        yield "threads", f"{torch.get_num_threads()} (torch.get_num_threads())"
    switch = os.environ.get(library.SWITCH)
    yield library.SWITCH, "not set" if switch is None else switch
    yield "CPU", f"{_cpu()}, {os.cpu_count()} logical cores, PyTorch uses {_capability()}"
    features = _features()
    if features is not None:
        yield "features", ", ".join(f for f in FEATURES if f in features) or "none of the known"
    yield "", ""
    yield "regard", __version__
    yield "Python", f"{platform.python_version()}, {sys.platform}, {platform.machine()}"
    for name in CORE:
        yield name, _version(name) or "missing"
    for extra, packages in EXTRAS.items():
        versions = {package: _version(package) for package in packages}
        there = [f"{package} {version}" for package, version in versions.items() if version]
        missing = [package for package, version in versions.items() if not version]
        command = [f"pip install {' '.join(missing)}"] if missing else []
        yield f"[{extra}]", "; ".join([", ".join(there), *command] if there else command)


def compile_kernel() -> str:
    """Compile the kernel beside its sources; what to say about it."""
    try:
        return f"compiled {build.build()}"
    except build.BuildError as error:
        raise RegardError(f"the native kernel was not compiled: {error}") from None
    except OSError as error:
        raise RegardError(
            f"the native kernel cannot be written to {build.HERE}: {error.strerror}"
        ) from None


def _compiler() -> str:
    command = build.compiler()
    if command is None:
        return "none found (c++, g++, clang++ or $CXX); install one, then: regard doctor --compile"
    return f"{' '.join(command)}; to compile the kernel: regard doctor --compile"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _capability() -> str:
    return str(torch.backends.cpu.get_cpu_capability())


def _cpu() -> str:
    return processor().get("model name") or platform.processor() or platform.machine()


def _features() -> set[str] | None:
    lines = processor()
    flags = lines.get("flags") or lines.get("features")
    return set(flags.split()) if flags else None
