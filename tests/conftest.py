"""What holds for every test: no deadlines, the same examples on every CI run, one thread."""

from __future__ import annotations

import os

import torch
from hypothesis import settings

settings.register_profile("regard", deadline=None)
settings.register_profile("regard-ci", deadline=None, derandomize=True, database=None)
settings.load_profile("regard-ci" if os.environ.get("CI") else "regard")

# The tensors here are small: a second thread only waits for the first, and on a loaded machine
# both wait for a third.
torch.set_num_threads(1)
