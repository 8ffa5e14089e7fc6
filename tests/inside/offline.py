"""Run Python where the hub cannot be reached and its cache is empty."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def offline(script: str, home: Path) -> str:
    """The last line that ``script`` writes to stderr."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(home)},
    )
    return done.stderr.strip().splitlines()[-1]
