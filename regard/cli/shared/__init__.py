"""What commands share: input, output, progress, and the model to load (model.py)."""
