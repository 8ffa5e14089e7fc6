"""Measures: what is derived from attention weights, and is always said to be derived.

outputs.py   which matrix W_O each attention's heads are multiplied with
norm.py      how large what a head brings is: ‖a v W_O‖
rollout.py   where attention has come from, through all layers so far
flow.py      how much of it could stream there, no way wider than its narrowest part
zeroing.py   how much a vector changes without another word's value
slopes.py    how a number that a model gives would move with what its heads put out
gradient.py  the same along the weights: gradient times attention
dense.py     all weights of a layer, and other numbers in their place
measure.py   one of them by its name, for a text or a model
"""
