"""Training: data, tasks, and one visible loop.

config.py    how any model is trained, a sentence per field
settings.py  from a file, flags and ``a.b=1`` to checked configs
data/        texts read, divided, encoded and counted
tasks/       what can be trained, one file each
run/         the loop, and what keeps it exact
"""
