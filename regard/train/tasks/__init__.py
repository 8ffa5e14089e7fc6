"""Tasks: what can be trained, one file each, and how it is measured."""
