"""Measures: what is derived from attention weights, and is always said to be derived.

outputs.py   which matrix W_O each attention's heads are multiplied with
norm.py      how large what a head brings is: ‖a v W_O‖
rollout.py   where attention has come from, through all layers so far
measure.py   one of them by its name, for a text or a model
"""
