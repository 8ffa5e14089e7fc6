"""Pieces: what a model reads, cut into labelled pieces, each with its place in it."""
