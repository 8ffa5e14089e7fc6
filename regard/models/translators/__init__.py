"""Translators: one file for each design, and beam search.

base.py            what all designs have in common: forward, loss, start, step
config.py          what a translator is made of; named sizes
builder.py         the translator of a config
wordbyword.py      a word said for each word read
encoderdecoder.py  the sentence squeezed into one vector
bahdanau.py        the decoder looks back before each word
lstmn.py           the encoder and the decoder look back at themselves too
transformer.py     attention alone
maxout.py          from the state of a recurrent decoder to features of the vocabulary
pointer.py         words copied from the source
beam.py            greedy and beam search over any of them
native.py          the same, and a step, in the native kernel
packing.py         their weights in its order
sample.py          translations drawn by their probability
candidates.py      the likeliest continuations of a beam
translation.py     sentences in, sentences out, with the words that each word looked at
"""
