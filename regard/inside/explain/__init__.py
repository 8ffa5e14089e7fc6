"""Explain: one head of a real model with every number, and the proof that they are real."""
