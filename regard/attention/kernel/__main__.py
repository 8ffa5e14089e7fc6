"""``python -m regard.attention.kernel``: compile the kernel beside its sources."""

from __future__ import annotations

import sys

from regard.attention.kernel.build import BuildError, build

try:
    print(f"compiled {build()}")
except BuildError as error:
    sys.exit(f"the kernel was not compiled: {error}")
