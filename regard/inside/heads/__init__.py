"""Heads: what kind each head of a model is, in a text or over a corpus.

kinds.py     the kinds, and what names a head
patterns.py  the sums behind them, for one text
entries.py   the weights at chosen pairs of a query and a key
corpus.py    the same over many texts, as a stream
"""
