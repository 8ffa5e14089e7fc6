"""Trace and Step: plain arrays with names, axes and formulas; files. Knows NumPy only."""

from regard.trace.derived import Array, Derived, Part
from regard.trace.step import Step
from regard.trace.trace import Trace, format_trace

__all__ = ["Array", "Derived", "Part", "Step", "Trace", "format_trace"]
