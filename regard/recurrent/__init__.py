"""Recurrence: a state that reads one position after the other.

simple.py         h_t = tanh(A[x_t; h_{t-1}] + b)
gated.py          the gated unit of Cho (2014) and Bahdanau (2015)
scan.py           the gated unit's loop over time, with its gradient written out
bidirectional.py  one reader from each end: h_j = [forward; backward]
selfattentive.py  the simple RNN with self-attention over its own states
selfscan.py       its loop over time, with its gradient written out
lstmn.py          the LSTM with self-attention over its own states (Cheng et al. 2016)
lstmnscan.py      its loop over time, with its gradient written out
fusion.py         the LSTMN that also attends to the tapes of another, as a decoder
reader.py         what the two networks share: layers, lengths, states
tape.py           the states they keep and look at
looks.py, received.py, scanned.py    parts of the two loops
torchlike.py      the two without attention, from and to nn.RNN and nn.LSTM
"""

from regard.recurrent.bidirectional import Bidirectional
from regard.recurrent.fusion import DeepFusion, ShallowFusion
from regard.recurrent.gated import GatedUnit
from regard.recurrent.lstmn import LSTMN
from regard.recurrent.reader import Reading
from regard.recurrent.selfattentive import SelfAttentiveRNN
from regard.recurrent.simple import SimpleRNN
from regard.recurrent.tape import Tapes

__all__ = [
    "LSTMN",
    "Bidirectional",
    "DeepFusion",
    "GatedUnit",
    "Reading",
    "SelfAttentiveRNN",
    "ShallowFusion",
    "SimpleRNN",
    "Tapes",
]
