"""Look: what all heads of a model do with a text, what is asked of it later, and its files."""
