"""Translators: one file for each design, and beam search."""
