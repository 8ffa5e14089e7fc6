"""Training: data, one visible loop, checkpoints, metrics, and one small module per task."""
