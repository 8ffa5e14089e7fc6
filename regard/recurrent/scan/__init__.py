"""Scans: the loops of recurrent networks over time, with their gradients written out.

gated.py          the gated unit
bahdanau.py       Bahdanau's decoder: attention to the source, then the gated unit
selfattentive.py  the simple RNN with self-attention
lstmn.py          the LSTMN
attention.py      what the last three share: attention to a tape, step by step, and its gradient
tape.py           the tape: what a scan gives, and the gradients that reach its slots
product.py        the products with matrices, in the type that the run computes in
"""
