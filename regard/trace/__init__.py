"""Trace and Step: plain arrays with names, axes and formulas; files. Knows NumPy only."""

from regard.trace.step import Array, Step
from regard.trace.trace import Trace, format_trace

__all__ = ["Array", "Step", "Trace", "format_trace"]
