"""Ablate: what changes in a model's output if a head, a link or a word is taken away?

trial.py      a model with a text: what it puts out, for as many rows as are asked for
loading.py    the trial that a model's name and a text mean
variant.py    what is taken away, one thing or everything of a kind in turn
blocks.py     the layers of a model, run from a stored input on
shared.py     the attention of the first changed layer, computed once for all its variants
curves.py     activations in one pass; products.py: matrices by the faster library, with them
engine.py     variants run in batches, each from its layer on
measure.py    from outputs to numbers: probability, cosine, divergence, rank correlation
weights.py    the weight that stands beside each effect
estimate.py   every head's effect estimated by one backward pass
ablate.py     all of it for one text
corpus.py     the importance of every head over many texts
"""
