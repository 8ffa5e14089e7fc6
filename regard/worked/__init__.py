"""Worked examples: small matrices in a TOML file, computed, explained, and checked for mistakes."""
