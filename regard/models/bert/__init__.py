"""BERT: the encoder, and the folder of a published model."""
