"""Compiles the native kernel while regard is installed, if there is a C++ compiler.

Without one, or if it fails, the installation goes on: regard then computes attention by PyTorch
alone, and ``regard doctor`` says so.
"""

from __future__ import annotations

import importlib.util
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("regard", "attention", "kernel")


class KernelHook(BuildHookInterface):
    """Adds the library to a wheel; an editable installation gets it beside the sources."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build = self._builder()
        root = Path(self.root) / FOLDER
        editable = version == "editable"
        self.made = None if editable else tempfile.TemporaryDirectory()
        try:
            library = build.build(root if self.made is None else Path(self.made.name))
        except (build.BuildError, OSError) as error:
            self.app.display_warning(f"the native kernel was not compiled: {error}")
            return
        if not editable:
            build_data["force_include"][str(library)] = (FOLDER / build.LIBRARY).as_posix()
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.made is not None:
            self.made.cleanup()

    def _builder(self) -> ModuleType:
        """build.py by its path: importing regard would import torch, which is not here."""
        path = Path(self.root) / FOLDER / "build.py"
        spec = importlib.util.spec_from_file_location("regard_kernel_build", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
