"""Worked examples: small matrices in a TOML file, computed, explained, and checked for mistakes."""

from regard.worked.check import Report, Wrong, check
from regard.worked.example import Example, compute

__all__ = ["Example", "Report", "Wrong", "check", "compute"]
