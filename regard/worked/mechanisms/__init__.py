"""Mechanisms: each family of worked examples, run by the package's own modules.

A file has two functions: ``run`` computes an example, every value noted, and ``stages`` says how
each step is made from those before it.

attention.py      the four verbs, from whatever is given
simplernn.py      the simple RNN
selfattentive.py  the simple RNN with attention
lstmn.py          the LSTM, with attention or without
"""
