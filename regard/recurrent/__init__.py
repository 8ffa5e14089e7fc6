"""Recurrence: a state that reads one position after the other.

simple.py         h_t = tanh(A[x_t; h_{t-1}] + b)
gated.py          the gated unit of Cho (2014) and Bahdanau (2015)
bidirectional.py  one reader from each end: h_j = [forward; backward]
selfattentive.py  the simple RNN with self-attention over its own states
lstmn.py          the LSTM with self-attention over its own states (Cheng et al. 2016)
fusion.py         the LSTMN that also attends to the tapes of another, as a decoder
reader.py         what the two networks with a tape share: layers, lengths, states
tape.py           the states they keep and attend to
convert.py        the two without attention, from and to nn.RNN and nn.LSTM
scan/             the same loops over time, with their gradients written out
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
