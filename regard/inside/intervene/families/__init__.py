"""Families: one file for each way in which models compute attention, as in observe.

Each has ``find(model)`` and ``reach(model, hands)``, a block inside which hands reach the model.
"""
