"""Heads: what kind each head of a model is, ranked, in a text or over a corpus."""
