"""BERT: a published encoder, run by regard's own attention.

config.py   its shape
encoder.py  the encoder
file.py     the folder of a published model
"""
