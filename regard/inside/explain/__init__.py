"""Explain: one head of a real model with every number, and the proof that they are real.

model.py     one head as a worked example, and the proof
link.py      which head, if nobody said
captions.py  what must be said of it in words
"""
