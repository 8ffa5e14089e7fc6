"""Recurrence: a state that reads one position after the other.

simple.py         h_t = tanh(A[x_t; h_{t-1}] + b)
gated.py          the gated unit of Cho (2014) and Bahdanau (2015)
scan.py           the gated unit's loop over time, with its gradient written out
bidirectional.py  one reader from each end: h_j = [forward; backward]
"""

from regard.recurrent.bidirectional import Bidirectional
from regard.recurrent.gated import GatedUnit
from regard.recurrent.simple import SimpleRNN

__all__ = ["Bidirectional", "GatedUnit", "SimpleRNN"]
