"""Scans: the loops of recurrent networks over time, with their gradients written out."""
