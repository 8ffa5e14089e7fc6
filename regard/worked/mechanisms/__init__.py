"""Mechanisms: each family of worked examples, run by the package's own modules.

A file has two functions: ``run`` computes an example, every value noted, and ``stages`` says how
each step is made from those before it.

attention.py      the four verbs, from whatever is given
simplernn.py      the simple RNN
selfattentive.py  the simple RNN with attention
lstmn.py          the LSTM, with attention or without
tape.py           what the last two share: attention to what was read
layers.py         layer norm, feed-forward, residual
block.py          a whole encoder block
decoder.py        a step of Bahdanau's decoder
positions.py      sinusoidal and learned positions
rotary.py         rotary ones
gradient.py       the gradient of softmax
average.py        the average of word vectors
module.py         a module of the package with the weights of an example
"""
