"""BERT: the encoder (encoder.py), and the folder of a published model (file.py)."""
