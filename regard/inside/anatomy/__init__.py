"""Anatomy: what each part of a Transformer adds to the vector of one word, found in one pass.

No names of models are known here. Every module is watched once, and the layout is what the
numbers prove: which outputs, added to which inputs, give what came next.

runs.py     what each module was given and what it made
sums.py     which of it was added to which
norm.py     what a norm computes, told from what it did
linear.py   the map of a matrix
activation.py  what an activation does to one vector
heads.py    what each head brings one word from each other word
feedforward.py  what a feed-forward network computes
layer.py    one layer: attention, cross-attention, feed-forward, and where the norms stand
stem.py     from the token to the first layer: vector, position, norm
ending.py   from the last layer to the scores of the words
anatomy.py  the whole model
"""
