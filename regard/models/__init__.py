"""Models built from the bricks: translators, language models, classifiers, BERT.

config.py        what a model is made of, checked when it is made
vocabulary.py    from token ids to vectors, and from features to the scores of tokens
positions.py     added to the vectors that a Transformer reads
padding.py       which positions of a batch are real
layers.py        the Transformer's layers
dropout.py       the same function as PyTorch's, faster
design.py        which network reads the pieces of a language model or a classifier
stack.py         that network: vectors in, features out
sequence.py      what language models and classifiers share
language.py      the probability of each next word
classifier.py    the label of a sentence, or of any sequence of vectors
sampling.py      tokens drawn by their probability
continuation.py  what a language model says after a text
reading.py       what these did while they read a sentence
translators/     one file for each design, and beam search
bert/            the encoder alone, and the folder of a published model
"""
