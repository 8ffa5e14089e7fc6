"""Data: texts read, divided, cut into pieces and put into batches; all of it counted."""
