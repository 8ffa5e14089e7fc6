"""What a wheel has beside the modules: the native kernel, compiled now, and the documentation.

The kernel is compiled for this machine if there is a C++ compiler. Without one, or if it fails, the
installation goes on: regard then computes attention by PyTorch alone, and ``regard doctor`` says
so. ``release/wheels.py`` names the platform to compile for, or none, in REGARD_PLATFORM; then a
kernel that cannot be compiled is an error.
"""

from __future__ import annotations

import importlib.util
import os
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNEL = Path("regard", "attention", "kernel")
PLATFORM = "REGARD_PLATFORM"
"""``any`` (a wheel without a kernel) or a wheel's platform, such as manylinux_2_17_aarch64."""


class ReleaseHook(BuildHookInterface):
    """Adds to a wheel; an editable installation gets the kernel beside its sources."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self.made = None if version == "editable" else tempfile.TemporaryDirectory()
        if self.made is not None:
            for page in sorted(Path(self.root, "docs").glob("*.md")):
                build_data["force_include"][str(page)] = f"regard/docs/{page.name}"
        platform = os.environ.get(PLATFORM)
        if platform == "any":
            return
        build = self._builder()
        machine = None if platform is None else platform.split("_", 3)[3]
        folder = Path(self.root, KERNEL) if self.made is None else Path(self.made.name)
        try:
            library = build.build(folder, machine)
        except (build.BuildError, OSError) as error:
            if platform is not None:
                raise
            self.app.display_warning(f"the native kernel was not compiled: {error}")
            return
        if self.made is not None:
            build_data["force_include"][str(library)] = (KERNEL / build.LIBRARY).as_posix()
        here = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform or here}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.made is not None:
            self.made.cleanup()

    def _builder(self) -> ModuleType:
        """build.py by its path: importing regard would import torch, which is not here."""
        path = Path(self.root, KERNEL, "build.py")
        spec = importlib.util.spec_from_file_location("regard_kernel_build", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
